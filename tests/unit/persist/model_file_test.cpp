// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/model_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <tuple>

#include "persist/container.hpp"
#include "reference/kernel_cases.hpp"
#include "unit/core/support.hpp"
#include "unit/persist/models.hpp"

namespace mercer {
namespace {

using namespace mercer::testing;

SavedModel round_trip(const SavedModel& model) { return model_from_bytes(model_to_bytes(model)); }

void expect_same_krr(const SavedModel& a, const SavedModel& b) {
  const auto& x = std::get<KernelRidgeModel>(a.model);
  const auto& y = std::get<KernelRidgeModel>(b.model);
  EXPECT_EQ(x.kernel(), y.kernel());
  EXPECT_EQ(x.samples().is_sparse(), y.samples().is_sparse());
  EXPECT_EQ(x.samples().precision(), y.samples().precision());
  EXPECT_EQ(x.samples().to_dense(), y.samples().to_dense());
  EXPECT_EQ(x.dual_coef(), y.dual_coef());
  EXPECT_EQ(x.intercept(), y.intercept());
  EXPECT_EQ(x.alpha(), y.alpha());
  EXPECT_EQ(x.precision(), y.precision());
  EXPECT_EQ(x.summary().method, y.summary().method);
  EXPECT_EQ(x.summary().residual, y.summary().residual);
  EXPECT_EQ(x.summary().seconds, y.summary().seconds);
  EXPECT_EQ(x.summary().bytes, y.summary().bytes);
  EXPECT_EQ(x.summary().rank, y.summary().rank);
  EXPECT_EQ(x.summary().sentence, y.summary().sentence);
}

TEST(ModelFile, FalkonSurvives) {
  FalkonSummary summary;
  summary.method = "one pass";
  summary.landmarks = "kmeans";
  summary.rows = 12345;
  summary.sums_precision = Precision::float32;
  summary.trace_error = 0.1 + 0.2;
  summary.validation_rows = 17;
  summary.converged = false;
  summary.bytes = 99;
  summary.sentence = "solved";
  for (const bool rows : {false, true}) {
    const FalkonModel model = FalkonModel::from_parts(parse_kernel("gaussian(0.1) + 0.3*linear"), numbers(3, 4),
                                                      rows ? std::vector<Index>{5, 7, 9000} : std::vector<Index>{}, numbers(3, 2, 0.7),
                                                      numbers(2, 1), 0.3, Precision::float32, summary);
    const SavedModel back = round_trip({model, std::nullopt});
    EXPECT_EQ(back.kind(), "falkon");
    EXPECT_EQ(back.width(), 4);
    const auto& again = std::get<FalkonModel>(back.model);
    EXPECT_EQ(again.predict(numbers(5, 4)), model.predict(numbers(5, 4)));
    EXPECT_EQ(again.landmark_rows(), model.landmark_rows());
    EXPECT_EQ(again.alpha(), 0.3);
    EXPECT_EQ(again.precision(), Precision::float32);
    const FalkonSummary& s = again.summary();
    EXPECT_EQ(std::tie(s.method, s.landmarks, s.rows, s.trace_error, s.validation_rows, s.converged, s.bytes, s.sentence),
              std::tie(summary.method, summary.landmarks, summary.rows, summary.trace_error, summary.validation_rows, summary.converged,
                       summary.bytes, summary.sentence));
    EXPECT_EQ(s.sums_precision, Precision::float32);
  }
}

TEST(ModelFile, KernelRidgeSurvivesWithEveryKindOfSamples) {
  const CsrMatrix<double> sparse = sparse_numbers();
  const CsrMatrix<float> sparse32 = sparse.cast<float>();
  const MatrixF dense32 = numbers(5, 3).cast<float>();
  for (const Samples& samples : {Samples(numbers(5, 3)), Samples(dense32), Samples(sparse), Samples(sparse32)}) {
    for (const Index targets : {1, 3}) {
      const SavedModel model = krr_model(samples, targets, "laplacian(0.3333333333333333, l1)", samples.precision());
      expect_same_krr(model, round_trip(model));
    }
  }
}

TEST(ModelFile, EveryKernelSurvives) {
  for (const auto& c : naive::kernel_cases(3)) {
    const SavedModel model = krr_model(c.data(numbers(5, 3)), 1, c.kernel.text());
    const SavedModel again = round_trip(model);
    expect_same_krr(model, again);
    EXPECT_EQ(model.predict(c.data(numbers(7, 3, 0.9))), again.predict(c.data(numbers(7, 3, 0.9)))) << c.name;
  }
}

// Of a given Gram matrix the file says which objects the model was fitted on.
TEST(ModelFile, ObjectsOfAGivenGramMatrixSurvive) {
  const std::vector<Index> some{4, 0, 2};
  const SavedModel model = krr_model(Samples::given_gram(Matrix::Identity(6, 6)).subset(some).without_values(), 2, "precomputed");
  const SavedModel again = round_trip(model);
  expect_same_krr(model, again);
  const Samples& objects = std::get<KernelRidgeModel>(again.model).samples();
  EXPECT_EQ(objects.width(), 6);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), objects.given_ids().begin()));
  EXPECT_EQ(model.predict(numbers(5, 6)), again.predict(numbers(5, 6)));
}

