"""Mercer against its peers: same data, same machine, same run; results compared before times are printed.

    make bench                 every row
    make bench NAME=GRAM-64    one row (a prefix is enough: NAME=GRAM)
    make bench NAME=--page     measures nothing: writes docs/benchmarks.md and README.md's table from what is kept

Every competitor is a process of its own (one file in bench/<task>/), started once, told to prepare, then told to run in turns:
ours, theirs, ours, theirs ... The best of three turns counts, and the peak memory above the start of the turn.
The table goes to the screen; what every row last gave, and on which machine, is kept in bench/results.json, and docs/benchmarks.md and the table of README.md are written from that.
"""
# SPDX-License-Identifier: BSD-3-Clause
import json
import math
import os
import platform
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "bench"
OURS = ROOT / ".venv" / "bin" / "python"
TOOLS = ROOT / "build" / "release" / "bin"
PEERS = WORK / "peers" / "bin" / "python"
PEER_PACKAGES = ["scikit-learn", "numpy", "scipy", "pandas", "scikit-learn-intelex", "goodpoints", "grakel"]
RESULTS = ROOT / "bench" / "results.json"
QUALITY = [ROOT / "bench" / "quality" / f"{name}.md" for name in ("learn", "regression", "svm", "maps")]  # by the scripts beside them, which take longer than all rows together
TURNS = int(os.environ.get("TURNS", 3))
IN_README = ["SVC-20k", "SVM-tune", "KRR-fit", "RFF", "GP", "KPCA-10k", "MMD-5k", "CSV"]
TABLE_BEGINS, TABLE_ENDS = "<!-- table: written by make bench from bench/results.json -->\n", "<!-- end of the table -->\n"

sys.path.insert(0, str(ROOT / "bench"))
import data  # noqa: E402


class Row:
    """One line of the table: a task at one setting, ours and the peers' commands, and what must agree between them."""

    def __init__(self, name, work, prepare, ours, peers, wanted, tolerance, reference=None):
        self.name, self.work, self.prepare = name, work, prepare
        self.ours, self.peers, self.wanted, self.tolerance = ours, peers, wanted, tolerance
        self.reference = reference  # another work of ours, timed in the same turns


def ours(script, *arguments):
    return [str(OURS), str(ROOT / "bench" / script), *arguments]


def tool(name, *arguments):
    return [str(TOOLS / name), *arguments]


def peer(script, *arguments):
    return [str(PEERS), str(ROOT / "bench" / script), *arguments]


def careful_peer(script, *arguments):
    """With the AVX2 kernels of its OpenBLAS: the AVX-512 ones of scipy's crash in the Cholesky factorisation of 20000 rows."""
    return ["env", "OPENBLAS_CORETYPE=Haswell", *peer(script, *arguments)]


