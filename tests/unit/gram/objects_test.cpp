// Kernels of strings, sets, texts, graphs and records in Gram matrices, against loops over the definitions.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/objects.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

using kernels::BagForm;

std::vector<std::string> random_strings(Index n, Index longest, std::uint64_t seed, std::string_view alphabet = "ACGT") {
  RandomStream random(seed);
  std::vector<std::string> out;
  for (Index i = 0; i < n; ++i) {
    std::string s;
    const auto length = static_cast<Index>(random.uniform() * static_cast<double>(longest + 1));
    for (Index c = 0; c < length; ++c) s += alphabet[static_cast<std::size_t>(random.uniform() * static_cast<double>(alphabet.size()))];
    out.push_back(s);
  }
  return out;
}

// Counts of substrings; normalised, 0 where there are none.
double naive_spectrum(const std::string& x, const std::string& y, std::size_t k, bool normalized) {
  const auto counts = [&](const std::string& s) {
    std::map<std::string, double> out;
    for (std::size_t i = 0; i + k <= s.size(); ++i) out[s.substr(i, k)] += 1;
    return out;
  };
  const auto dot = [](const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
    double sum = 0;
    for (const auto& [u, c] : a) sum += b.contains(u) ? c * b.at(u) : 0;
    return sum;
  };
  const auto a = counts(x);
  const auto b = counts(y);
  if (!normalized) return dot(a, b);
  const double both = std::sqrt(dot(a, a) * dot(b, b));
  return both > 0 ? dot(a, b) / both : 0;
}

void expect_near(const Matrix& got, const Matrix& wanted, double tolerance) {
  ASSERT_EQ(got.rows(), wanted.rows());
  ASSERT_EQ(got.cols(), wanted.cols());
  EXPECT_LE((got - wanted).cwiseAbs().maxCoeff(), tolerance);
}

TEST(StringGram, SpectrumIsTheLoopOverSubstrings) {
  const auto strings = random_strings(270, 30, 1);  // more than a tile; some too short
  const Samples X = Samples::strings(strings);
  for (const bool normalized : {true, false}) {
    const Matrix K = gram(kernels::spectrum(3, normalized), X);
    Matrix wanted(270, 270);
    for (Index i = 0; i < 270; ++i) {
      for (Index j = 0; j < 270; ++j)
        wanted(i, j) = naive_spectrum(strings[static_cast<std::size_t>(i)], strings[static_cast<std::size_t>(j)], 3, normalized);
    }
    expect_near(K, wanted, normalized ? 1e-14 : 0);
    EXPECT_EQ(K, K.transpose());
    EXPECT_EQ(gram_diagonal(kernels::spectrum(3, normalized), X), K.diagonal());
    const Matrix single = gram(kernels::spectrum(3, normalized), X, {.precision = Precision::float32});
    expect_near(single, wanted, normalized ? 1e-6 : 0);  // counts are whole numbers that float32 has
  }
}

TEST(StringGram, SparseFeaturesGiveTheSame) {
  const auto strings = random_strings(40, 300, 2, "abcdefghijklmnopqrstuvwxyz");
  const Matrix K = gram(kernels::spectrum(2, false), Samples::strings(strings));
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 40; ++j)
      EXPECT_EQ(K(i, j), naive_spectrum(strings[static_cast<std::size_t>(i)], strings[static_cast<std::size_t>(j)], 2, false));
  }
}

TEST(StringGram, CrossMatricesAreBlocksOfTheWhole) {
  const auto strings = random_strings(60, 25, 3, "ACGTN");
  const Samples X = Samples::strings(strings);
  const std::vector<Index> left{0, 5, 7, 30, 59};
  const std::vector<Index> right{1, 2, 3, 5, 40};
  for (const char* text :
       {"spectrum(2)", "weighted_degree(3)", "mismatch(3, 1, 5)", "gappy(2, 1)", "subsequence(2, 0.6)", "edit_distance(5)"}) {
    const Kernel k = parse_kernel(text);
    const Matrix K = gram(k, X);
    const Matrix C = gram(k, X.subset(left), X.subset(right));
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < 5; ++j)
        EXPECT_NEAR(C(i, j), K(left[static_cast<std::size_t>(i)], right[static_cast<std::size_t>(j)]), 1e-13) << text;
    }
    EXPECT_EQ(gram(k, X, {.run = {.threads = 1}}), gram(k, X, {.run = {.threads = 2}})) << text;
    if (k.is_psd()) {
      EXPECT_TRUE(check_gram(K).psd) << text;
    }
  }
}

