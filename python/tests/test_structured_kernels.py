"""Kernels of strings, sets, words and graphs against plain loops; their text, their library, and what is wrong with their arguments."""
import copy
import doctest
import pickle

import numpy as np
import pandas as pd
import pytest
import structured_oracles as naive
from hypothesis import given, strategies as st

import mercer
from mercer import kernels
from mercer.kernels import (
    BagOf,
    BagOfWords,
    Convolution,
    EditDistance,
    Gappy,
    Gaussian,
    Graphlet,
    Linear,
    Mismatch,
    RandomWalk,
    ShortestPath,
    Spectrum,
    Subsequence,
    WeightedDegree,
    WeisfeilerLehman,
    Words,
)

STRINGS = ["banana", "ananas", "bandana", "naäna", "", "ab", "cab cab", "a"]
PATH, TRIANGLE = {"n": 3, "edges": [(0, 1), (1, 2)]}, {"n": 3, "edges": [(0, 1), (1, 2), (0, 2)]}
STAR = {"n": 5, "edges": [(0, 1), (0, 2), (0, 3), (0, 4)], "labels": ["a", "b", "b", "a", "a"]}
SQUARE = {"n": 4, "edges": np.array([[0, 1], [1, 2], [2, 3], [3, 0]]), "labels": ["a", "b", "a", "b"]}
LONE = {"n": 2, "edges": [], "labels": ["a", "c"]}
GRAPHS = [STAR, SQUARE, LONE, {"n": 4, "edges": [(0, 1), (1, 2), (2, 3), (1, 3)], "labels": list("abba")}]
PLAIN = [PATH, TRIANGLE, {"n": 4, "edges": [(0, 1), (2, 3)]}, {"n": 1, "edges": []}]

STRING_KERNELS = [
    (Spectrum(2, normalized=False), naive.spectrum(2)),
    (WeightedDegree(3, normalized=False), naive.weighted_degree(3)),
    (Mismatch(2, 1, letters=8, normalized=False), naive.mismatch(2, 1, "abcdnsä ")),
    (Gappy(2, 1, normalized=False), naive.gappy(2, 1)),
    (Subsequence(3, 0.7, normalized=False), naive.subsequence(3, 0.7)),
    (EditDistance(2.0), lambda x, y: np.exp(-naive.edit_distance(x, y) / 2)),
]
GRAPH_KERNELS = [
    (WeisfeilerLehman(2, normalized=False), naive.lehman_subtree(2)),
    (WeisfeilerLehman(2, "assignment", normalized=False), naive.lehman_assignment(2)),
    (ShortestPath(normalized=False), naive.shortest_path),
    (RandomWalk(0.05, normalized=False), naive.random_walk(0.05)),
    (Graphlet(3, normalized=False), naive.graphlet),
]


@pytest.mark.parametrize(("k", "f"), STRING_KERNELS, ids=lambda v: str(v) if isinstance(v, mercer.Kernel) else "")
def test_strings_by_definition(k, f):
    texts = STRINGS
    np.testing.assert_allclose(k(texts), naive.matrix(f, texts), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(k(texts[:3], texts[2:]), naive.matrix(f, texts[:3], texts[2:]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(k.diag(texts), np.diag(naive.matrix(f, texts)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("k", "f"), GRAPH_KERNELS, ids=lambda v: str(v) if isinstance(v, mercer.Kernel) else "")
@pytest.mark.parametrize("graphs", [GRAPHS, PLAIN], ids=["labelled", "plain"])
def test_graphs_by_definition(k, f, graphs):
    np.testing.assert_allclose(k(graphs), naive.matrix(f, graphs), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(k(graphs[1:], graphs[:2]), naive.matrix(f, graphs[1:], graphs[:2]), rtol=1e-11, atol=1e-12)


def test_normalised_by_default():
    np.testing.assert_allclose(Spectrum(2)(STRINGS), naive.normalized(naive.spectrum(2), STRINGS), atol=1e-14)
    np.testing.assert_allclose(WeisfeilerLehman(1)(GRAPHS), naive.normalized(naive.lehman_subtree(1), GRAPHS), atol=1e-14)
    assert Spectrum(2)([""])[0, 0] == 0  # nothing in common with itself either


def test_published_table_of_subsequences():
    """Lodhi and others 2002: cat, car, bat, bar with two letters."""
    d = 0.6
    K = Subsequence(2, d, normalized=False)(["cat", "car", "bat", "bar"])
    np.testing.assert_allclose(np.diag(K), 2 * d**4 + d**6, rtol=1e-14)
    np.testing.assert_allclose(K[0, 1:], [d**4, d**4, 0], rtol=1e-14)
    assert Subsequence(2, d)(["cat"], ["car"])[0, 0] == pytest.approx(1 / (2 + d**2), rel=1e-14)


@given(st.lists(st.text("abé😀", max_size=7), min_size=1, max_size=4), st.integers(1, 3))
def test_any_strings(texts, k):
    np.testing.assert_allclose(Spectrum(k, normalized=False)(texts), naive.matrix(naive.spectrum(k), texts), atol=1e-12)
    np.testing.assert_allclose(Subsequence(k, 0.5, normalized=False)(texts), naive.matrix(naive.subsequence(k, 0.5), texts), rtol=1e-12, atol=1e-12)


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 5))
    edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=7))
    return {"n": n, "edges": edges, "labels": draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))}


