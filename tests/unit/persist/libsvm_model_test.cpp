// LIBSVM models: what is written is read again as the same functions, and no text that is wrong gets further than an error with its line.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/libsvm_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"
#include "unit/persist/models.hpp"

namespace mercer {
namespace {

std::vector<Index> labels_of(const Matrix& X, Index classes) {
  std::vector<Index> labels;
  for (Index i = 0; i < X.rows(); ++i) labels.push_back(i < classes ? i : (X(i, 0) > 0.4 ? classes - 1 : X(i, 1) > 0 ? 1 : 0));
  return labels;
}

// Two classes; f = k(x, (1, 0)) - k(x, (0, 2)) - 0.25 is positive for the label 7.
const char* const by_hand =
    "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 7 -3\nnr_sv 1 1\nSV\n1 1:1 \n-1 2:2 \n";

TEST(LibsvmModel, ReadsWhatIsWrittenByHand) {
  const SavedModel saved = libsvm_model_from_text(by_hand);
  EXPECT_EQ(saved.kind(), "svc");
  EXPECT_EQ(saved.width(), 2);
  EXPECT_EQ(saved.encoder->classes, (std::vector<std::string>{"7", "-3"}));
  Matrix X(2, 2);
  X << 1, 0, 0.3, 1.5;
  const Matrix f = saved.predict(X);
  for (Index i = 0; i < 2; ++i) {
    const double one = std::exp(-0.5 * ((X(i, 0) - 1) * (X(i, 0) - 1) + X(i, 1) * X(i, 1)));
    const double other = std::exp(-0.5 * (X(i, 0) * X(i, 0) + (X(i, 1) - 2) * (X(i, 1) - 2)));
    EXPECT_NEAR(f(i, 0), -(one - other - 0.25), 1e-15);  // positive is the second class here
  }
  EXPECT_EQ(saved.classes(X), (std::vector<Index>{0, 1}));
  EXPECT_EQ(libsvm_model_from_text(by_hand, "memory", 9).width(), 9);
}

TEST(LibsvmModel, ClassifiersSurvive) {
  const Matrix X = RandomStream(3).normal_matrix(60, 3);
  for (const Kernel& kernel : {kernels::linear(), kernels::gaussian(0.7), kernels::polynomial(2, 0.3, 1.5), kernels::sigmoid(0.1, -0.2)}) {
    for (const Index classes : {2, 3}) {
      SvcOptions o;
      o.kernel = kernel;
      o.probability = true;
      const SvcModel model = fit_svc(X, labels_of(X, classes), o);
      const SavedModel back = libsvm_model_from_text(libsvm_model_to_text({model, std::nullopt}));
      const auto& again = std::get<SvcModel>(back.model);
      EXPECT_LT((again.decision(X) - model.decision(X)).cwiseAbs().maxCoeff(), 1e-12) << kernel.text();
      EXPECT_LT((again.probabilities(X) - model.probabilities(X)).cwiseAbs().maxCoeff(), 1e-12) << kernel.text();
      EXPECT_EQ(again.classes(X), model.classes(X));
      EXPECT_EQ(again.n_support(), model.n_support());
      const SavedModel kept = model_from_bytes(model_to_bytes(back));  // and it is a model like others
      EXPECT_EQ(kept.classes(X), model.classes(X));
    }
  }
}

// The numbers of a fit are in our files and not in LIBSVM's; what machine it was is in both.
TEST(LibsvmModel, MachinesByNuKeepTheirName) {
  const Matrix X = RandomStream(9).normal_matrix(40, 2);
  const Vector y = X.col(0).array().sin();
  const SavedModel svc{fit_nu_svc(X, labels_of(X, 2), {.nu = 0.25}), std::nullopt};
  const SavedModel svr{fit_nu_svr(X, y, {.C = 7, .nu = 0.25}), std::nullopt};
  EXPECT_EQ(svc.kind(), "nu-svc");
  EXPECT_EQ(svr.kind(), "nu-svr");
  for (const SavedModel* saved : {&svc, &svr}) {
    const std::string text = libsvm_model_to_text(*saved);
    EXPECT_EQ(text.substr(0, 16), saved == &svc ? "svm_type nu_svc\n" : "svm_type nu_svr\n");
    EXPECT_EQ(libsvm_model_from_text(text).kind(), saved->kind());
    EXPECT_EQ(model_from_bytes(model_to_bytes(*saved)).kind(), saved->kind());
  }
  const auto again = std::get<SvrModel>(model_from_bytes(model_to_bytes(svr)).model).setting();
  EXPECT_EQ(again.C, 7);
  EXPECT_EQ(again.nu, 0.25);
  EXPECT_FALSE(std::get<SvrModel>(libsvm_model_from_text(libsvm_model_to_text(svr)).model).setting().C);
  SvcOptions hard;
  hard.hard_margin = true;
  const auto kept = std::get<SvcModel>(model_from_bytes(model_to_bytes({fit_svc(X, labels_of(X, 2), hard), std::nullopt})).model).setting();
  EXPECT_TRUE(kept.hard_margin);
  EXPECT_FALSE(kept.C);
  const SvcModel by_lambda = fit_svc(X, labels_of(X, 2), {.lambda = 0.05});
  EXPECT_DOUBLE_EQ(*by_lambda.setting().C, 1 / (2 * 40 * 0.05));
  const OneClassModel one = fit_one_class(X, {.nu = 0.3});
  EXPECT_EQ(std::get<OneClassModel>(model_from_bytes(model_to_bytes({one, std::nullopt})).model).setting().nu, 0.3);
}

TEST(ModelFile, SupportVectorMachinesWithoutTheirNumbersLoad) {
  const Matrix X = RandomStream(10).normal_matrix(30, 2);
  const Vector y = X.col(0).array().sin();
  const SavedModel models[] = {{fit_nu_svc(X, labels_of(X, 2), {.nu = 0.25}), std::nullopt},
                               {fit_nu_svr(X, y, {.C = 7, .nu = 0.25}), std::nullopt},
                               {fit_one_class(X, {.nu = 0.3}), std::nullopt}};
  const auto options_of = [](const testing::Parts& parts) {
    return testing::Json::parse(parts.header["__metadata__"]["options"].get<std::string>());
  };
  for (const SavedModel& saved : models) {
    testing::Parts parts = testing::take_apart(model_to_bytes(saved));
    testing::Json options = options_of(parts);
    for (const char* name : {"form", "C", "nu"}) options.erase(name);  // as files were written first
    if (options.empty()) {
      parts.header["__metadata__"].erase("options");
    } else {
      parts.header["__metadata__"]["options"] = options.dump();
    }
    const SavedModel back = model_from_bytes(testing::forge(parts));
    EXPECT_EQ("nu-" + back.kind(), saved.kind().starts_with("nu-") ? saved.kind() : "nu-one-class");
    EXPECT_EQ(back.predict(X), saved.predict(X));
  }
  for (const auto& [name, value] : {std::pair{"C", "-1"}, {"nu", "1.5"}, {"form", "\"other\""}}) {
    testing::Parts parts = testing::take_apart(model_to_bytes(models[0]));
    testing::Json options = options_of(parts);
    options[name] = testing::Json::parse(value);
    parts.header["__metadata__"]["options"] = options.dump();
    EXPECT_THROW(model_from_bytes(testing::forge(parts)), FileError) << name;
  }
}

TEST(LibsvmModel, RegressionAndOneClassSurviveInFiles) {
  const Matrix X = RandomStream(4).normal_matrix(50, 2);
  const Vector y = X.col(0).array().sin();
  const std::string path = ::testing::TempDir() + "libsvm_model_test.model";
  const SvrModel svr = fit_svr(X, y, {.kernel = kernels::gaussian(1.3), .C = 5});
  write_libsvm_model({svr, std::nullopt}, path);
  EXPECT_TRUE(is_libsvm_model(path));
  EXPECT_LT((load_model(path).predict(X) - svr.predict(X)).cwiseAbs().maxCoeff(), 1e-12);
  const OneClassModel one = fit_one_class(X, {.kernel = kernels::gaussian(1.3), .nu = 0.3});
  write_libsvm_model({one, std::nullopt}, path);
  EXPECT_EQ(load_model(path).kind(), "one-class");
  EXPECT_LT((read_libsvm_model(path).predict(X) - one.decision(X)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NE(model_info(path).find("\"libsvm\""), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_FALSE(is_libsvm_model(path));
  EXPECT_THROW(read_libsvm_model(path), FileError);
}

TEST(LibsvmModel, WhatSuchAFileCannotSayIsRefused) {
  const Matrix X = RandomStream(5).normal_matrix(40, 2);
  const auto refused = [](const SavedModel& saved) { return testing::message_of<InvalidArgument>([&] { libsvm_model_to_text(saved); }); };
  const auto labels = labels_of(X, 3);
  EXPECT_NE(refused({fit_svc(X, labels, {.kernel = kernels::laplacian(1.0)}), std::nullopt}).find("no kernel laplacian(1"),
            std::string::npos);
  EXPECT_NE(refused({fit_svc(X, labels, {.kernel = 2 * kernels::gaussian(1.0)}), std::nullopt}).find("no kernel 2*gaussian"),
            std::string::npos);
  SvcOptions rest;
  rest.multi_class = MultiClass::one_vs_rest;
  EXPECT_NE(refused({fit_svc(X, labels, rest), std::nullopt}).find("multi-class ovo"), std::string::npos);
  Encoder encoder;
  encoder.width = 2;
  encoder.task = Task::classification;
  encoder.classes = {"a", "b", "c"};
  const SvcModel model = fit_svc(X, labels);
  EXPECT_NE(refused({model, encoder}).find("the class \"a\""), std::string::npos);
  encoder.classes = {"1", "2", "3"};
  encoder.scaler = fit_scaler(X, ScalingKind::standard);
  EXPECT_NE(refused({model, encoder}).find("--scale none"), std::string::npos);
  EXPECT_NE(refused({fit_linear_svc(X, labels), std::nullopt}).find("linear-svc"), std::string::npos);
}

// One part of the text by hand replaced.
std::string message_with(const std::string& from, const std::string& to) {
  std::string text = by_hand;
  text.replace(text.find(from), from.size(), to);
  return testing::message_of<FileError>([&] { libsvm_model_from_text(text, "m"); });
}

TEST(LibsvmModel, WrongTextIsAnErrorWithItsLine) {
  EXPECT_EQ(message_with("c_svc", "d_svc"), "m:1: svm_type is \"d_svc\", wanted c_svc, nu_svc, one_class, epsilon_svr, nu_svr");
  EXPECT_EQ(message_with("rbf", "precomputed"),
            "m:2: a model of precomputed kernel values names its training rows by number and cannot be read");
  EXPECT_EQ(message_with("gamma 0.5", "gamma nan"), "m:3: gamma has \"nan\", wanted a finite number");
  EXPECT_NE(message_with("gamma 0.5", "gamma -1").find("gamma is -1, wanted a number > 0"), std::string::npos);
  EXPECT_NE(message_with("gamma 0.5\n", "").find("the kernel rbf lacks a line gamma"), std::string::npos);
  EXPECT_NE(message_with("nr_class 2", "nr_class 2000000000").find("m:4: nr_class has"), std::string::npos);
  EXPECT_NE(message_with("total_sv 2", "total_sv 999999999999999999").find("m:5: total_sv has"), std::string::npos);
  EXPECT_NE(message_with("total_sv 2", "total_sv -1").find("m:5: total_sv has"), std::string::npos);
  EXPECT_EQ(message_with("rho 0.25", "rho 0.25 1"), "m:9: rho has 2 numbers, wanted 1 for 2 classes");
  EXPECT_EQ(message_with("label 7 -3", "label 7 7"), "m:9: two classes have the same label");
  EXPECT_EQ(message_with("label 7 -3", "label 7 x"), "m:7: label has \"x\", wanted a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(message_with("nr_sv 1 1", "nr_sv 1 2"), "m:9: nr_sv has 3 support vectors in all, total_sv says 2");
  EXPECT_EQ(message_with("1 1:1", "1 0:1"), "m:10: an index has \"0\", wanted a whole number from 1 to 2147483646");
  EXPECT_EQ(message_with("1 1:1", "1 2:1 2:1"), "m:10: the index 2 stands behind 2; wanted ascending indices");
  EXPECT_EQ(message_with("1 1:1", "1 1"), "m:10: \"1\" is not a feature, wanted index:value");
  EXPECT_EQ(message_with("-1 2:2 \n", "-1 2:2 \n1 1:1\n"), "m:12: there are more support vectors than total_sv = 2");
  EXPECT_EQ(message_with("rho 0.25", "rho 0.25\nrho 0.25"), "m:7: \"rho\" stands here for the second time");
  EXPECT_EQ(message_with("rho 0.25", "rho 0.25\nbeta 1"), "m:7: \"beta\" is no setting of a LIBSVM model");
}

TEST(LibsvmModel, NoFileThatIsCutShortIsAModel) {
  const std::string text = by_hand;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const std::string message = testing::message_of<FileError>([&] { libsvm_model_from_text(text.substr(0, length), "m"); });
    EXPECT_TRUE(message.starts_with("m:")) << length << ": " << message;
  }
}

}  // namespace
}  // namespace mercer
