"""Let leave-one-out choose kernel and penalty, then give every prediction an interval."""
import numpy as np

import mercer

X, y = mercer.datasets.waves(200, noise=0.3, random_state=0)
model = mercer.KernelRidgeCV(kernel=["gaussian(0.2)", "gaussian(0.7)", "gaussian(3)"]).fit(X, y)
print(f"chose {model.best_kernel_}, alpha {model.alpha_:.2g}: leave-one-out RMSE {np.sqrt(-model.best_score_):.2f}")

X_new, y_new = mercer.datasets.waves(500, noise=0.3, random_state=1)
f, ends = model.predict(X_new, interval=0.9)
inside = np.mean((ends[:, 0] <= y_new) & (y_new <= ends[:, 1]))
print(f"{100 * inside:.0f} % of 500 new values lie in their 90 % intervals")