@given(st.lists(graphs(), min_size=2, max_size=4))
def test_any_graphs(some):
    np.testing.assert_allclose(WeisfeilerLehman(3, normalized=False)(some), naive.matrix(naive.lehman_subtree(3), some), atol=1e-9)
    np.testing.assert_allclose(ShortestPath(normalized=False)(some), naive.matrix(naive.shortest_path, some), atol=1e-9)


def test_sets(rng):
    bags = [rng.normal(size=(n, 2)) for n in (3, 1, 5)] + [np.empty((0, 2))]

    def k(x, y):
        return np.exp(-((x[:, None] - y[None]) ** 2).sum(axis=2) / 2)

    np.testing.assert_allclose(BagOf(Gaussian(1))(bags), naive.matrix(lambda A, B: k(A, B).sum(), bags), atol=1e-13)
    some = bags[:3]
    mean = naive.matrix(lambda A, B: k(A, B).mean(), some)
    np.testing.assert_allclose(BagOf(Gaussian(1), "mean")(some), mean, atol=1e-13)
    best = naive.matrix(lambda A, B: (k(A, B).max(axis=1).mean() + k(A, B).max(axis=0).mean()) / 2, some)
    np.testing.assert_allclose(BagOf("gaussian(1)", "best")(some), best, atol=1e-13)
    assert BagOf().is_psd and not BagOf(form="best").is_psd
    squares = np.diag(mean)[:, None] + np.diag(mean) - 2 * mean
    np.testing.assert_allclose(BagOf(Gaussian(1), "mean").radial(0.5)(some), np.exp(-squares / (2 * 0.25)), atol=1e-12)
    auto = BagOf(Gaussian(1), "mean").radial().resolve(some)
    scale = np.median(np.sqrt(squares[np.triu_indices(3, 1)]))
    assert auto.parameters[0] == ("radial.length_scale", pytest.approx(scale))


def test_sets_of_many_forms():
    tokens = [["a", "b"], ("b", "b", "c"), {"c", "a"}, frozenset(["d"]), np.array(["a", "e"]), []]
    counts = [sorted(bag) for bag in tokens]
    k = BagOf(Spectrum(1, normalized=False))
    np.testing.assert_allclose(k(tokens), naive.matrix(lambda A, B: sum(a == b for a in A for b in B), counts), atol=1e-13)
    np.testing.assert_allclose(BagOf(WeisfeilerLehman(1, normalized=False))([[PATH], [TRIANGLE, PATH], []]), [[14, 26, 0], [26, 56, 0], [0, 0, 0]], atol=1e-12)
    lists = [[[0.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]]]
    np.testing.assert_allclose(BagOf(Linear())(lists), [[1, 1], [1, 5]], atol=1e-13)
    inner = BagOf(BagOf(Linear()))([[np.ones((2, 1)), np.ones((1, 1))], [np.ones((3, 1))]])
    np.testing.assert_allclose(inner, [[9, 9], [9, 9]], atol=1e-13)


