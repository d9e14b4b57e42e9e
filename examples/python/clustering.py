"""Two rings, one around the other, by spectral clustering; three clouds, whose number silhouettes and the gap statistic find."""
import mercer

X, y = mercer.datasets.circles(400, noise=0.03, factor=0.3, random_state=0)
parts = mercer.SpectralClustering(2, random_state=0).fit(X)
print("rings:", parts.summary_)

X, y = mercer.datasets.blobs(200, centres=3, random_state=0)
choice = mercer.choose_k(X, range(1, 7), kernel="linear", random_state=0)
for k, inertia, silhouette, gap in zip(*(choice.table[name] for name in ("k", "inertia", "silhouette", "gap")), strict=True):
    print(f"{k:2d} {inertia:8.1f} {silhouette:7.3f} {gap:7.3f}")
print(choice)
model = mercer.KernelKMeans(choice.k, gamma=0.1, random_state=0).fit(X)
print(model.summary_, "; sizes", [int((model.labels_ == c).sum()) for c in range(model.n_clusters_)])
