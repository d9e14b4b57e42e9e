// SPDX-License-Identifier: BSD-3-Clause
#include "select/verdict.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

namespace mercer {

namespace {

// "gaussian(2.1)" -> "Gaussian"; sums and products stay as they are written.
std::string kernel_word(const std::string& kernel) {
  if (kernel.find_first_of("+*") != std::string::npos && !kernel.starts_with("1*")) return "kernel " + kernel;
  std::string word = kernel.substr(kernel.starts_with("1*") ? 2 : 0);
  word = word.substr(0, word.find('('));
  const std::size_t product = word.find('*');
  if (product != std::string::npos) word = word.substr(product + 1);
  if (!word.empty()) word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return word;
}

// The pair of classes behind most of the errors, where one stands out.
std::string errors_sentence(const LearnResult& r) {
  const Eigen::MatrixXi& table = r.confusion;
  const int errors = table.sum() - table.trace();
  if (errors < 5) return "";
  Eigen::MatrixXi off = table;
  off.diagonal().setZero();
  Eigen::Index truth = 0, said = 0;
  const int most = off.maxCoeff(&truth, &said);
  const auto& classes = r.model.encoder->classes;
  const double share = static_cast<double>(most) / errors;
  if (table.rows() > 2 ? most < 3 : share < 0.6) return "";
  return fmt::format(" {} of the {} errors {} \"{}\" taken for \"{}\".", share > 0.5 ? "Most" : fmt::format("{}", most), errors,
                     share > 0.5 || most > 1 ? "are" : "is", classes[static_cast<std::size_t>(truth)],
                     classes[static_cast<std::size_t>(said)]);
}

std::string class_verdict(const LearnResult& r) {
  const Candidate& best = r.candidates.front();
  std::string text = fmt::format("{}: {:.1f} % right on {} held-out rows (95 % interval {:.1f} to {:.1f}).", model_words(best),
                                 100 * r.test.accuracy, r.test.n, 100 * r.test.ci_low, 100 * r.test.ci_high);
  if (r.linear.n > 0) {
    text += best.kernel.empty() ? fmt::format(" Always saying the most frequent class gets {:.1f} %.", 100 * r.baseline.accuracy)
                                : fmt::format(" A linear model gets {:.1f} %, always saying the most frequent class {:.1f} %.",
                                              100 * r.linear.accuracy, 100 * r.baseline.accuracy);
  } else {
    text += fmt::format(" Always saying the most frequent class gets {:.1f} %.", 100 * r.baseline.accuracy);
  }
  if (r.confusion.rows() == 2 && r.confusion.row(1).sum() == 0) {
    text += fmt::format(" No held-out row is \"{}\".", r.model.encoder->classes[1]);
  } else if (r.confusion.rows() == 2 && r.confusion.col(1).sum() == 0) {
    text += fmt::format(" It calls no held-out row \"{}\".", r.model.encoder->classes[1]);
  } else if (r.operating_point) {
    const OperatingPoint& point = *r.operating_point;
    text += fmt::format(
        " At the operating point asked for, {:.1f} % of what it calls \"{}\" is so ({:.1f} % wanted), and it finds {:.1f} % of them.",
        100 * point.precision, r.model.encoder->classes[1], 100 * point.wanted, 100 * point.recall);
  } else if (r.confusion.rows() == 2) {
    text += fmt::format(" Of what it calls \"{}\" {:.1f} % is so (precision), and it finds {:.1f} % of them (recall).",
                        r.model.encoder->classes[1], 100 * r.test.precision, 100 * r.test.recall);
  }
  return text + errors_sentence(r);
}

std::string number_verdict(const LearnResult& r) {
  const Candidate& best = r.candidates.front();
  std::string text = fmt::format("{}: RMSE {:.4g} on {} held-out rows (95 % interval {:.4g} to {:.4g}), R2 {:.3f}.", model_words(best),
                                 r.test.rmse, r.test.n, r.test.ci_low, r.test.ci_high, r.test.r2);
  text += r.linear.n > 0 && !best.kernel.empty()
              ? fmt::format(" A linear model has RMSE {:.4g}, always saying the mean {:.4g}.", r.linear.rmse, r.baseline.rmse)
              : fmt::format(" Always saying the mean has RMSE {:.4g}.", r.baseline.rmse);
  if (r.test_intervals.rows() > 0 && std::isfinite(r.interval_coverage)) {
    text += fmt::format(" {:.0f} % intervals hold {:.1f} % of the held-out values.", 100 * r.interval_level, 100 * r.interval_coverage);
  }
  return text;
}

}  // namespace

std::string model_words(const Candidate& c) {
  if (c.model == "ridge") return "Ridge regression on the columns";
  if (c.model == "linear-svc") return "Linear SVM";
  const std::string kernel = kernel_word(c.kernel);
  if (c.model == "svc") return kernel + " SVM";
  if (c.model == "nu-svc") return kernel + " nu-SVM";
  if (c.model == "svr") return kernel + " support vector regression";
  if (c.model == "nu-svr") return kernel + " nu-SVR";
  if (c.model == "gp") return "Gaussian process with " + (kernel.starts_with("kernel ") ? kernel : "a " + kernel + " kernel");
  if (c.model == "logistic") return kernel + " logistic regression";
  if (c.model == "falkon") return kernel + " kernel ridge on landmarks (Falkon)";
  if (c.model == "mean") return kernel + " class means";
  if (c.model == "sgd-svm") return kernel + " SVM by stochastic gradients";
  return kernel + " kernel ridge";
}

std::string verdict_of(const LearnResult& r) {
  return r.model.encoder->task == Task::classification ? class_verdict(r) : number_verdict(r);
}

}  // namespace mercer