def rows():
    gram64, gram32 = data.gaussian_matrix(20000, 50, "float64"), data.gaussian_matrix(20000, 50, "float32")
    apply_x, apply_v = data.gaussian_matrix(50000, 10, "float64"), data.gaussian_matrix(50000, 16, "float64", seed=1)
    fit = data.regression(10000, 20)
    many = data.regression(1_010_000, 20)
    gaussian = ours("gram/ours.py", "gaussian(5)")

    def hsic(n):
        return data.gaussian_matrix(n, 10, "float64") + data.gaussian_matrix(n, 10, "float64", seed=1)

    def gram(kernel, text, who):
        return Row(f"GRAM-{kernel}", f"{text}, n = 20000, d = 50, float64", gram64,
                   ours("gram/ours.py", text), {who: peer("gram/sklearn_kernels.py", kernel)}, 1, 1e-11, reference=gaussian)

    def svm(name, work, files, task, wanted, tolerance, who="scikit-learn SVC", script="sklearn_svm"):
        return Row(name, work, files, ours("svm/ours.py", task), {who: peer(f"svm/{script}.py", task)}, wanted, tolerance)

    def samples(n):
        return data.gaussian_matrix(n, 10, "float64", seed=2) + data.gaussian_matrix(n, 10, "float64", seed=3)

    def mmd(name, n, wanted, tolerance):
        return Row(name, f"two-sample test, n = m = {n}, d = 10, 1000 permutations of mmd-u", samples(n),
                   ours("mmd/ours.py"), {"numpy, one GEMM": peer("mmd/numpy_gemm.py")}, wanted, tolerance)

    def mmd_by_index(name, n, wanted, run):
        return Row(name, f"the same, n = m = {n}; of the peer {run} permutations are timed and multiplied by {1000 // run}", samples(n),
                   ours("mmd/ours.py", "statistic"), {"numpy by index": peer("mmd/by_index.py", str(run))}, wanted, 1e-9)
    def many_kernels(name, work, which, rows, wanted, dtype, tolerance=1e-5):
        return Row(name, work, data.gaussian_matrix(2000, 10, "float64"), ours("aggregated/ours.py", which, str(rows), "2000"),
                   {f"numpy, a {dtype} GEMM a kernel": peer(f"aggregated/numpy_{which}.py", str(rows), "2000", dtype)}, wanted, tolerance)

    return [
        Row("GRAM-64", "Gaussian Gram, n = 20000, d = 50, float64", gram64,
            gaussian, {"scikit-learn rbf_kernel": peer("gram/sklearn_kernels.py", "gaussian")}, 4, 1e-12),
        Row("GRAM-32", "Gaussian Gram, n = 20000, d = 50, float32", gram32,
            gaussian, {"scikit-learn rbf_kernel": peer("gram/sklearn_kernels.py", "gaussian")}, 6, 1e-4),
        gram("laplacian", "laplacian(5)", "scikit-learn distances, numpy in place"),
        gram("matern", "matern(2.5, 5)", "scikit-learn distances, numpy in place"),
        gram("polynomial", "polynomial(3, scale=0.02)", "scikit-learn polynomial_kernel"),
        gram("composite", "gaussian(5) + 0.5*linear", "scikit-learn rbf_kernel and linear_kernel"),
        Row("GRAM-apply", "K V streamed, n = 50000, d = 10, 16 vectors, float64", apply_x + apply_v,
            tool("bench_gram_apply"), {"numpy in chunks": peer("gram_apply/numpy_chunks.py")}, 3, 1e-9),
        Row("KRR-fit", "kernel ridge, n = 10000, d = 20, one alpha", fit,
            ours("krr_fit/ours.py"), {"scikit-learn KernelRidge": peer("krr_fit/sklearn_krr.py")}, 2, 1e-8),
        Row("KRR-solve", "kernel ridge to a true residual of 1e-8, n = 20000, d = 20", data.regression(20000, 20),
            ours("krr_solve/ours.py"), {"scikit-learn KernelRidge (AVX2)": careful_peer("krr_fit/sklearn_krr.py")}, 4, 1e-6),
        Row("KRR-path", "20 alphas of kernel ridge, n = 5000, d = 20: exact leave-one-out against 5 folds", data.regression(5000, 20),
            ours("krr_path/ours.py"), {"scikit-learn GridSearchCV": peer("krr_path/grid_search.py")}, 12, 0.2),
        Row("KRR-path-loo", "the same, exact leave-one-out on both sides", data.regression(5000, 20),
            ours("krr_path/ours.py"), {"scipy eigh by hand": peer("krr_path/eigh.py")}, 1.3, 1e-6),
        Row("KRR-predict", "predict 10000 rows from 10000, d = 20", fit,
            ours("krr_predict/ours.py"), {"scikit-learn KernelRidge": peer("krr_predict/sklearn_krr.py")}, 3, 1e-8),
        Row("RFF", "ridge on 1000 random features, n = 1e6, d = 20", many,
            ours("rff/ours.py", "ridge"), {"scikit-learn RBFSampler and Ridge": peer("rff/sklearn_rbf_sampler.py", "ridge")}, 7, 0.02),
        Row("RFF-hand", "ridge on 1000 random features, n = 1e6, d = 20", many,
            ours("rff/ours.py", "ridge"), {"numpy by hand, float32 in chunks": peer("rff/numpy_chunks.py")}, 1.1, 0.02),
        Row("RFF-map", "1000 random features of 1e6 rows, d = 20", many,
            ours("rff/ours.py", "map"), {"scikit-learn RBFSampler": peer("rff/sklearn_rbf_sampler.py", "map")}, 6, 0.1),
        Row("GP", "Gaussian process, n = 2000, d = 5, a length scale each and noise, to the maximum of the likelihood", data.regression(2000, 5),
            ours("gp/ours.py"), {"scikit-learn GaussianProcessRegressor": peer("gp/sklearn_gp.py")}, 5, 1e-7),
        Row("FALKON", "1000 landmarks, n = 1000000 (the peer: 100000), d = 20", data.regression(1_000_000, 20),
            ours("falkon/ours.py"), {"scikit-learn Nystroem and Ridge": peer("falkon/sklearn_nystroem.py")}, 0.4, 5e-3),
        Row("NYS", "1000 landmarks and ridge, n = 100000, d = 20", data.regression(100_000, 20),
            ours("falkon/ours.py"), {"scikit-learn Nystroem and Ridge": peer("falkon/sklearn_nystroem.py")}, 4, 5e-3),
        Row("NYS-map", "Nystrom features, n = 100000, d = 20, 1000 landmarks, float64", data.regression(100_000, 20)[:1],
            ours("nystroem/ours.py", "float64"), {"scikit-learn Nystroem": peer("nystroem/sklearn_nystroem.py")}, 1, 1e-9),
        Row("NYS-map-32", "the same, kernel values and products in float32", data.regression(100_000, 20)[:1],
            ours("nystroem/ours.py", "float32"), {"scikit-learn Nystroem": peer("nystroem/sklearn_nystroem.py")}, 1, 1e-4),
        svm("SVC-20k", "Gaussian SVC, n = 20000, d = 50, C = 1, tol 1e-3, fit", data.classification(20000, 50), "svc", 12, 0.02),
        svm("SVC-20k-intelex", "the same", data.classification(20000, 50), "svc", 1, 0.02, who="scikit-learn-intelex SVC", script="intelex_svm"),
        svm("SVC-50k", "Gaussian SVC, n = 50000, d = 50, C = 1, tol 1e-3, fit", data.classification(50000, 50), "svc", 12, 0.02),
        svm("SVC-178", "Gaussian SVC, n = 8050, d = 178, fit", data.clouds(8050, 178), "svc-178", 10, 0.02),
        svm("SVC-sparse", "Gaussian SVC on a9a, 32561 CSR rows of 123 columns, fit", data.a9a(), "svc-sparse", 6, 0.02),
        svm("SVC-sparse-words", "Gaussian SVC, 20000 CSR rows of 300 columns, fit", data.sparse_words(20000, 300), "svc-sparse", 6, 0.02),
        svm("SVR", "Gaussian SVR, n = 10000, d = 10, C = 1, epsilon = 0.1, fit", data.regression(10000, 10), "svr", 8, 0.02, who="scikit-learn SVR"),
        svm("SVR-intelex", "the same", data.regression(10000, 10), "svr", 1, 0.02, who="scikit-learn-intelex SVR", script="intelex_svm"),
        svm("SVM-predict", "decision values of 10000 rows from a fit of 20000, d = 50", data.classification(30000, 50), "predict", 30, 0.02),
        svm("SVM-latency", "1000 single rows from a fit of 6000, d = 50: the estimator's predict", data.classification(20000, 50), "row-predict", 2.5, 0.005),
        Row("SVM-latency-decision", "the same: model_.decision of a row, without validation", data.classification(20000, 50),
            ours("svm/ours.py", "row-decision"), {"scikit-learn SVC.predict": peer("svm/sklearn_svm.py", "row-predict")}, 5, 0.005),
        Row("SVM-latency-C++", "the same: decision_row", data.classification(20000, 50),
            tool("bench_svm_latency"), {"scikit-learn SVC.predict": peer("svm/sklearn_svm.py", "row-predict")}, 15, 0.005),
        Row("CSV", "read 1e6 x 20 numbers (6 digits)", data.csv_file("six", 1_000_000, 20),
            tool("bench_csv"), {"pandas C engine": peer("csv/pandas_c.py")}, 3, 1e-12),
        Row("CSV-17", "read 1e6 x 20 numbers (17 digits)", data.csv_file("full", 1_000_000, 20),
            tool("bench_csv"), {"pandas C engine": peer("csv/pandas_c.py")}, 3, 1e-12),
        Row("SVM-tune", "5 x 5 grid of C and gamma on 5 folds and the refit of an SVM, n = 4000, d = 20", data.classification(4000, 20),
            ours("svm_tune/ours.py"), {"scikit-learn GridSearchCV": peer("svm_tune/grid_search.py")}, 16, 1e-3),
        Row("LINSVC", "linear SVC, squared hinge, on a9a, 32561 CSR rows of 123 columns, C = 1, fit", data.a9a(),
            ours("linear_svc/ours.py"), {"scikit-learn LinearSVC": peer("linear_svc/sklearn_linear_svc.py", "auto")}, 2, 1e-5),
        Row("LINSVC-sparse", "the same on 100000 CSR rows of 100000 columns, 74 numbers a row", data.sparse_linear(100_000, 100_000),
            ours("linear_svc/ours.py"), {"scikit-learn LinearSVC": peer("linear_svc/sklearn_linear_svc.py", "auto"),
                                         "scikit-learn LinearSVC(dual=True)": peer("linear_svc/sklearn_linear_svc.py", "dual")}, 2, 1e-5),
        Row("KPCA-10k", "Gaussian kernel PCA, n = 10000, d = 20, 10 components, fit", data.regression(10000, 20)[:1],
            ours("kpca/ours.py", "auto"), {"scikit-learn KernelPCA (arpack)": peer("kpca/sklearn_kpca.py", "exact")}, 5, 1e-6),
        Row("KPCA-100k", "the same, n = 100000, on 1000 landmarks", data.regression(100_000, 20)[:1],
            ours("kpca/ours.py", "lowrank"), {"scikit-learn Nystroem and PCA": peer("kpca/sklearn_kpca.py", "landmarks")}, 1, 0.03),
        mmd("MMD-1k", 1000, 2, 1e-9), mmd("MMD-5k", 5000, 4, 1e-9),
        mmd_by_index("MMD-1k-index", 1000, 100, 100), mmd_by_index("MMD-5k-index", 5000, 300, 4),
        Row("CLUSTER-spectral", "spectral clustering, 10 nearest neighbours, n = 5000, d = 8, 10 clusters; normalised cuts compared", data.groups(5000, 8),
            ours("cluster/ours.py", "spectral"), {"scikit-learn SpectralClustering": peer("cluster/sklearn_cluster.py", "spectral")}, 2, 0.02),
        Row("CLUSTER-kmeans", "Gaussian kernel k-means on 300 landmarks, n = 20000, d = 8, 10 clusters, 10 starts; objectives compared", data.groups(20000, 8),
            ours("cluster/ours.py", "kmeans"), {"scikit-learn Nystroem and KMeans": peer("cluster/sklearn_cluster.py", "kmeans")}, 1, 0.03),
        Row("HSIC-1k", "independence by HSIC, n = 1000, d = 10, 1000 permutations, exact", hsic(1000),
            ours("hsic/ours.py", "permutation"), {"numpy by index": peer("hsic/by_index.py")}, 25, 0.01),
        Row("HSIC-3k", "the same, n = 3000", hsic(3000),
            ours("hsic/ours.py", "permutation"), {"numpy by index": peer("hsic/by_index.py")}, 25, 0.01),
        Row("HSIC-gamma", "independence by HSIC and the gamma law, n = 5000, d = 10", hsic(5000),
            ours("hsic/ours.py", "gamma"), {"numpy and scipy": peer("hsic/numpy_gamma.py")}, 3, 1e-9),
        many_kernels("AGG", "MMDAgg, n = m = 1000, d = 10, 20 kernels, 2000 permutations", "agg", 1000, 3, "float64"),
        many_kernels("AGG-32", "the same, numpy in float32", "agg", 1000, 2, "float32", tolerance=1e-4),
        many_kernels("FUSE", "MMD-FUSE, n = m = 500, d = 10, 20 kernels, 2000 permutations", "fuse", 500, 3, "float64"),
        Row("KT", "kernel thinning, n = 100000, d = 10, to 316 rows (the peer: 256); distances in units of random rows' compared", data.gaussian_matrix(100_000, 10, "float64"),
            ours("thin/ours.py", "316", "4.47"), {"goodpoints compresspp_kt": peer("thin/goodpoints_compress.py", "4.47")}, 1, 0.1),
        Row("KT-64k", "the same, n = 65536, to 256 rows on both sides", data.gaussian_matrix(65536, 10, "float64"),
            ours("thin/ours.py", "256", "4.47"), {"goodpoints compresspp_kt": peer("thin/goodpoints_compress.py", "4.47")}, 1, 0.1),
        Row("STR", "spectrum(4) Gram of 3000 DNA strings of 200 letters, normalised", data.dna(3000, 200),
            ours("strings/ours.py", "spectrum(4)"), {"scikit-learn CountVectorizer and a sparse product": peer("strings/sklearn_counts.py", "4")}, 5, 1e-12),
        Row("STR-hand", "the same", data.dna(3000, 200),
            ours("strings/ours.py", "spectrum(4)"), {"numpy by hand for ACGT, one bincount and one GEMM": peer("strings/numpy_counts.py", "4")}, 1, 1e-12),
        Row("WL", "Weisfeiler-Lehman Gram, h = 5, ENZYMES (600 graphs), normalised", data.graphs("ENZYMES"),
            ours("graphs/ours.py", "weisfeiler_lehman(5)"), {"GraKeL": peer("graphs/grakel_wl.py", "5", "1"), "GraKeL, n_jobs = 2": peer("graphs/grakel_wl.py", "5", "2")}, 5, 1e-12),
    ]


