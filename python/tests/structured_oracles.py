"""Kernels of strings and graphs by their definitions, in plain loops."""
from collections import Counter
from itertools import combinations, product

import numpy as np


def dot(a, b):
    return float(sum(count * b[key] for key, count in a.items()))


def spectrum(k):
    return lambda x, y: dot(*(Counter(s[i : i + k] for i in range(len(s) - k + 1)) for s in (x, y)))


def subsequence(k, decay):
    def features(s):
        out = Counter()
        for places in combinations(range(len(s)), k):
            out["".join(s[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
        return out

    return lambda x, y: dot(features(x), features(y))


def mismatch(k, m, alphabet):
    words = ["".join(w) for w in product(alphabet, repeat=k)]

    def features(s):
        parts = [s[i : i + k] for i in range(len(s) - k + 1)]
        return Counter({w: sum(sum(a != b for a, b in zip(w, p, strict=True)) <= m for p in parts) for w in words})

    return lambda x, y: dot(features(x), features(y))


def gappy(k, gaps):
    def features(s):
        out = Counter()
        for i in range(len(s) - k - gaps + 1):
            window = s[i : i + k + gaps]
            out.update({"".join(window[j] for j in places) for places in combinations(range(k + gaps), k)})
        return out

    return lambda x, y: dot(features(x), features(y))


def weighted_degree(degree):
    def value(x, y):
        total = 0.0
        for d in range(1, degree + 1):
            beta = 2 * (degree - d + 1) / (degree * (degree + 1))
            total += beta * sum(x[i : i + d] == y[i : i + d] for i in range(min(len(x), len(y)) - d + 1))
        return total

    return value


def edit_distance(x, y):
    row = list(range(len(y) + 1))
    for i, a in enumerate(x, 1):
        before, row = row, [i]
        for j, b in enumerate(y, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b)))
    return row[-1]


# -- graphs: dictionaries with n, edges and perhaps labels


def neighbours(G):
    out = [set() for _ in range(G["n"])]
    for u, v in G["edges"]:
        if u != v:
            out[u].add(v)
            out[v].add(u)
    return out


def labels(G):
    return [str(label) for label in G.get("labels", [""] * G["n"])]


def weisfeiler_lehman(iterations):
    def features(G):
        near, colours = neighbours(G), labels(G)
        out = Counter((0, c) for c in colours)
        for h in range(1, iterations + 1):
            colours = [(colours[u], tuple(sorted(colours[v] for v in near[u]))) for u in range(G["n"])]
            out.update((h, c) for c in colours)
        return out

    return features


def lehman_subtree(iterations):
    return lambda G, H: dot(weisfeiler_lehman(iterations)(G), weisfeiler_lehman(iterations)(H))


def lehman_assignment(iterations):
    return lambda G, H: float((weisfeiler_lehman(iterations)(G) & weisfeiler_lehman(iterations)(H)).total())


def shortest_path(G, H):
    def features(G):
        n, near, names = G["n"], neighbours(G), labels(G)
        D = np.full((n, n), np.inf)
        np.fill_diagonal(D, 0)
        for u in range(n):
            for v in near[u]:
                D[u, v] = 1
        for w in range(n):
            D = np.minimum(D, D[:, w, None] + D[None, w])
        return Counter((*sorted((names[u], names[v])), D[u, v]) for u in range(n) for v in range(u) if np.isfinite(D[u, v]))

    return dot(features(G), features(H))


def random_walk(decay):
    def value(G, H):
        pairs = [(u, v) for u in range(G["n"]) for v in range(H["n"]) if labels(G)[u] == labels(H)[v]]
        near, close = neighbours(G), neighbours(H)
        W = np.array([[float(s in near[u] and t in close[v]) for s, t in pairs] for u, v in pairs]).reshape(len(pairs), len(pairs))
        return float(np.linalg.solve(np.eye(len(pairs)) - decay * W, np.ones(len(pairs))).sum()) if pairs else 0.0

    return value


def graphlet(G, H):
    """Of three nodes: paths and triangles."""

    def features(G):
        near = neighbours(G)
        return Counter(m for three in combinations(range(G["n"]), 3) if (m := sum(b in near[a] for a, b in combinations(three, 2))) >= 2)

    return dot(features(G), features(H))


# -- any kernel


def matrix(f, A, B=None):
    return np.array([[f(x, y) for y in (A if B is None else B)] for x in A])


def normalized(f, A, B=None):
    roots = [np.array([f(x, x) for x in M]) ** 0.5 for M in (A, A if B is None else B)]
    scale = np.outer(*[np.where(r > 0, r, np.inf) for r in roots])
    return matrix(f, A, B) / scale