TEST(ModelFile, OwnFunctionsAreGivenAlong) {
  const Kernel own =
      kernels::function("mine", [](const Samples& A, const Samples& B) { return Matrix(A.to_dense() * B.to_dense().transpose()); });
  const Kernel kernel = 2.0 * own + kernels::feature_map("square", [](const Samples& A) { return Matrix(A.to_dense().cwiseAbs2()); });
  const SavedModel model{
      KernelRidgeModel::from_parts(kernel, numbers(4, 2), numbers(4, 1), numbers(1, 1), Vector::Ones(1), Precision::float64, {}),
      std::nullopt};
  const std::string bytes = model_to_bytes(model);
  const SavedModel again = model_from_bytes(bytes, "memory", library_of(kernel));
  EXPECT_EQ(model.predict(numbers(3, 2)), again.predict(numbers(3, 2)));
  try {
    model_from_bytes(bytes, "model.mercer");
    FAIL() << "no error";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("the function \"mine\" was written in the program that made this kernel"), std::string::npos)
        << error.what();
  }
}

TEST(ModelFile, SlicesAndStridedRowsAreStoredAsWhatTheyShow) {
  const Matrix wide = numbers(6, 5);
  const SavedModel strided = krr_model(Samples::borrow(DenseRows<double>{wide.data() + 1, 6, 2, 5}, nullptr));
  EXPECT_EQ(std::get<KernelRidgeModel>(round_trip(strided).model).samples().to_dense(), wide.middleCols(1, 2));
  const Samples sliced = Samples(sparse_numbers()).slice(2, 2);  // its offsets do not begin with 0
  EXPECT_EQ(std::get<KernelRidgeModel>(round_trip(krr_model(sliced)).model).samples().to_dense(), sliced.to_dense());
  const Samples empty_rows = Samples(sparse_numbers()).slice(1, 1);  // a row without a value
  EXPECT_EQ(std::get<KernelRidgeModel>(round_trip(krr_model(empty_rows)).model).samples().to_dense(), Matrix::Zero(1, 9));
}