def test_words():
    texts = ["The cat sat", "the dog SAT down", "a bird", ""]
    table = {"the": [1.0, 0.0], "cat": [0.0, 2.0], "sat": [1.0, 1.0], "dog": [3.0, -1.0]}
    exact = Words(table, name="small")
    tokens = [["the", "cat", "sat"], ["the", "dog", "sat"], [], []]
    mean = np.array([np.mean([table[w] for w in words], axis=0) if words else [0.0, 0.0] for words in tokens])
    lower = [text.lower() for text in texts]
    np.testing.assert_allclose(exact(lower), mean @ mean.T, atol=1e-13)
    pair = Words((list(table), np.array(list(table.values()))), Gaussian(2), name="small")
    np.testing.assert_allclose(pair(lower), Gaussian(2)(mean), atol=1e-13)
    assert str(pair) == 'words("small", gaussian(2))' and isinstance(mercer.kernel(str(pair), {"small": table}), Words)
    assert pair == mercer.kernel(str(pair), library={"small": exact}) != mercer.kernel(str(pair), library={"small": {"cat": [1.0, 2.0]}})
    with pytest.raises(ValueError, match='two different functions are called "small"|two different'):
        exact + Words({"cat": [1.0]}, name="small")


def test_word_files(tmp_path):
    path = tmp_path / "glove.small.txt"
    path.write_text("cat 1 2\ndog 0.5 -1\n")
    k = Words(path)
    assert k.name == "glove" and k.table.words == ["cat", "dog"] and len(k.table) == 2
    np.testing.assert_array_equal(k.table.vectors, [[1, 2], [0.5, -1]])
    np.testing.assert_allclose(k([["cat", "dog"]], [["cat"]]), [[0.75 + 1]], atol=1e-14)
    np.testing.assert_allclose(mercer.kernel('words("glove")', library={"glove": str(path)})(["cat"]), [[5.0]])


def test_tfidf_is_that_of_scikit_learn():
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    texts = ["to be or not to be", "that is the question", "to sleep to dream", "question the dream"]
    new = ["be the dream that nobody dreams", "nothing"]
    twin = TfidfVectorizer(token_pattern=r"\S+").fit(texts)
    k = BagOfWords().resolve(texts)
    F = twin.transform(texts).toarray()
    np.testing.assert_allclose(k(texts), F @ F.T, atol=1e-13)
    assert "idf-" in str(k) and not k.has_auto
    counts = CountVectorizer(token_pattern=r"\S+").fit(texts + new)
    A, B = counts.transform(texts).toarray(), counts.transform(new).toarray()
    np.testing.assert_allclose(BagOfWords("count", normalized=False)(texts, new), A @ B.T, atol=1e-13)
    np.testing.assert_allclose(BagOfWords("binary", normalized=False)(texts, new), (A > 0) @ (B > 0).T.astype(float), atol=1e-13)
    again = pickle.loads(pickle.dumps(k))
    assert again == k and str(again) == str(k)
    np.testing.assert_array_equal(again(texts, new), k(texts, new))


def test_convolution():
    texts = ["ab b", "b\nab ab", "c"]
    words = [text.split() for text in texts]
    part = naive.spectrum(1)
    expected = naive.matrix(lambda A, B: sum(part(a, b) for a in A for b in B), words)
    np.testing.assert_allclose(Convolution("words", Spectrum(1, normalized=False))(texts), expected, atol=1e-13)
    own = Convolution(str.split, Spectrum(1, normalized=False))
    np.testing.assert_allclose(own(texts), expected, atol=1e-13)
    assert str(own) == 'convolution("str.split", spectrum(1, normalized=false))'
    lengths = Convolution(lambda text: [[len(w)] for w in text.split()], "linear", name="lengths")
    sums = np.array([sum(map(len, w)) for w in words], dtype=float)
    np.testing.assert_allclose(lengths(texts), np.outer(sums, sums), atol=1e-13)
    read = mercer.kernel('0.5*convolution("mine", linear)', library={"mine": lambda text: [[len(w)] for w in text.split()]})
    np.testing.assert_allclose(read(texts), 0.5 * np.outer(sums, sums), atol=1e-13)
    degrees = Convolution(lambda G: [[len(v)] for v in naive.neighbours(G)], "linear", name="degrees")
    np.testing.assert_allclose(degrees([PATH, TRIANGLE]), [[16, 24], [24, 36]], atol=1e-13)
    with pytest.raises(TypeError, match="decomposition 'bad' must give a list of parts, got str"):
        Convolution(lambda text: text, name="bad")(texts)