TEST(StringGram, StreamedOperatorAgrees) {
  const Samples X = Samples::strings(random_strings(300, 40, 4));
  const Matrix V = RandomStream(5).normal_matrix(300, 3);
  const Operator streamed = gram_operator(kernels::mismatch(4, 1), X, {.storage = Storage::streamed});
  expect_near(streamed->apply(V), gram(kernels::mismatch(4, 1), X) * V, 1e-11);
}

TEST(StringGram, MismatchDoesNotDependOnWhatStandsBeside) {
  const Samples X = Samples::strings({"ACGTAC", "ACGGAC", "TTTTTT"});
  const Kernel k = resolve(kernels::mismatch(3, 1), X);
  EXPECT_EQ(k.text(), "mismatch(3, 1, 4)");
  const Matrix K = gram(k, X);
  const Matrix part = gram(k, X.slice(0, 2));
  EXPECT_EQ(part, K.topLeftCorner(2, 2));
  EXPECT_NE(message_of<InvalidArgument>([&] { gram(k, Samples::strings({"ACNTZ"}), X); }).find("letters"), std::string::npos);
}

TEST(StringGram, EditDistanceTakesTheMedian) {
  const Samples X = Samples::strings({"cat", "cart", "dog"});  // distances 1, 3, 4
  EXPECT_EQ(resolve(kernels::edit_distance(kernels::LengthScale::automatic()), X).text(), "edit_distance(3)");
  const Matrix K = gram(kernels::edit_distance(2.0), X);
  EXPECT_NEAR(K(0, 1), std::exp(-0.5), 1e-15);
  EXPECT_NEAR(K(1, 2), std::exp(-2.0), 1e-15);
  EXPECT_EQ(K(2, 2), 1);
}

// Sets of rows of numbers, some empty, one larger than a tile.
std::vector<Matrix> random_sets(std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<Matrix> sets;
  for (const Index n : {3, 1, 0, 7, 300, 2, 5, 0, 12}) sets.push_back(random.normal_matrix(n, 2));
  return sets;
}

double naive_bag(const Matrix& A, const Matrix& B, BagForm form) {
  if (A.rows() == 0 || B.rows() == 0) return 0;
  Matrix k(A.rows(), B.rows());
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < B.rows(); ++j) k(i, j) = std::exp(-(A.row(i) - B.row(j)).squaredNorm() / 2);
  }
  if (form == BagForm::sum) return k.sum();
  if (form == BagForm::mean) return k.mean();
  return (k.rowwise().maxCoeff().mean() + k.colwise().maxCoeff().mean()) / 2;
}

TEST(StringGram, ValuesFarOutsideFloat32AreNormalisedFirst) {
  const Samples X = Samples::strings(random_strings(5, 400, 13, "ab"));
  for (const char* text : {"subsequence(20, 1)", "subsequence(12, 0.01)"}) {
    const Matrix K = gram(parse_kernel(text), X);
    expect_near(gram(parse_kernel(text), X, {.precision = Precision::float32}), K, 1e-6);
  }
  EXPECT_NE(message_of<InvalidArgument>([&] {
              gram(kernels::subsequence(20, 1, false), Samples::strings({std::string(400, 'a')}), {.precision = Precision::float32});
            }).find("overflows float32"),
            std::string::npos);
}

// A tile of slow values is left half way, not when it is done.
TEST(StringGram, SlowTilesCanBeStopped) {
  const Samples X = Samples::strings(std::vector<std::string>(40, std::string(1200, 'a')));
  testing::on_new_thread([&] {
    double share = -1;
    const auto stop = [&](const ProgressEvent& event) {
      share = event.fraction;
      return false;
    };
    EXPECT_THROW(gram(kernels::subsequence(3, 0.5), X, {.run = {.threads = 1, .progress = stop}}), Cancelled);
    EXPECT_EQ(share, 0);  // of the one tile that there is
  });
}