TEST(ModelFile, RidgeSurvivesWithItsSummary) {
  RidgeSummary s;
  s.singular_values = numbers(2, 1);
  s.filter = numbers(2, 1, 0.9);
  s.rank = 2;
  s.condition_before = std::numeric_limits<double>::infinity();
  s.condition_after = 1.0 / 3;
  s.degrees_of_freedom = std::numeric_limits<double>::quiet_NaN();
  s.seconds = std::numeric_limits<double>::denorm_min();
  s.sentence = "solved";
  const SavedModel model{RidgeModel::from_parts(numbers(2, 5), numbers(2, 1), 2, 2, s), std::nullopt};
  const SavedModel again = round_trip(model);
  EXPECT_EQ(again.kind(), "ridge");
  EXPECT_EQ(again.width(), 2);
  EXPECT_FALSE(again.encoder);
  const auto& ridge = std::get<RidgeModel>(again.model);
  EXPECT_EQ(ridge.coef(), numbers(2, 5));
  EXPECT_EQ(ridge.intercept(), numbers(2, 1));
  EXPECT_EQ(ridge.degree(), 2);
  EXPECT_EQ(ridge.summary().singular_values, s.singular_values);
  EXPECT_EQ(ridge.summary().filter, s.filter);
  EXPECT_EQ(ridge.summary().condition_before, s.condition_before);
  EXPECT_EQ(ridge.summary().condition_after, s.condition_after);
  EXPECT_TRUE(std::isnan(ridge.summary().degrees_of_freedom));
  EXPECT_EQ(ridge.summary().seconds, s.seconds);
  const Matrix X = numbers(3, 2);
  EXPECT_EQ(again.predict(X), model.predict(X));
}

TEST(ModelFile, GaussianProcessSurvivesAndRebuildsItsFactor) {
  for (const Index noises : {1, 6}) {
    GaussianProcessSummary s;
    s.log_marginal_likelihood = -1.0 / 3;
    s.leave_one_out_log_likelihood = std::numeric_limits<double>::quiet_NaN();
    s.start_value = -std::numeric_limits<double>::infinity();
    s.gradient = 1e-300;
    s.converged = false;
    s.evaluations = 7;
    s.starts = 3;
    s.best_start = 2;
    s.at_bound = {"factor", "gaussian.length_scale[1]"};
    s.status = "the value no longer changes";
    s.seconds = 0.1 + 0.2;
    s.bytes = 12345;
    s.sentence = "fitted \xff";
    const Vector noise = 0.1 + numbers(noises, 1).cwiseAbs().array();
    const SavedModel model{
        GaussianProcessModel::from_parts(parse_kernel("2*gaussian([0.5, 3]) + white(0.01)"), numbers(6, 2), numbers(6, 2, 0.71), noise,
                                         numbers(2, 1), numbers(2, 1).cwiseAbs(), s, nullptr, 0.37),
        std::nullopt};
    const SavedModel again = round_trip(model);
    EXPECT_EQ(again.kind(), "gp");
    EXPECT_EQ(again.width(), 2);
    const auto& first = std::get<GaussianProcessModel>(model.model);
    const auto& process = std::get<GaussianProcessModel>(again.model);
    EXPECT_EQ(process.kernel(), first.kernel());
    EXPECT_EQ(process.noise(), noise);
    EXPECT_EQ(process.new_noise(), 0.37);
    EXPECT_EQ(process.summary().status, s.status);
    EXPECT_EQ(process.dual_coef(), first.dual_coef());
    EXPECT_EQ(process.target_mean(), first.target_mean());
    EXPECT_EQ(process.target_scale(), first.target_scale());
    const GaussianProcessSummary& t = process.summary();
    EXPECT_EQ(t.log_marginal_likelihood, s.log_marginal_likelihood);
    EXPECT_TRUE(std::isnan(t.leave_one_out_log_likelihood));
    EXPECT_EQ(t.start_value, s.start_value);
    EXPECT_EQ(t.gradient, s.gradient);
    EXPECT_FALSE(t.converged);
    EXPECT_EQ(t.evaluations, 7);
    EXPECT_EQ(t.starts, 3);
    EXPECT_EQ(t.best_start, 2);
    EXPECT_EQ(t.at_bound, s.at_bound);
    EXPECT_EQ(t.seconds, s.seconds);
    EXPECT_EQ(t.bytes, s.bytes);
    EXPECT_EQ(t.sentence, s.sentence);
    const Matrix X = numbers(4, 2, 0.11);
    EXPECT_EQ(again.predict(X), model.predict(X));
    EXPECT_EQ(process.predict_with_variance(X).variance, first.predict_with_variance(X).variance);
  }
}

