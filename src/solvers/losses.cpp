// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/losses.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "mercer/error.hpp"

namespace mercer {

namespace {

using Kind = Loss::Kind;

struct Word {
  const char* name;
  Kind kind;
  const char* parameter;  // nullptr: none
  double default_value;
};

constexpr std::array<Word, 11> words{{{"squared", Kind::squared, nullptr, 0},
                                      {"hinge", Kind::hinge, nullptr, 0},
                                      {"squared_hinge", Kind::squared_hinge, nullptr, 0},
                                      {"logistic", Kind::logistic, nullptr, 0},
                                      {"huber", Kind::huber, "delta", 1.345},
                                      {"epsilon_insensitive", Kind::epsilon, "epsilon", 0.1},
                                      {"squared_epsilon_insensitive", Kind::squared_epsilon, "epsilon", 0.1},
                                      {"quantile", Kind::quantile, "quantile", 0.5},
                                      {"expectile", Kind::expectile, "expectile", 0.5},
                                      {"poisson", Kind::poisson, nullptr, 0},
                                      {"custom", Kind::custom, nullptr, 0}}};

const Word& word_of(Kind kind) { return words[static_cast<std::size_t>(kind)]; }

struct Point {
  double value;
  double first;
  double second;
};

Point squared_beyond(double excess, double sign, double weight) {  // weight * max(0, excess)^2, excess growing with sign * z
  return excess > 0 ? Point{weight * excess * excess, 2 * weight * excess * sign, 2 * weight} : Point{0, 0, 0};
}

Point logistic_at(double y, double z) {
  const double t = y * z;
  const double tail = std::exp(-std::abs(t));
  const double wrong = t > 0 ? tail / (1 + tail) : 1 / (1 + tail);  // probability of the other class
  return {std::log1p(tail) + std::max(0.0, -t), -y * wrong, tail / ((1 + tail) * (1 + tail))};
}

Point huber_at(double r, double delta) {
  if (std::abs(r) <= delta) return {r * r / 2, -r, 1};
  return {delta * (std::abs(r) - delta / 2), r > 0 ? -delta : delta, 0};
}

Point poisson_at(double y, double z) {
  const double mean = std::exp(z);
  return {mean - y * z + (y > 0 ? y * std::log(y) - y : 0), mean - y, mean};
}

Point kinks_at(const std::vector<Kink>& kinks, double z) {
  Point sum{0, 0, 0};
  for (const Kink& k : kinks) {
    const double slope = z < k.at ? k.low : z > k.at ? k.high : 0;
    sum.value += slope * (z - k.at);
    sum.first += slope;
  }
  return sum;
}

Point point(const Loss& loss, double y, double z) {
  const double r = y - z;
  const double p = loss.parameter();
  switch (loss.kind()) {
    case Kind::squared:
      return {r * r, -2 * r, 2};
    case Kind::squared_hinge:
      return squared_beyond(1 - y * z, -y, 1);
    case Kind::logistic:
      return logistic_at(y, z);
    case Kind::huber:
      return huber_at(r, p);
    case Kind::squared_epsilon:
      return r > 0 ? squared_beyond(r - p, -1, 1) : squared_beyond(-r - p, 1, 1);
    case Kind::expectile:
      return r > 0 ? squared_beyond(r, -1, p) : squared_beyond(-r, 1, 1 - p);
    case Kind::poisson:
      return poisson_at(y, z);
    default:
      return kinks_at(loss.kinks(y), z);
  }
}

LossValues checked(LossValues v, Index n, const std::string& name) {
  if (v.value.size() != n || v.first.size() != n || v.second.size() != n) {
    throw InvalidArgument(fmt::format("the loss {} must give a value and two derivatives for each of {} samples, got {}, {} and {}", name,
                                      n, v.value.size(), v.first.size(), v.second.size()));
  }
  for (Index i = 0; i < n; ++i) {
    if (std::isnan(v.value[i]) || std::isnan(v.first[i]) || std::isnan(v.second[i])) {
      throw InvalidArgument(fmt::format("the loss {} gave NaN for sample {}", name, i));
    }
    if (v.second[i] < 0) {
      throw InvalidArgument(fmt::format("the loss {} is not convex: its second derivative is {} for sample {}", name, v.second[i], i));
    }
  }
  return v;
}

std::string known_words() {
  std::string list;
  for (const std::string& name : loss_names()) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace

Loss Loss::make(Kind kind, double parameter, std::string name, LossFunction function) {
  const Word& word = word_of(kind);
  const bool level = kind == Kind::quantile || kind == Kind::expectile;
  if (level && !(parameter > 0 && parameter < 1)) {
    throw InvalidArgument(fmt::format("{} must lie between 0 and 1, got {}", word.parameter, parameter));
  }
  if (kind == Kind::huber && !(parameter > 0 && std::isfinite(parameter))) {
    throw InvalidArgument(fmt::format("delta of the Huber loss must be > 0, got {}", parameter));
  }
  if ((kind == Kind::epsilon || kind == Kind::squared_epsilon) && !(parameter >= 0 && std::isfinite(parameter))) {
    throw InvalidArgument(fmt::format("epsilon must be >= 0, got {}", parameter));
  }
  Loss loss;
  loss.kind_ = kind;
  loss.parameter_ = word.parameter != nullptr ? parameter : 0;
  loss.name_ = std::move(name);
  loss.function_ = std::move(function);
  return loss;
}

LossValues Loss::operator()(const VectorRef& y, const VectorRef& z) const {
  const Index n = z.size();
  if (y.size() != n) throw InvalidArgument(fmt::format("{} targets for {} scores", y.size(), n));
  if (kind_ == Kind::custom) {
    if (!function_) {
      throw InvalidArgument(fmt::format("the loss {} came from a file, which holds its name alone: only predictions are possible", name_));
    }
    return checked(function_(y, z), n, name_);
  }
  LossValues out{Vector(n), Vector(n), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    const Point at = point(*this, y[i], z[i]);
    out.value[i] = at.value;
    out.first[i] = at.first;
    out.second[i] = at.second;
  }
  return out;
}

void Loss::require_targets(const VectorRef& y) const {
  for (Index i = 0; i < y.size(); ++i) {
    if (targets() == Targets::signs && y[i] != 1 && y[i] != -1) {
      throw InvalidArgument(fmt::format("the loss {} wants targets -1 or 1, got {} for sample {}", text(), y[i], i));
    }
    if (targets() == Targets::counts && !(y[i] >= 0)) {
      throw InvalidArgument(fmt::format("the loss {} wants targets >= 0, got {} for sample {}", text(), y[i], i));
    }
  }
}

std::string Loss::text() const {
  if (kind_ == Kind::custom) return fmt::format("custom({})", name_);
  const Word& word = word_of(kind_);
  return word.parameter != nullptr ? fmt::format("{}({})", word.name, parameter_) : word.name;
}

bool Loss::smooth() const { return kind_ != Kind::hinge && kind_ != Kind::epsilon && kind_ != Kind::quantile; }

Loss::Targets Loss::targets() const {
  if (kind_ == Kind::hinge || kind_ == Kind::squared_hinge || kind_ == Kind::logistic) return Targets::signs;
  return kind_ == Kind::poisson ? Targets::counts : Targets::real;
}

std::vector<Kink> Loss::kinks(double y) const {
  switch (kind_) {
    case Kind::hinge:
      return {y > 0 ? Kink{1, -1, 0} : Kink{-1, 0, 1}};
    case Kind::epsilon:
      return {{y - parameter_, -1, 0}, {y + parameter_, 0, 1}};
    case Kind::quantile:
      return {{y, -parameter_, 1 - parameter_}};
    default:
      return {};
  }
}

Vector Loss::mean(const VectorRef& z) const { return kind_ == Kind::poisson ? Vector(z.array().exp()) : Vector(z); }

namespace losses {

Loss squared() { return Loss::make(Kind::squared, 0); }
Loss hinge() { return Loss::make(Kind::hinge, 0); }
Loss squared_hinge() { return Loss::make(Kind::squared_hinge, 0); }
Loss logistic() { return Loss::make(Kind::logistic, 0); }
Loss huber(double delta) { return Loss::make(Kind::huber, delta); }
Loss epsilon(double width) { return Loss::make(Kind::epsilon, width); }
Loss squared_epsilon(double width) { return Loss::make(Kind::squared_epsilon, width); }
Loss quantile(double level) { return Loss::make(Kind::quantile, level); }
Loss expectile(double level) { return Loss::make(Kind::expectile, level); }
Loss poisson() { return Loss::make(Kind::poisson, 0); }
Loss custom(std::string name, LossFunction function) { return Loss::make(Kind::custom, 0, std::move(name), std::move(function)); }

}  // namespace losses

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const Word& word : words) {
    if (word.kind != Kind::custom) names.emplace_back(word.name);
  }
  return names;
}

Loss parse_loss(std::string_view text) {
  const auto open = text.find('(');
  const std::string_view name = text.substr(0, open);
  for (const Word& word : words) {
    if (name != word.name) continue;
    if (open == std::string_view::npos) return Loss::make(word.kind, word.default_value);
    if (text.back() != ')') break;
    const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    if (word.kind == Kind::custom) return Loss::make(word.kind, 0, std::string(inside));
    double value = 0;
    const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), value);
    if (word.parameter == nullptr || error != std::errc() || end != inside.data() + inside.size()) break;
    return Loss::make(word.kind, value);
  }
  throw InvalidArgument(
      fmt::format("\"{}\" is not a loss; known are {} (huber(1.345), quantile(0.9), ... take a number)", text, known_words()));
}

}  // namespace mercer
