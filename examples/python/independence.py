"""Three shapes of dependence, and what a rank correlation and HSIC see of them (source K, section 5.3)."""
# SPDX-License-Identifier: BSD-3-Clause
import mercer

for name in ("cubic", "cosine", "noisy_circle"):
    x, y = getattr(mercer.datasets, name)(100, random_state=0)
    ranks = mercer.correlation_test(x, y, "spearman")
    result = mercer.independence_test(x, y, random_state=0)
    print(f"{name}: Spearman p = {ranks.p_value:.3g}, HSIC p = {result.p_value:.3g}, correlation {result.numbers['correlation']:.2f}")