TEST(ModelFile, GaussianProcessWithWrongPartsIsRefused) {
  const SavedModel model{GaussianProcessModel::from_parts(parse_kernel("gaussian(1)"), numbers(3, 2), numbers(3, 1), Vector::Ones(1),
                                                          Vector::Zero(1), Vector::Ones(1), {}),
                         std::nullopt};
  const auto forged = [&](const std::string& tensor, double value) {  // the first number of a tensor replaced
    Parts parts = take_apart(model_to_bytes(model));
    const auto begin = parts.header[tensor]["data_offsets"][0].get<std::size_t>();
    std::memcpy(parts.data.data() + begin, &value, sizeof value);
    return load_error(forge(std::move(parts)));
  };
  EXPECT_EQ(forged("noise", 0.5), "");
  EXPECT_NE(forged("noise", -1).find("noise"), std::string::npos);
  EXPECT_NE(forged("target_scale", 0).find("scale of its targets"), std::string::npos);
}

TEST(ModelFile, EncoderSurvivesWithOddNames) {
  const SavedModel again = round_trip(small_model());
  ASSERT_TRUE(again.encoder);
  const Encoder want = odd_encoder();
  const Encoder& got = *again.encoder;
  ASSERT_EQ(got.features.size(), want.features.size());
  for (std::size_t i = 0; i < want.features.size(); ++i) {
    EXPECT_EQ(got.features[i].name, want.features[i].name);
    EXPECT_EQ(got.features[i].categories, want.features[i].categories);
    EXPECT_EQ(got.features[i].fill, want.features[i].fill);
    EXPECT_EQ(got.features[i].position, want.features[i].position);
  }
  EXPECT_EQ(got.fills_missing, want.fills_missing);
  EXPECT_EQ(got.sparse, want.sparse);
  EXPECT_EQ(got.width, want.width);
  EXPECT_EQ(got.target, want.target);
  EXPECT_EQ(got.task, want.task);
  EXPECT_EQ(got.classes, want.classes);
  EXPECT_EQ(got.named, want.named);
  EXPECT_EQ(got.table_columns, want.table_columns);
  EXPECT_EQ(got.target_position, want.target_position);
  EXPECT_EQ(got.scaler.kind, want.scaler.kind);
  EXPECT_EQ(got.scaler.shift, want.scaler.shift);
  EXPECT_EQ(got.scaler.scale, want.scaler.scale);
}

TEST(ModelFile, PredictionsAreBitwiseTheSame) {
  const SavedModel model = krr_model(Samples(sparse_numbers()), 2);
  const Matrix X = numbers(7, 9);
  EXPECT_EQ(round_trip(model).predict(X), model.predict(X));
}

TEST(ModelFile, TheSameModelGivesTheSameBytes) {
  EXPECT_EQ(model_to_bytes(small_model()), model_to_bytes(small_model()));
  EXPECT_EQ(model_to_bytes(round_trip(small_model())), model_to_bytes(small_model()));
}

TEST(ModelFile, LayoutIsSafetensors) {
  const std::string bytes = model_to_bytes(small_model());
  const Parts parts = take_apart(bytes);
  EXPECT_EQ((bytes.size() - parts.data.size()) % 8, 0U);
  std::size_t next = 0;
  for (const auto& [name, value] : parts.header.items()) {
    if (name == "__metadata__") {
      for (const auto& [key, text] : value.items()) EXPECT_TRUE(text.is_string()) << key;
      continue;
    }
    EXPECT_EQ(value.at("data_offsets").at(0), next) << name;
    next = value.at("data_offsets").at(1);
    EXPECT_EQ(value.size(), 3U);
  }
  EXPECT_EQ(next, parts.data.size());
  const auto begin = parts.header["samples"]["data_offsets"][0].get<std::size_t>();
  double first = 0;
  std::memcpy(&first, parts.data.data() + begin, 8);
  EXPECT_EQ(first, numbers(3, 4)(0, 0));
}