LEAVES = [
    Spectrum(4, normalized=False),
    WeightedDegree(2),
    Mismatch(4, 1),
    Mismatch(4, 2, 20, normalized=False),
    Gappy(3, 2),
    Subsequence(3, 0.25),
    EditDistance("auto"),
    EditDistance(2.5),
    BagOf(),
    BagOf(Gaussian([1, 2]) + Spectrum(3), "mean"),
    BagOf(form="best"),
    BagOfWords(),
    BagOfWords("count", normalized=False),
    Convolution("letters", Spectrum(1)),
    Convolution(),
    WeisfeilerLehman(),
    WeisfeilerLehman(2, "assignment", normalized=False),
    ShortestPath(),
    ShortestPath(normalized=False),
    RandomWalk(),
    RandomWalk(0.1),
    Graphlet(4),
]


@pytest.mark.parametrize("k", LEAVES, ids=str)
def test_text_comes_back(k):
    read = mercer.kernel(str(k))
    assert read == k and type(read) is type(k) and repr(read) == repr(k) and hash(read) == hash(k)
    assert eval(repr(k), {"mercer": mercer, **{name: getattr(kernels, name) for name in kernels.__all__}}) == k
    assert pickle.loads(pickle.dumps(k)) == k and copy.deepcopy(k) is k
    assert k.looks_at_objects and not Linear().looks_at_objects


def test_text_of_composites():
    k = 0.5 * Spectrum(4).on("seq") * Gaussian("auto").on("age", "dose") + WeightedDegree().on(0) + BagOf("linear", "mean").radial("auto")
    assert mercer.kernel(str(k)) == k
    assert str(Spectrum(2).radial(2)) == "spectrum(2).radial(2)" and str(Spectrum().radial()) == "spectrum(3).radial(auto)"


def split(text):
    return text.split("-")