TEST(StringGram, EditDistancesOfMostlyEqualStrings) {
  std::vector<std::string> strings(5, std::string(12, 'a'));
  strings.emplace_back(12, 'b');
  EXPECT_EQ(resolve(kernels::edit_distance(kernels::LengthScale::automatic()), Samples::strings(strings)).text(), "edit_distance(12)");
}

TEST(SetGram, EmptySetsAloneAreZero) {
  const Samples X = Samples::sets({Matrix(0, 2), Matrix(0, 2)});
  EXPECT_EQ(gram(parse_kernel("bag_of(gaussian(auto))"), X), Matrix::Zero(2, 2));
}

TEST(SetGram, BagsAreLoopsOverPairsOfElements) {
  const auto sets = random_sets(6);
  const Samples X = Samples::sets(sets);
  const std::vector<Index> odd{1, 3, 4, 8};
  const Samples Y = X.subset(odd);
  for (const BagForm form : {BagForm::sum, BagForm::mean, BagForm::best}) {
    const Kernel k = kernels::bag_of(kernels::gaussian(1.0), form);
    const Matrix K = gram(k, X);
    const Matrix C = gram(k, X, Y);
    const double size = form == BagForm::sum ? 300.0 * 300 : 1;
    for (Index i = 0; i < 9; ++i) {
      for (Index j = 0; j < 9; ++j)
        EXPECT_NEAR(K(i, j), naive_bag(sets[static_cast<std::size_t>(i)], sets[static_cast<std::size_t>(j)], form), 1e-14 * size)
            << i << ' ' << j;
      for (Index j = 0; j < 4; ++j) EXPECT_NEAR(C(i, j), K(i, odd[static_cast<std::size_t>(j)]), 1e-14 * size);
    }
    EXPECT_EQ(gram(k, X, {.run = {.threads = 1}}), gram(k, X, {.run = {.threads = 2}}));
    EXPECT_EQ(gram_diagonal(k, X), K.diagonal());
  }
}

TEST(SetGram, TheMeanFormIsTheMeanEmbeddingAndRadialItsGaussian) {
  const Samples X = Samples::sets(random_sets(7));
  const std::vector<Index> full{0, 1, 3, 4, 5, 6, 8};
  const Samples S = X.subset(full);
  const Kernel mean = kernels::bag_of(kernels::gaussian(1.0), BagForm::mean);
  const Matrix K = gram(mean, S);
  const Matrix R = gram(mean.radial(0.3), S);
  std::vector<double> distances;
  for (Index i = 0; i < 7; ++i) {
    for (Index j = 0; j < 7; ++j) {
      const double d2 = K(i, i) + K(j, j) - 2 * K(i, j);
      EXPECT_NEAR(R(i, j), std::exp(-d2 / (2 * 0.09)), 1e-12);
      if (i < j) distances.push_back(std::sqrt(d2));
    }
  }
  std::sort(distances.begin(), distances.end());  // 21 of them
  const Kernel automatic = resolve(mean.radial(kernels::LengthScale::automatic()), S);
  EXPECT_NEAR(automatic.parameters()[0].value, distances[10], 1e-12);
  EXPECT_TRUE(check_gram(R).psd);
}

TEST(SetGram, GradientsAreDifferencesOfValues) {
  const Samples X = Samples::sets(random_sets(8)).slice(3, 4);
  const Matrix W = RandomStream(9).normal_matrix(4, 4);
  for (const char* text : {"bag_of(gaussian(0.8) + 0.5*linear, mean)", "bag_of(gaussian(0.8))", "bag_of(gaussian(0.8), mean).radial(0.4)",
                           "bag_of(gaussian(0.8), mean).normalized()", "gaussian(2).radial(0.7)"}) {
    const Kernel k = parse_kernel(text);
    const Samples S = std::string_view(text).starts_with("bag") ? X : Samples(RandomStream(10).normal_matrix(4, 3));
    const Vector got = gram_operator(k, S, {.storage = Storage::streamed})->gradient_inner(W);
    const auto parameters = k.parameters();
    std::vector<double> values;
    for (const auto& p : parameters) values.push_back(p.value);
    for (std::size_t p = 0; p < values.size(); ++p) {
      const auto at = [&](double factor) {
        std::vector<double> moved = values;
        moved[p] *= factor;
        return (W.array() * gram(k.with_parameters(moved), S).array()).sum();
      };
      const double h = 1e-5;
      const double slope = (at(std::exp(h)) - at(std::exp(-h))) / (2 * h);
      EXPECT_NEAR(got[static_cast<Index>(p)], slope, 1e-6 * std::max(1.0, std::abs(slope))) << text << ' ' << parameters[p].name;
    }
  }
}