TEST(ModelFile, WideTensorsComeFirstSoThatAllAreAligned) {
  const CsrMatrix<float> sparse = sparse_numbers().cast<float>().block(0, 0, 3, 9);  // 3 values of 4 bytes would break the alignment
  const Parts parts = take_apart(model_to_bytes(krr_model(sparse)));
  for (const auto& [name, value] : parts.header.items()) {
    if (name == "__metadata__") continue;
    const std::size_t size = value["dtype"] == "F64" || value["dtype"] == "I64" ? 8 : 4;
    EXPECT_EQ(value["data_offsets"][0].get<std::size_t>() % size, 0U) << name;
  }
}

TEST(ModelFile, FilesAreWrittenWholeAndRead) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("mercer-persist-{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string path = folder / "model.mercer";
  save_model(small_model(), path);
  expect_same_krr(small_model(), load_model(path));
  const Json info = Json::parse(model_info(path));
  EXPECT_EQ(info["kind"], "krr");
  EXPECT_EQ(info["kernel"], "gaussian(0.1) + 0.3*linear");
  EXPECT_EQ(info["encoder"]["task"], "classification");
  EXPECT_EQ(info["tensors"]["samples"]["shape"], Json({3, 4}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);

  try {
    (void)load_model(folder / "none.mercer");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_EQ(error.what(), (folder / "none.mercer").string() + ": cannot be read: No such file or directory");
  }
  EXPECT_THROW((void)load_model(folder), FileError);
  EXPECT_THROW((void)load_model("/dev/null"), FileError);
  EXPECT_THROW(save_model(small_model(), folder / "no" / "model.mercer"), FileError);

  // A save that is stopped leaves the old file and nothing else.
  testing::on_new_thread([&] {
    const mercer::Run stopped{.progress = [](const ProgressEvent&) { return false; }};
    EXPECT_THROW(save_model(small_model(), path, stopped), Cancelled);
  });
  expect_same_krr(small_model(), load_model(path));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW((void)load_model(pipe), FileError);  // and does not wait for a writer
  std::filesystem::remove_all(folder);
}

TEST(ModelFile, WhatCannotBeReadBackIsNotSaved) {
  SavedModel model = small_model();
  model.encoder->width = 5;
  EXPECT_THROW((void)model_to_bytes(model), InvalidArgument);
  model = small_model();
  model.encoder->classes = {"a", "b", "c"};
  EXPECT_THROW((void)model_to_bytes(model), InvalidArgument);
  EXPECT_THROW((void)model_to_bytes(krr_model(numbers(3, 2), 1, "gaussian(auto)")), InvalidArgument);
}

TEST(ModelFile, ClassesFromScores) {
  Matrix one(4, 1);
  one << -1, 1e-300, 0, 2;
  EXPECT_EQ(classes_from_scores(one), (std::vector<Index>{0, 1, 0, 1}));
  Matrix three(3, 3);
  three << 0, 1, 2, 5, 5, 1, -3, -1, -2;
  EXPECT_EQ(classes_from_scores(three), (std::vector<Index>{2, 0, 1}));
  EXPECT_TRUE(classes_from_scores(Matrix(0, 1)).empty());
}

TEST(ModelFile, NumbersAndTextInJson) {
  for (const double value : {0.1, -0.0, 5e-324, 1.7976931348623157e308, 1.0 / 3, 1e22}) {
    EXPECT_EQ(persist::number_from_json(Json::parse(persist::number_to_json(value).dump())), value);
  }
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(persist::text_from_json(Json::parse(persist::text_to_json(all).dump())), all);
  EXPECT_THROW((void)persist::text_from_json({{"hex", "0g"}}), InvalidArgument);
  EXPECT_THROW((void)persist::text_from_json({{"hex", "123"}}), InvalidArgument);
  EXPECT_THROW((void)persist::number_from_json("one"), InvalidArgument);
}

}  // namespace
}  // namespace mercer