class Competitor:
    """A process that answers "prepare FILES" and "run" with one line of JSON each."""

    def __init__(self, command):
        environment = dict(os.environ, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2", MERCER_NUM_THREADS="2")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"a competitor died: {' '.join(self.process.args)}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def disagreement(a, b):
    """Largest difference between two lists of numbers, relative to the largest of them."""
    scale = max((abs(x) for x in b), default=1) or 1
    return max((abs(x - y) for x, y in zip(a, b, strict=True)), default=0) / scale


def measure(row):
    files = row.prepare
    competitors = {"mercer": Competitor(row.ours)} | {name: Competitor(command) for name, command in row.peers.items()}
    if row.reference:
        competitors["reference"] = Competitor(row.reference)
    best = {}
    try:
        for competitor in competitors.values():
            competitor.ask("prepare " + " ".join(str(f) for f in files))
        for _ in range(TURNS):
            for name, competitor in competitors.items():
                answer = competitor.ask("run")
                known = best.setdefault(name, dict(answer, seconds=math.inf, peak_bytes=0))
                known["seconds"] = min(known["seconds"], answer["seconds"])
                known["peak_bytes"] = max(known["peak_bytes"], answer["peak_bytes"])
    finally:
        for competitor in competitors.values():
            competitor.close()
    out = []
    for name in row.peers:
        apart = disagreement(best["mercer"]["check"], best[name]["check"])
        if not apart <= row.tolerance:
            raise SystemExit(f"{row.name}: mercer and {name} disagree by {apart:.2e} (allowed {row.tolerance:.0e}): no times are printed")
        out.append({"row": row.name, "work": row.work, "peer": name, "peer_seconds": best[name]["seconds"], "our_seconds": best["mercer"]["seconds"],
                    "ratio": best[name]["seconds"] / best["mercer"]["seconds"], "wanted": row.wanted, "disagreement": apart,
                    "our_peak_bytes": best["mercer"]["peak_bytes"], "peer_peak_bytes": best[name]["peak_bytes"],
                    "of_reference": best["mercer"]["seconds"] / best["reference"]["seconds"] if row.reference else None, "turns": TURNS, "machine": machine()})
    return out


def growths():
    """Tasks whose cost is followed over n, 2n, 4n: the rows they belong to, what they are, our script, the files for n, the sizes."""
    return [
        ("SVC", "Gaussian SVC fit, d = 50", ours("svm/ours.py", "svc"), lambda n: data.classification(n, 50), [10000, 20000, 40000]),
        ("KRR", "kernel ridge fit, d = 20", ours("krr_fit/ours.py"), lambda n: data.regression(n, 20), [5000, 10000, 20000]),
        ("FALKON", "regression on 1000 landmarks, d = 20", ours("falkon/ours.py"), lambda n: data.regression(n, 20), [250_000, 500_000, 1_000_000]),
        ("RFF", "ridge on 1000 random features, d = 20", ours("rff/ours.py", "ridge"), lambda n: data.regression(n + 10_000, 20),
         [250_000, 500_000, 1_000_000]),
        ("KPCA-10k", "10 components of Gaussian kernel PCA, d = 20", ours("kpca/ours.py", "krylov"), lambda n: data.regression(n, 20)[:1],
         [5000, 10000, 20000]),
        ("KPCA-100k", "the same on 1000 landmarks", ours("kpca/ours.py", "lowrank"), lambda n: data.regression(n, 20)[:1],
         [25_000, 50_000, 100_000]),
        ("MMD", "two-sample test by 1000 permutations, d = 10", ours("mmd/ours.py"),
         lambda n: data.gaussian_matrix(n, 10, "float64", seed=2) + data.gaussian_matrix(n, 10, "float64", seed=3), [1250, 2500, 5000]),
    ]


def grow(name, task, command, files, sizes):
    """Time and memory of one task at each size, and the exponent of the time."""
    out = []
    for n in sizes:
        competitor = Competitor(command)
        competitor.ask("prepare " + " ".join(str(make()) for make in files(n)))
        turns = [competitor.ask("run") for _ in range(TURNS)]
        competitor.close()
        out.append({"n": n, "seconds": min(t["seconds"] for t in turns), "peak_bytes": max(t["peak_bytes"] for t in turns)})
    exponent = math.log(out[-1]["seconds"] / out[0]["seconds"]) / math.log(sizes[-1] / sizes[0])
    return {"name": name, "task": task, "sizes": out, "exponent": exponent}


def setup_peers():
    stamp = WORK / "peers.txt"
    wanted = "\n".join(PEER_PACKAGES)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("installing the peers:", ", ".join(PEER_PACKAGES), flush=True)
    venv.create(WORK / "peers", with_pip=True)
    subprocess.run([PEERS, "-m", "pip", "install", "-q", "--upgrade", *PEER_PACKAGES], check=True)
    stamp.write_text(wanted)


def machine():
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), platform.machine())
    versions = subprocess.run([PEERS, "-c", "import sklearn, numpy, pandas; print(f'scikit-learn {sklearn.__version__}, numpy {numpy.__version__}, pandas {pandas.__version__}')"],
                              capture_output=True, text=True, check=True).stdout.strip()
    return f"{os.cpu_count()} cores, {model}; {versions}; {time.strftime('%Y-%m-%d')}"