def test_libraries_travel():
    k = Words({"a": [1.0], "b": [2.0]}, "gaussian(1)") + Convolution(split, Spectrum(1)) * 2
    again = pickle.loads(pickle.dumps(k))
    assert again == k and str(again) == str(k)
    np.testing.assert_array_equal(again(["a b", "b-a"]), k(["a b", "b-a"]))
    with pytest.raises(ValueError, match='table of words "words" is not there: give it along'):
        mercer.kernel(str(k))
    with pytest.raises(ValueError, match='decomposition "split" was written in the program'):
        mercer.kernel(str(k), library={"words": {"a": [1.0]}})
    with pytest.raises(TypeError, match="library\\['words'\\] must be"):
        mercer.kernel('words("words")', library={"words": 3})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spectrum(0), "k must be a whole number from 1 to 1000, got 0"),
        (lambda: Spectrum(2.5), "k must be a whole number, got 2.5"),
        (lambda: Spectrum(2, normalized=1), "normalized must be True or False, got 1"),
        (lambda: Mismatch(2, 2), "m must be a whole number from 0 to 1, got 2"),
        (lambda: Subsequence(2, 0), r"decay must be a number in \(0, 1\], got 0"),
        (lambda: EditDistance([1, 2]), "one length scale"),
        (lambda: BagOf(form="max"), "form must be one of 'sum', 'mean', 'best', got 'max'"),
        (lambda: BagOf("precomputed"), "no place in a given Gram matrix"),
        (lambda: BagOfWords("tf"), "weights must be one of 'tfidf', 'count', 'binary', got 'tf'"),
        (lambda: Words({}), "table of words \"words\" is empty|needs a vector"),
        (lambda: Words({"a": [1.0], "b": [1.0, 2.0]}), "as many for each word"),
        (lambda: Words((["a", "b"], [[1.0]])), "vector for each of its 2 words"),
        (lambda: Words({"a": [np.nan]}), "NaN"),
        (lambda: Convolution("sentences"), "the decompositions are words, letters and lines"),
        (lambda: WeisfeilerLehman(-1), "iterations must be a whole number from 0 to 1000"),
        (lambda: WeisfeilerLehman(form="tree"), "form must be one of 'subtree', 'assignment'"),
        (lambda: RandomWalk(1.5), "decay must be"),
        (lambda: Graphlet(6), "size must be a whole number from 3 to 5, got 6"),
        (lambda: Spectrum().over(["a"]), "over\\(\\) takes rows of numbers, but Z holds strings"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_wrong_types():
    with pytest.raises(TypeError, match="dictionary of words and their vectors"):
        Words(3)
    with pytest.raises(TypeError, match="words of table must be text"):
        Words({1: [2.0]})
    with pytest.raises(TypeError, match="function of one object"):
        Convolution(3)


def test_threads_do_not_matter(rng):
    texts = ["".join(rng.choice(list("acgt"), 30)) for _ in range(300)]
    for k in (Spectrum(3), Subsequence(2), Mismatch(4, 1), BagOfWords()):
        np.testing.assert_array_equal(k(texts, n_jobs=1), k(texts, n_jobs=2))


def test_verdicts(rng):
    texts = ["".join(rng.choice(list("ab"), rng.integers(1, 9))) for _ in range(40)]
    for k in (Spectrum(2), Mismatch(3, 1), Gappy(2, 1), Subsequence(2), WeightedDegree(), BagOfWords(), Spectrum(2).radial()):
        check = mercer.check_kernel(k, texts)
        assert check.psd and k.is_psd, k
    assert EditDistance().is_psd is False and mercer.check_kernel(EditDistance(5.0), texts).claims_psd is False
    for k in (WeisfeilerLehman(2), ShortestPath(), RandomWalk(), Graphlet()):
        assert mercer.check_kernel(k, GRAPHS).psd and mercer.check_kernel(k, PLAIN).psd and k.is_psd


def test_records():
    frame = pd.DataFrame({"age": [30, 41, 5], "seq": ["acgt", "acct", "gggt"], "dose": [0.5, 1.0, 1.5]})
    k = Spectrum(2).on("seq") * Gaussian(10).on("age", "dose")
    numbers = frame[["age", "dose"]].to_numpy()
    np.testing.assert_allclose(k(frame), Spectrum(2)(frame["seq"].tolist()) * Gaussian(10)(numbers), atol=1e-14)
    np.testing.assert_allclose(k(frame[:2], frame), k(frame)[:2], atol=1e-14)
    both = Spectrum(2).on("seq") + WeisfeilerLehman(1).on("graph")
    frame["graph"] = [STAR, SQUARE, LONE]
    np.testing.assert_allclose(both(frame), Spectrum(2)(list(frame["seq"])) + WeisfeilerLehman(1)(list(frame["graph"])), atol=1e-14)
    digits = pd.DataFrame({"code": ["0110", "1101"], "x": [1.0, 2.0]})  # text that reads as numbers is what the kernel asks for
    np.testing.assert_allclose(Spectrum(1).on("code")(digits), Spectrum(1)(["0110", "1101"]), atol=1e-14)
    np.testing.assert_allclose(Linear().on("code")(digits), [[110.0**2, 110 * 1101], [110 * 1101, 1101.0**2]])
    np.testing.assert_allclose(Spectrum(2)(frame[["seq"]]), Spectrum(2)(list(frame["seq"])))
    with pytest.raises(ValueError, match=r"spectrum\(3\) looks at strings, but these records have 4 columns"):
        Spectrum(3)(frame)
    with pytest.raises(ValueError, match="linear looks at numbers, but column 1 holds strings"):
        Linear()(frame)


def test_gram_and_forms_of_input():
    texts = ["acgt", "acct", "gggt"]
    K = Spectrum(2)(texts)
    forms = [tuple(texts), np.array(texts), np.array(texts, dtype=object), np.array(texts, dtype=object)[:, None], np.array(texts)[:, None]]
    forms += [pd.Series(texts), pd.Series(texts, dtype=object), pd.DataFrame({"s": texts}), pd.Series(texts, index=[3, 1, 2]).astype("category")]
    for X in forms:
        np.testing.assert_array_equal(mercer.gram(X, kernel="spectrum(2)"), K)
        np.testing.assert_allclose(Spectrum(2)(X, texts), K, rtol=1e-15)
    assert Spectrum(2)(texts[:1], texts).shape == (1, 3) and mercer.gram(texts, kernel="spectrum(2)", dtype=np.float32).dtype == np.float32
    np.testing.assert_allclose(mercer.feature_distance(Spectrum(2), texts), np.sqrt(2 - 2 * K), atol=1e-7)


def test_docstrings():
    for module in (mercer._object_kernels, mercer._kernel):
        result = doctest.testmod(module)
        assert result.attempted > 0 and result.failed == 0
