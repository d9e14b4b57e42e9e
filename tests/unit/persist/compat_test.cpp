// Model files committed in tests/compat load for ever, and predict what they predicted when they were written. The files of a format
// version are written once, by the disabled test below, and never again:
//   test_persist --gtest_also_run_disabled_tests --gtest_filter='*WriteFiles'
// tests/cli/test_model_files.py reads the same files without Mercer and computes the same predictions from their tensors.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "mercer/error.hpp"
#include "unit/persist/models.hpp"

namespace mercer {
namespace {

using namespace mercer::testing;

const std::filesystem::path folder = std::filesystem::path(MERCER_TESTS) / "compat";

// Rows for models with an encoder are a CSV table in the training file's words; for the others plain numbers.
const std::string table_csv = "weight,colour,size\n1.5,red,0.25\n-2,\"green, dark\",3\n0,blue,1e-3\n";

Matrix plain_rows() { return (Matrix(3, 6) << 0, 1, 0, 0, -2, 0.5, 0, 0, 0, 0, 0, 0, 3, 0, 0.125, 0, 0, 1).finished(); }

Matrix predict(const std::string& name, const SavedModel& model) {
  if (name == "krr_dense_f64") return model.predict(model.encoder->features_of(read_table_from(table_csv, "table.csv")));
  const Matrix rows = plain_rows();
  if (name == "krr_csr_f32") {
    const CsrMatrix<float> sparse = rows.cast<float>().sparseView();
    return model.predict(sparse);
  }
  return model.predict(rows.leftCols(2));
}

class Compat : public ::testing::TestWithParam<const char*> {};

TEST_P(Compat, FileOfVersion1LoadsAndPredictsTheSame) {
  const std::string name = GetParam();
  const SavedModel model = load_model(folder / "v1" / (name + ".mercer"));
  std::ifstream in(folder / "v1" / "expected.json");
  const Json expected = Json::parse(in).at(name);
  EXPECT_EQ(model.kind(), expected["kind"].get<std::string>());
  const Matrix got = predict(name, model);
  ASSERT_EQ(static_cast<std::size_t>(got.rows()), expected["predictions"].size());
  // float32 kernels may differ by some units in the last place between processors.
  const double tolerance = name == "krr_csr_f32" ? 1e-5 : 1e-12;
  for (Index i = 0; i < got.rows(); ++i) {
    for (Index j = 0; j < got.cols(); ++j) {
      EXPECT_NEAR(got(i, j), expected["predictions"][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].get<double>(), tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Compat, ::testing::Values("krr_dense_f64", "krr_csr_f32", "ridge_degree2"));

TEST(Compat, DISABLED_WriteFiles) {
  const Table train = read_table_from(
      "colour,size,weight,kind\nred,1,2,a\nblue,3,-1,b\nred,0.5,,a\n\"green, dark\",2,0.75,b\nblue,-1,1,a\nred,2.5,-0.5,b\n", "train.csv");
  const Dataset data = make_dataset(train, {.impute = Impute::mean, .one_hot = true, .scaling = ScalingKind::standard});
  const Matrix sign = (2 * data.y.array() - 1).matrix();
  const SavedModel dense{fit_kernel_ridge(data.X, sign, {.kernel = kernels::gaussian(1.5), .alpha = 0.25, .fit_intercept = true}),
                         data.encoder};
  const CsrMatrix<float> sparse =
      (Matrix(4, 6) << 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 3, 0).finished().cast<float>().sparseView();
  const Matrix two_targets = (Matrix(4, 2) << 1, 0, 2, -1, 0.5, 3, -2, 1).finished();
  const SavedModel csr{
      fit_kernel_ridge(sparse, two_targets,
                       {.kernel = kernels::gaussian(2.0) + 0.5 * kernels::linear(), .alpha = 0.5, .precision = Precision::float32}),
      std::nullopt};
  const Matrix X = (Matrix(7, 2) << 0, 1, 1, 0, 2, 1, -1, 3, 0.5, 0.5, 1, 1, -2, 0).finished();
  const Matrix y = (Matrix(7, 1) << 1, 2, 0, -1, 3, 2.5, 0.5).finished();
  const SavedModel ridge{fit_ridge(X, y, {.alpha = 0.1, .degree = 2}), std::nullopt};
  std::filesystem::create_directories(folder / "v1");
  Json expected;
  for (const auto& [name, model] :
       {std::pair<const char*, const SavedModel&>{"krr_dense_f64", dense}, {"krr_csr_f32", csr}, {"ridge_degree2", ridge}}) {
    save_model(model, folder / "v1" / (std::string(name) + ".mercer"));
    const Matrix got = predict(name, model);
    Json rows = Json::array();
    for (Index i = 0; i < got.rows(); ++i) rows.push_back(std::vector<double>(got.row(i).begin(), got.row(i).end()));
    expected[name] = {{"kind", model.kind()}, {"predictions", rows}};
  }
  expected["krr_dense_f64"]["table"] = table_csv;
  std::ofstream(folder / "v1" / "expected.json") << expected.dump(1) << '\n';
}

}  // namespace
}  // namespace mercer