def machines(results):
    """Where the rows were measured; the machine that gave most of them comes last, as that of all others."""
    found = {}
    for r in results:
        found.setdefault(r["machine"], {})[r["row"]] = None
    most = max(found, key=lambda m: len(found[m]))
    return "\n".join(f"- {m}: " + ("all other rows" if m == most and len(found) > 1 else "all rows" if m == most else ", ".join(found[m]))
                     for m in sorted(found, key=lambda m: m == most))


def table(results):
    lines = ["| row | work | peer | its time | Mercer | ratio | wanted | our peak memory | peer's | results differ by |", "|---|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        once = "" if r.get("turns", 3) > 1 else " (one turn)"
        lines.append(f"| {r['row']} | {r['work']}{once} | {r['peer']} | {r['peer_seconds']:.2f} s | {r['our_seconds']:.2f} s | {r['ratio']:.1f} | >= {r['wanted']} "
                     f"| {r['our_peak_bytes'] / 1e6:.0f} MB | {r['peer_peak_bytes'] / 1e6:.0f} MB | {r['disagreement']:.0e} |")
    against = [r for r in results if r["of_reference"]]
    if against:
        lines += ["", "The same kernels against our own Gaussian, in the same turns (wanted: at most 2 times its time):", "", "| row | times the Gaussian |", "|---|---|"]
        lines += [f"| {r['row']} | {r['of_reference']:.2f} |" for r in against]
    return "\n".join(lines)


def page_of(kept):
    """docs/benchmarks.md as the kept results give it."""
    results = [r for row in rows() for r in kept["rows"].get(row.name, [])]
    page = f"""# Benchmarks

Written by `make bench`. Both sides free to use 2 threads, best of three interleaved turns (one where the row says so), from arrays in memory to the result, first touch of memory included;
results are compared before a time is printed. Peak memory is above the start of the turn. These machines are shared: expect 20 % of noise.
A row keeps what it gave when it was last run, so rows may come from different runs.

{machines(results)}

{table(results)}
"""
    page += "\n## How cost grows\n"
    for g in (kept["growth"][task[0]] for task in growths() if task[0] in kept["growth"]):
        lines = "\n".join(f"| {s['n']} | {s['seconds']:.2f} s | {s['peak_bytes'] / 1e6:.0f} MB |" for s in g["sizes"])
        page += f"\n{g['task']}: time grows as n^{g['exponent']:.2f}.\n\n| n | time | peak memory |\n|---|---|---|\n{lines}\n"
    for part in QUALITY:
        if part.exists():
            page += "\n" + part.read_text()
    return page


def readme_of(kept, readme):
    """The text of README.md with its table of a few rows as the kept results give them."""
    results = [r for name in IN_README for r in kept["rows"].get(name, [])[:1]]
    lines = ["| work | peer | its time | Mercer | ratio |", "|---|---|---|---|---|"]
    lines += [f"| {r['work']} | {r['peer']} | {r['peer_seconds']:.2f} s | {r['our_seconds']:.2f} s | {r['ratio']:.1f} |" for r in results]
    where = sorted({r["machine"] for r in results})
    before, _, rest = readme.partition(TABLE_BEGINS)
    return before + TABLE_BEGINS + "\n".join([*lines, "", "Measured on " + "; and on ".join(where) + "."]) + "\n" + TABLE_ENDS + rest.partition(TABLE_ENDS)[2]


def write_pages(kept):
    (ROOT / "docs" / "benchmarks.md").write_text(page_of(kept))
    readme = ROOT / "README.md"
    readme.write_text(readme_of(kept, readme.read_text()))
    print("written: docs/benchmarks.md and the table of README.md")


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": {}, "growth": {}}
    if wanted == "--page":
        write_pages(kept)
        return
    WORK.mkdir(parents=True, exist_ok=True)
    setup_peers()
    data.use_folder(WORK / "data")
    everything = rows()
    chosen = [row for row in everything if row.name.startswith(wanted)]
    if not chosen:
        raise SystemExit(f"there is no benchmark {wanted}; there are {', '.join(row.name for row in everything)}")
    for row in chosen:
        row.prepare = [make() for make in row.prepare]
        print(f"{row.name}: {row.work} ...", flush=True)
        kept["rows"][row.name] = measure(row)
        for r in kept["rows"][row.name]:
            print(f"  {r['peer']}: {r['peer_seconds']:.3f} s, mercer: {r['our_seconds']:.3f} s, ratio {r['ratio']:.1f} (wanted {r['wanted']}), "
                  f"memory {r['our_peak_bytes'] / 1e6:.0f} against {r['peer_peak_bytes'] / 1e6:.0f} MB, results differ by {r['disagreement']:.0e}", flush=True)
        RESULTS.write_text(json.dumps(kept, indent=2))
    for task in growths():
        if any(row.name.startswith(task[0]) for row in chosen):
            print(f"how cost grows: {task[1]} ...", flush=True)
            kept["growth"][task[0]] = grow(*task)
            RESULTS.write_text(json.dumps(kept, indent=2))
    write_pages(kept)
    print(table([r for row in chosen for r in kept["rows"][row.name]]))


if __name__ == "__main__":
    main()