TEST(TextGram, TfidfIsTheFormula) {
  const std::vector<std::string> texts{"The cat sat", "the cat, the dog!", "A dog barked", ""};
  const Samples X = Samples::strings(texts);
  const Kernel k = resolve(kernels::bag_of_words(), X);
  const Matrix K = gram(k, X);
  const auto idf = [](double df) { return std::log(5 / (1 + df)) + 1; };
  const double the = idf(2), cat = idf(2), sat = idf(1), dog = idf(2);
  const double n0 = std::sqrt(the * the + cat * cat + sat * sat);
  const double n1 = std::sqrt(4 * the * the + cat * cat + dog * dog);
  EXPECT_NEAR(K(0, 1), (2 * the * the + cat * cat) / (n0 * n1), 1e-14);
  EXPECT_EQ(K(3, 3), 0);  // no word at all
  EXPECT_EQ(K(0, 0), 1);
  // New texts keep the weights that were learned; a word that was nowhere has the largest.
  const Matrix C = gram(k, Samples::strings({"cat zebra"}), X);
  const double zebra = idf(0);
  EXPECT_NEAR(C(0, 0), cat * cat / (std::sqrt(cat * cat + zebra * zebra) * n0), 1e-14);
  // Token bags are taken as they are.
  const Samples bags = Samples::token_bags({{"the", "cat", "sat"}, {"the", "cat", "the", "dog"}});
  EXPECT_NEAR(gram(k, bags)(0, 1), K(0, 1), 1e-15);
  EXPECT_EQ(gram(kernels::bag_of_words(kernels::WordWeights::count, false), X)(0, 1), 3);
  EXPECT_EQ(gram(kernels::bag_of_words(kernels::WordWeights::binary, false), X)(0, 1), 2);
  EXPECT_EQ(parse_kernel(k.text(), library_of(k)), k);
}

TEST(TextGram, NothingIsNoWord) {
  const Samples X = Samples::token_bags({{"", "a"}, {"", "b"}, {"", "c"}, {"a", ""}});
  EXPECT_EQ(gram(kernels::bag_of_words(kernels::WordWeights::tfidf, false), X)(0, 1), 0);
}

TEST(TextGram, TwoTablesOfOneNameAreAnError) {
  const auto table = [](double x) {
    auto out = std::make_shared<WordTable>();
    out->words = {"a"};
    out->vectors = Matrix::Constant(1, 1, x);
    return out;
  };
  EXPECT_NO_THROW(library_of(kernels::words("x", table(1)) + kernels::words("x", table(1))));
  EXPECT_NE(message_of<InvalidArgument>([&] {
              library_of(kernels::words("x", table(1)) + kernels::words("x", table(2)));
            }).find("two different tables"),
            std::string::npos);
  EXPECT_EQ(kernels::words("x", table(1), kernels::gaussian(1.0)).is_characteristic(), Verdict::no);
}

TEST(TextGram, WordsAreLookedUpInATable) {
  auto table = std::make_shared<WordTable>();
  table->words = {"red", "green", "apple"};
  table->vectors.resize(3, 2);
  table->vectors << 1, 0, 0, 1, 2, 2;
  const Samples X = Samples::strings({"Red apple", "green", "unknown words", "apple apple green"});
  Matrix V(4, 2);
  V << 1.5, 1, 0, 1, 0, 0, 4.0 / 3, 5.0 / 3;
  expect_near(gram(kernels::words("t", table), X), V * V.transpose(), 1e-14);
  expect_near(gram(kernels::words("t", table, kernels::gaussian(2.0)), X), gram(kernels::gaussian(2.0), V), 1e-15);
  EXPECT_EQ(resolve(kernels::words("t", table, kernels::gaussian(kernels::LengthScale::automatic())), X).text(),
            "words(\"t\", " + resolve(kernels::gaussian(kernels::LengthScale::automatic()), V).text() + ")");
}

