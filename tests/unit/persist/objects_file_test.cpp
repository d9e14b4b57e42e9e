// Models on strings, sets, graphs and records as files: what prediction needs comes back, and a file that lies is refused.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <numeric>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/model_file.hpp"
#include "mercer/objects.hpp"
#include "mercer/random.hpp"
#include "persist/parts.hpp"

namespace mercer {
namespace {

SavedModel round_trip(const SavedModel& model, const KernelLibrary& library = {}) {
  return model_from_bytes(model_to_bytes(model), "test", library);
}

// A ridge model with made-up coefficients: what is stored is what is tested.
KernelRidgeModel ridge_on(const Kernel& kernel, const Samples& X) {
  Matrix y(X.size(), 1);
  for (Index i = 0; i < X.size(); ++i) y(i, 0) = static_cast<double>(i * i % 7);
  return fit_kernel_ridge(X, y, {.kernel = kernel, .alpha = 0.1});
}

void expect_survives(const Kernel& kernel, const Samples& X) {
  const KernelRidgeModel model = ridge_on(kernel, X);
  const SavedModel back = round_trip({model, std::nullopt});
  const auto& read = std::get<KernelRidgeModel>(back.model);
  EXPECT_EQ(read.kernel(), model.kernel());
  EXPECT_EQ(read.samples().size(), X.size());
  EXPECT_EQ(read.samples().width(), X.width());
  std::vector<Index> all(static_cast<std::size_t>(X.size()));
  std::iota(all.begin(), all.end(), Index{0});
  const Samples anew = X.subset(all);  // not the rows of the fit itself, whose diagonal is exact
  EXPECT_EQ(read.predict(anew), model.predict(anew)) << kernel.text();
  EXPECT_EQ(model_to_bytes(back), model_to_bytes({model, std::nullopt}));
}

Samples molecules() {
  return Samples::graphs({{3, {{0, 1}, {1, 2}}, {"C", "N", "O"}, {"1", "2"}},
                          {2, {{0, 1}}, {"C", "C"}, {"1"}},
                          {4, {{0, 1}, {2, 3}}, {"O", "O", "C", "N"}, {"2", "2"}}});
}

TEST(ObjectFiles, EveryKindOfObjectSurvives) {
  const Samples strings = Samples::strings({"ACGT", "", "Zürich 東京", "ACGGT"});
  expect_survives(kernels::spectrum(2), strings);
  expect_survives(kernels::subsequence(2, 0.5), strings.subset(std::vector<Index>{3, 0, 2}));
  expect_survives(kernels::bag_of(kernels::gaussian(0.7), kernels::BagForm::mean),
                  Samples::sets({RandomStream(1).normal_matrix(4, 2), RandomStream(2).normal_matrix(1, 2), Matrix(0, 2),
                                 RandomStream(3).normal_matrix(9, 2)}));
  expect_survives(kernels::weisfeiler_lehman(2), molecules());
  expect_survives(kernels::shortest_path(),
                  Samples::graphs({{3, {{0, 1}}, {}, {}}, {1, {}, {}, {}}, {3, {{0, 1}, {1, 2}, {2, 0}}, {}, {}}}));
  expect_survives(kernels::bag_of(kernels::spectrum(1)), Samples::token_bags({{"red", "apple"}, {}, {"green"}}));
  const Samples records = Samples::records(
      {RandomStream(4).normal_matrix(3, 1), molecules(), RandomStream(5).normal_matrix(3, 2), Samples::strings({"a", "b", "ab"})});
  expect_survives(parse_kernel("gaussian(1).on(0, 3) + weisfeiler_lehman(1).on(1) + spectrum(1).on(4)"), records);
  // Sets of sets of strings.
  const Samples inner = Samples::token_bags({{"ab"}, {"b", "c"}, {"abc"}});
  expect_survives(parse_kernel("bag_of(bag_of(spectrum(1)), mean)"), Samples::sets(inner, {0, 1, 3}));
}

TEST(ObjectFiles, TablesOfWordsTravelWithTheModel) {
  const Samples texts = Samples::strings({"oil prices rose", "the bank bought shares", "oil fell"});
  expect_survives(resolve(kernels::bag_of_words(), texts), texts);
  auto table = std::make_shared<WordTable>();
  table->words = {"oil", "bank", "shares"};
  table->vectors = RandomStream(6).normal_matrix(3, 4);
  expect_survives(kernels::words("small \"table\"", table, kernels::gaussian(1.0)), texts);
  const Kernel both = kernels::words("a", table) + resolve(kernels::bag_of_words(), texts);
  expect_survives(both, texts);
}

TEST(ObjectFiles, DecompositionsOfOnesOwnMustBeGivenAlong) {
  const auto halves = [](const Samples& S) {
    std::vector<std::vector<std::string>> parts;
    for (const auto text : strings_of(S, "halves"))
      parts.push_back({std::string(text.substr(0, text.size() / 2)), std::string(text.substr(text.size() / 2))});
    return Samples::token_bags(parts);
  };
  const Kernel kernel = kernels::convolution("halves", halves, kernels::spectrum(1));
  const Samples X = Samples::strings({"abab", "bbaa"});
  const SavedModel saved{ridge_on(kernel, X), std::nullopt};
  EXPECT_THROW(round_trip(saved), Error);
  const SavedModel back = round_trip(saved, library_of(kernel));
  const Samples anew = Samples::strings({"abab", "ba"});
  EXPECT_EQ(std::get<KernelRidgeModel>(back.model).predict(anew), std::get<KernelRidgeModel>(saved.model).predict(anew));
  expect_survives(kernels::convolution("words", kernels::spectrum(1)), Samples::strings({"to be", "or not", "be"}));
}

// What a hostile file may say of its samples, written by hand into a container.
std::string complaint(const std::function<void(persist::ContainerWriter&)>& fill) {
  persist::ContainerWriter out;
  out.text("format", "mercer");
  fill(out);
  std::string bytes;
  out.write([&](std::string_view part) { bytes += part; });
  try {
    auto kept = std::make_shared<std::vector<double>>((bytes.size() + 7) / 8);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(kept->data()));
    const persist::ContainerReader in({reinterpret_cast<const char*>(kept->data()), bytes.size()}, kept, "test");
    persist::read_samples(in);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ObjectFiles, LiesAreRefused) {
  using persist::Json;
  const std::vector<std::uint8_t> bytes{'a', 'b', 0xFF};
  const std::vector<std::int64_t> offsets{0, 2, 3};
  const std::vector<std::int64_t> falling{0, 3, 2};
  const auto strings = [&](const std::vector<std::int64_t>& where, const Json& about, std::size_t count) {
    return complaint([&](persist::ContainerWriter& out) {
      out.json("samples", about);
      out.tensor("samples.0.bytes", {static_cast<Index>(count)}, bytes.data());
      out.tensor("samples.0.offsets", {std::ssize(where)}, where.data());
    });
  };
  const Json fine{{"layout", "records"}, {"rows", 2}, {"width", 1}, {"kinds", {"strings"}}, {"places", {0}}};
  EXPECT_NE(strings(offsets, fine, 3).find("not UTF-8"), std::string::npos);
  EXPECT_NE(strings(falling, fine, 3).find("do not ascend"), std::string::npos);
  EXPECT_NE(strings(offsets, fine, 2).find("do not ascend"), std::string::npos);
  Json about = fine;
  about["rows"] = 3;
  EXPECT_NE(strings({0, 1, 2}, about, 2).find("2 objects for 3 samples"), std::string::npos);
  about = fine;
  about["places"] = {1};
  EXPECT_NE(strings({0, 1, 2}, about, 2).find("do not fit together"), std::string::npos);
  about = fine;
  about["kinds"] = {"trees"};
  EXPECT_NE(strings({0, 1, 2}, about, 2).find("strings, sets and graphs are known"), std::string::npos);
  about = fine;
  about["width"] = 2;  // says that there are numbers
  EXPECT_NE(strings({0, 1, 2}, about, 2), "");
  const auto graphs = complaint([&](persist::ContainerWriter& out) {
    static const std::vector<std::int64_t> nodes{2};
    static const std::vector<std::int64_t> edges{0, 1};
    static const std::vector<std::int64_t> ends{0, 5};
    static const std::vector<std::int64_t> labelled{0};
    out.json("samples", {{"layout", "records"}, {"rows", 1}, {"width", 1}, {"kinds", {"graphs"}}, {"places", {0}}});
    out.tensor("samples.0.nodes", {1}, nodes.data());
    out.tensor("samples.0.edges", {2}, edges.data());
    out.tensor("samples.0.ends", {2}, ends.data());
    out.tensor("samples.0.labelled", {1}, labelled.data());
    persist::write_strings({}, out, "samples.0.labels");
    persist::write_strings({}, out, "samples.0.edge_labels");
  });
  EXPECT_NE(graphs.find("an edge between nodes 0 and 5"), std::string::npos);
}

}  // namespace
}  // namespace mercer
