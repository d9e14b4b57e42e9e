// SPDX-License-Identifier: BSD-3-Clause
#include "libsvm_options.hpp"

#include <cmath>
#include <sstream>

namespace mercer::cli {

namespace {

class Words {
 public:
  explicit Words(const std::string& text) : in_(text) {}

  bool next(std::string& option) { return static_cast<bool>(in_ >> option); }

  double number(const std::string& option, double low, double high, const char* wanted) {
    const std::string word = value_of(option, wanted);
    const auto number = parse_number(word);
    if (!number || !std::isfinite(*number) || *number < low || *number > high)
      throw UsageError(fmt::format("--libsvm: {} must be {}, got {}", option, wanted, word));
    return *number;
  }

  int whole(const std::string& option, int low, int high) {
    const std::string wanted = fmt::format("a whole number from {} to {}", low, high);
    const double value = number(option, low, high, wanted.c_str());
    if (value != std::floor(value)) throw UsageError(fmt::format("--libsvm: {} must be {}, got {:g}", option, wanted, value));
    return static_cast<int>(value);
  }

 private:
  std::string value_of(const std::string& option, const char* wanted) {
    std::string word;
    if (!(in_ >> word)) throw UsageError(fmt::format("--libsvm: {} must be {}, got nothing", option, wanted));
    return word;
  }

  std::istringstream in_;
};

constexpr double any = 1e300;

// The options of one letter; false: there is no such option.
bool take(char letter, const std::string& option, Words& words, LibsvmOptions& o) {
  switch (letter) {
    case 's':
      o.type = static_cast<LibsvmOptions::Type>(words.whole(option, 0, 4));
      return true;
    case 't':
      o.kernel = words.whole(option, 0, 4);
      if (o.kernel == 4)
        throw UsageError(
            "--libsvm: -t 4 (a given kernel, rows that begin with 0:serial) is not read; use --kernel precomputed without --libsvm");
      return true;
    case 'd':
      o.degree = words.whole(option, 1, 1000);
      return true;
    case 'g':
      o.gamma = words.number(option, 0, any, "a number >= 0 (0: one over the number of columns)");
      return true;
    case 'r':
      o.coef0 = words.number(option, -any, any, "a number");
      return true;
    case 'c':
      o.C = words.number(option, 1e-300, any, "a number > 0");
      return true;
    case 'n':
      o.nu = words.number(option, 1e-300, 1, "a number > 0 and at most 1");
      return true;
    case 'p':
      o.epsilon = words.number(option, 0, any, "a number >= 0");
      return true;
    case 'e':
      o.tolerance = words.number(option, 1e-15, any, "a number > 0");
      return true;
    case 'm':  // the cache has the memory of --memory
      (void)words.number(option, 1e-300, any, "a number > 0");
      return true;
    case 'h':  // what is left out on the way has no influence on the answer
      (void)words.whole(option, 0, 1);
      return true;
    case 'b':
      o.probability = words.whole(option, 0, 1) == 1;
      return true;
    case 'v':
      o.folds = words.whole(option, 2, 1'000'000);
      return true;
    case 'q':
      return true;
    default:
      return false;
  }
}

}  // namespace

Kernel LibsvmOptions::kernel_for(Index columns) const {
  const double g = gamma > 0 ? gamma : 1 / static_cast<double>(std::max<Index>(1, columns));
  switch (kernel) {
    case 0:
      return kernels::linear();
    case 1:
      return kernels::polynomial(degree, g, coef0);
    case 2:
      return kernels::gaussian(std::sqrt(1 / (2 * g)));
    default:
      return kernels::sigmoid(g, coef0);
  }
}

LibsvmOptions parse_libsvm_options(const std::string& text) {
  LibsvmOptions o;
  Words words(text);
  std::string option;
  while (words.next(option)) {
    if (option.size() > 2 && option.starts_with("-w")) {
      const std::string label = option.substr(2);
      if (!parse_number(label)) throw UsageError(fmt::format("--libsvm: {} names no label; wanted -w1 0.5, say", option));
      o.weights.emplace_back(label, words.number(option, 0, any, "a number >= 0"));
      continue;
    }
    if (option.size() != 2 || option[0] != '-' || !take(option[1], option, words, o))
      throw UsageError(
          fmt::format("--libsvm: svm-train has no option {}; there are -s -t -d -g -r -c -n -p -m -e -h -b -w1 -v -q", option));
  }
  using Type = LibsvmOptions::Type;
  const bool classes = o.type == Type::c_svc || o.type == Type::nu_svc;
  if (o.probability && !classes)
    throw UsageError("--libsvm: -b 1 is for classes (-s 0, -s 1); numbers and one class have no probabilities");
  if (o.folds > 0 && o.type == Type::one_class) throw UsageError("--libsvm: -v is for classes and numbers; one class has no answers");
  if (!o.weights.empty() && o.type != Type::c_svc) throw UsageError("--libsvm: -w is for -s 0");
  return o;
}

}  // namespace mercer::cli