TEST(ConvolutionGram, IsTheSumOverPairsOfParts) {
  const std::vector<std::string> texts{"to be or", "not to be", "be"};
  const std::vector<std::vector<std::string>> words{{"to", "be", "or"}, {"not", "to", "be"}, {"be"}};
  const Samples X = Samples::strings(texts);
  const Matrix K = gram(kernels::convolution("words", kernels::spectrum(1)), X);
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      double sum = 0;
      for (const auto& p : words[a]) {
        for (const auto& q : words[b]) sum += naive_spectrum(p, q, 1, true);
      }
      EXPECT_NEAR(K(static_cast<Index>(a), static_cast<Index>(b)), sum, 1e-14);
    }
  }
  // A decomposition of one's own: strings to the sets of their halves.
  const auto halves = [](const Samples& S) {
    std::vector<std::vector<std::string>> parts;
    for (const auto text : strings_of(S, "halves"))
      parts.push_back({std::string(text.substr(0, text.size() / 2)), std::string(text.substr(text.size() / 2))});
    return Samples::token_bags(parts);
  };
  const Matrix H = gram(kernels::convolution("halves", halves, kernels::spectrum(1, false)), Samples::strings({"aabb", "abab"}));
  EXPECT_EQ(H(0, 1), 2 * 1 + 2 * 1 + 2 * 1 + 2 * 1);
  EXPECT_NE(message_of<InvalidArgument>([&] {
              gram(kernels::convolution(
                       "same", [](const Samples& S) { return S; }, kernels::spectrum(1)),
                   X);
            }).find("must make a set of parts"),
            std::string::npos);
}

Graph cycle(Index n, const std::string& label) {
  Graph g{n, {}, std::vector<std::string>(static_cast<std::size_t>(n), label), {}};
  for (Index i = 0; i < n; ++i) g.edges.emplace_back(i, (i + 1) % n);
  return g;
}

TEST(GraphGram, EveryKernelOfGraphsWorksAndIsPsd) {
  std::vector<Graph> graphs;
  for (Index n = 3; n < 12; ++n) graphs.push_back(cycle(n, n % 2 == 0 ? "C" : "N"));
  graphs.push_back({4, {{0, 1}, {0, 2}, {0, 3}}, {"C", "N", "N", "O"}, {}});
  graphs.push_back({1, {}, {"C"}, {}});
  const Samples X = Samples::graphs(graphs);
  for (const char* text : {"weisfeiler_lehman(3)", "weisfeiler_lehman(3, assignment)", "shortest_path", "random_walk", "graphlet(3)",
                           "graphlet(4)", "weisfeiler_lehman(2, normalized=false)"}) {
    const Kernel k = resolve(parse_kernel(text), X);
    const Matrix K = gram(k, X);
    EXPECT_TRUE(check_gram(K).psd) << text;
    EXPECT_EQ(K, K.transpose()) << text;
    expect_near(gram(k, X.slice(2, 5), X.slice(6, 3)), K.block(2, 6, 5, 3), 1e-12 * K.cwiseAbs().maxCoeff());
  }
  // Without an edge any decay will do, and text says one that reads back.
  const Kernel lonely = resolve(kernels::random_walk(), Samples::graphs({{2, {}, {}, {}}, {3, {}, {}, {}}}));
  EXPECT_EQ(parse_kernel(lonely.text()), lonely);
  // The best assignment of a cycle of 6 to one of 8, all nodes alike: six nodes agree at all of 4 iterations.
  const Matrix A =
      gram(parse_kernel("weisfeiler_lehman(3, assignment, normalized=false)"), Samples::graphs({cycle(6, "C"), cycle(8, "C")}));
  EXPECT_EQ(A(0, 1), 6 * 4);
  EXPECT_EQ(A(1, 1), 8 * 4);
}

TEST(RecordGram, ColumnsOfDifferentKindsMultiply) {
  const auto strings = random_strings(20, 15, 11);
  const Matrix numbers = RandomStream(12).normal_matrix(20, 3);
  const Samples S = Samples::strings(strings);
  const Samples G = Samples::graphs(std::vector<Graph>(20, cycle(5, "C")));
  const Samples R = Samples::records({Matrix(numbers.leftCols(1)), S, Matrix(numbers.rightCols(2)), G});
  EXPECT_EQ(R.width(), 5);
  const Matrix K = gram(kernels::spectrum(2).on({1}) * kernels::gaussian(1.5).on({0, 3}) + 0.5 * kernels::weisfeiler_lehman(1).on({4}), R);
  Matrix picked(20, 2);
  picked << numbers.col(0), numbers.col(2);
  expect_near(K, gram(kernels::spectrum(2), S).cwiseProduct(gram(kernels::gaussian(1.5), picked)) + Matrix::Constant(20, 20, 0.5), 1e-14);
  const std::vector<Index> some{3, 3, 19};
  const Matrix part = gram(kernels::spectrum(2).on({1}) * kernels::gaussian(1.5).on({0, 3}), R.subset(some), R);
  expect_near(part, gram(kernels::spectrum(2).on({1}) * kernels::gaussian(1.5).on({0, 3}), R)(some, Eigen::all), 1e-14);
  const Kernel named = resolve_columns(parse_kernel("spectrum(2).on(\"seq\")*gaussian(auto).on(\"age\", \"dose\")"),
                                       std::vector<std::string>{"age", "seq", "x", "dose", "graph"});
  EXPECT_EQ(resolve(named, R).text(), fmt::format("spectrum(2).on(1)*gaussian({}).on(0, 3)", median_distance(picked)));
}

TEST(RecordGram, NoiseConstantsAndNormalisationWorkOnObjects) {
  const Samples X = Samples::strings({"abab", "baba", "zz"});
  const Matrix K = gram(2 * kernels::spectrum(2) + kernels::constant(1) + kernels::white(0.5), X);
  EXPECT_NEAR(K(0, 0), 3.5, 1e-15);
  EXPECT_NEAR(K(0, 2), 1, 1e-15);
  EXPECT_NEAR(gram(kernels::white(0.5) + kernels::spectrum(2), X, X.subset(std::vector<Index>{0, 1, 2}))(0, 0), 1, 1e-15);
  expect_near(gram(kernels::spectrum(2, false).normalized(), X), gram(kernels::spectrum(2), X), 1e-15);
}

TEST(ObjectErrors, SayWhatLooksAtWhat) {
  const Samples S = Samples::strings({"ab", "cd"});
  const Samples G = Samples::graphs({cycle(3, "C"), cycle(4, "C")});
  const Matrix M = Matrix::Identity(2, 2);
  const Samples R = Samples::records({M, S});
  const auto says = [](const Kernel& k, const Samples& X, const char* part) {
    const std::string got = message_of<InvalidArgument>([&] { gram(k, X); });
    EXPECT_NE(got.find(part), std::string::npos) << got;
  };
  says(kernels::gaussian(1.0), S,
       "gaussian(1) looks at numbers, but these samples are strings: take a kernel of strings, such as spectrum(3)");
  says(kernels::gaussian(1.0), R,
       "gaussian(1) looks at numbers, but column 2 holds strings: name the columns of numbers, as in gaussian(1).on(0)");
  says(kernels::spectrum(3), M, "spectrum(3) looks at strings, but these samples have 2 columns of numbers");
  says(kernels::spectrum(3), G, "spectrum(3) looks at strings, but these samples are graphs");
  says(kernels::spectrum(3), R, "name the column, as in spectrum(3).on(2)");
  says(kernels::shortest_path(), S, "shortest_path looks at graphs, but these samples are strings");
  says(kernels::bag_of(), S, "looks at sets, but these samples are strings");
  says(kernels::gaussian(kernels::LengthScale::automatic()), S, "needs columns of numbers");
  EXPECT_NE(message_of<InvalidArgument>([] {
              Samples::strings({"ok", "\xff"});
            }).find("string 1 (counting from 0) is not UTF-8"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgument>([] {
              Samples::graphs({{2, {{0, 2}}, {}, {}}});
            }).find("an edge between nodes 0 and 2"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgument>([] {
              Samples::graphs({{2, {{0, 1}}, {"C"}, {}}});
            }).find("1 labels for 2 nodes"),
            std::string::npos);
}

}  // namespace
}  // namespace mercer
