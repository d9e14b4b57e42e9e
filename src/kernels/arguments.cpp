// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kernels/quoted.hpp"
#include "kernels/text_parts.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

[[noreturn]] void fail(std::size_t at, const std::string& message) { throw Misplaced{at, message}; }

// What was given, as a message shows it.
std::string shown(const Argument& argument) {
  struct Shown {
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const Word& word) const { return fmt::format("\"{}\"", printable(word.text)); }
    std::string operator()(const std::string& name) const { return printable(in_quotes(name)); }
    std::string operator()(const Numbers&) const { return "a list"; }
    std::string operator()(const Matrix&) const { return "a list of points"; }
    std::string operator()(const Kernel&) const { return "a kernel"; }
  };
  return std::visit(Shown{}, argument.value);
}

Kernel known(const Arguments& a, const KernelLibrary& library, const char* what, bool function) {
  const std::string& name = a.quoted_name("name");
  const auto it = library.find(name);
  if (const auto any = library.find(any_kernel); it == library.end() && any != library.end()) return any->second;
  const bool fits =
      it != library.end() && (function ? kernels::function_of(it->second) != nullptr : kernels::feature_map_of(it->second) != nullptr);
  if (!fits)
    fail(a.at("name"),
         fmt::format(
             "the {} {} was written in the program that made this kernel: give it along (library= in Python, a KernelLibrary in C++)", what,
             printable(in_quotes(name))));
  return it->second;
}

// What stands for every name that the library does not have.
const Kernel* stand_in(const std::string& name, const KernelLibrary& library) {
  const auto any = library.find(any_kernel);
  return library.contains(name) || any == library.end() ? nullptr : &any->second;
}

// The table of words that text names.
std::shared_ptr<const WordTable> table_named(const Arguments& a, const KernelLibrary& library, const std::string& parameter) {
  const std::string& name = a.quoted_name(parameter);
  const auto it = library.find(name);
  auto table = it == library.end() ? nullptr : kernels::word_table_of(it->second);
  if (table == nullptr)
    fail(a.at(parameter), fmt::format("the table of words {} is not there: give it along (library= in Python, a KernelLibrary in C++)",
                                      printable(in_quotes(name))));
  return table;
}

Kernel bag_of_words(const Arguments& a, const KernelLibrary& library) {
  const bool normalized = a.flag("normalized", true);
  if (a.has("weights") && std::holds_alternative<std::string>(a.required("weights").value)) {
    if (const Kernel* any = stand_in(a.quoted_name("weights"), library)) return *any;
    return weighted_words(table_named(a, library, "weights"), a.quoted_name("weights"), normalized);
  }
  const std::string weights = a.word("weights", {"tfidf", "count", "binary"});
  using Weights = kernels::WordWeights;
  return kernels::bag_of_words(weights == "tfidf" ? Weights::tfidf : weights == "count" ? Weights::count : Weights::binary, normalized);
}

Kernel words(const Arguments& a, const KernelLibrary& library) {
  if (const Kernel* any = stand_in(a.quoted_name("table"), library)) return *any;
  return kernels::words(a.quoted_name("table"), table_named(a, library, "table"), a.kernel("kernel", kernels::linear()));
}

Kernel convolution(const Arguments& a, const KernelLibrary& library) {
  const Kernel part = a.kernel("kernel", kernels::spectrum());
  if (!a.has("parts")) return kernels::convolution("words", part);
  const Argument& parts = a.required("parts");
  if (const auto* known = std::get_if<Word>(&parts.value)) return kernels::convolution(known->text, part);
  const std::string& name = a.quoted_name("parts");
  if (const Kernel* any = stand_in(name, library)) return *any;
  const auto it = library.find(name);
  const auto* decomposition = it == library.end() ? nullptr : kernels::decomposition_of(it->second);
  if (decomposition == nullptr)
    fail(parts.at,
         fmt::format("the decomposition {} was written in the program that made this kernel: give it along (library= in Python, a "
                     "KernelLibrary in C++)",
                     printable(in_quotes(name))));
  return kernels::convolution(name, *decomposition, part);
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string out(text.substr(0, longest));
  for (char& c : out) {
    if (c >= '\t' && c <= '\r') c = ' ';
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > longest ? out + "..." : out;
}

Arguments::Arguments(std::string kernel, std::vector<Argument> given, std::vector<std::string> names)
    : kernel_(std::move(kernel)), names_(std::move(names)) {
  std::size_t position = 0;
  bool named = false;
  for (Argument& argument : given) {
    if (argument.name.empty()) {
      if (named) fail(argument.at, "an argument without a name cannot follow one with a name");
      if (position >= names_.size())
        fail(argument.at, fmt::format("{} takes {} argument{}", kernel_, names_.size(), names_.size() == 1 ? "" : "s"));
      argument.name = names_[position++];
    } else {
      named = true;
      if (std::find(names_.begin(), names_.end(), argument.name) == names_.end()) {
        fail(argument.name_at, fmt::format("{} has no parameter \"{}\"; it has {}", kernel_, printable(argument.name),
                                           names_.empty() ? "none" : fmt::format("{}", fmt::join(names_, ", "))));
      }
    }
    if (!values_.emplace(argument.name, argument).second) fail(argument.at, fmt::format("{} is given twice", argument.name));
  }
}

const Argument* Arguments::find(const std::string& name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

const Argument& Arguments::required(const std::string& name) const {
  const Argument* argument = find(name);
  if (argument == nullptr) throw InvalidArgument(fmt::format("{} needs its {}", kernel_, name));
  return *argument;
}

std::size_t Arguments::at(const std::string& name) const { return required(name).at; }

double Arguments::number(const std::string& name, double otherwise) const {
  const Argument* argument = find(name);
  if (argument == nullptr) return otherwise;
  if (const auto* value = std::get_if<double>(&argument->value)) return *value;
  fail(argument->at, fmt::format("{} must be a number, got {}", name, shown(*argument)));
}

int Arguments::whole(const std::string& name, int otherwise) const {
  const double value = number(name, otherwise);
  if (std::abs(value) > 1e6) fail(at(name), fmt::format("{} must be a whole number of at most a million, got {}", name, value));
  if (value != std::floor(value)) fail(at(name), fmt::format("{} must be a whole number, got {}", name, value));
  return static_cast<int>(value);
}

kernels::LengthScale Arguments::length_scale(const std::string& name, bool automatic) const {
  const Argument* argument = find(name);
  if (argument == nullptr) return 1.0;
  if (const auto* value = std::get_if<double>(&argument->value)) return *value;
  if (const auto* list = std::get_if<Numbers>(&argument->value)) return *list;
  const auto* word = std::get_if<Word>(&argument->value);
  if (automatic && word != nullptr && word->text == "auto") return kernels::LengthScale::automatic();
  fail(argument->at,
       fmt::format("{} must be a number{} or a list of one per column, got {}", name, automatic ? ", auto" : "", shown(*argument)));
}

std::string Arguments::word(const std::string& name, const std::vector<std::string>& words) const {
  const Argument* argument = find(name);
  if (argument == nullptr) return words[0];
  const auto* word = std::get_if<Word>(&argument->value);
  if (word == nullptr || std::find(words.begin(), words.end(), word->text) == words.end())
    fail(argument->at, fmt::format("{} must be {}", name, fmt::join(words, " or ")));
  return word->text;
}

bool Arguments::flag(const std::string& name, bool otherwise) const {
  return find(name) == nullptr ? otherwise : word(name, {"true", "false"}) == "true";
}

Kernel Arguments::kernel(const std::string& name, const Kernel& otherwise) const {
  const Argument* argument = find(name);
  if (argument == nullptr) return otherwise;
  if (const auto* value = std::get_if<Kernel>(&argument->value)) return *value;
  fail(argument->at, fmt::format("{} must be a kernel, got {}", name, shown(*argument)));
}

const std::string& Arguments::quoted_name(const std::string& name) const {
  const Argument& argument = required(name);
  if (const auto* value = std::get_if<std::string>(&argument.value)) return *value;
  fail(argument.at, fmt::format("{} must be a name in quotes, got {}", name, shown(argument)));
}

const Numbers& Arguments::numbers(const std::string& name) const {
  const Argument& argument = required(name);
  if (const auto* value = std::get_if<Numbers>(&argument.value)) return *value;
  fail(argument.at, fmt::format("{} must be a list like [1, 0.5], got {}", name, shown(argument)));
}

const Matrix& Arguments::points(const std::string& name) const {
  const Argument& argument = required(name);
  if (const auto* value = std::get_if<Matrix>(&argument.value)) return *value;
  fail(argument.at, fmt::format("{} must be a list of points like [[0, 1], [2, 3]], got {}", name, shown(argument)));
}

const std::map<std::string, Maker>& makers() {
  using A = Arguments;
  using L = KernelLibrary;
  static const std::map<std::string, Maker> all{
      {"linear", {{}, [](const A&, const L&) { return kernels::linear(); }}},
      {"polynomial",
       {{"degree", "scale", "offset"},
        [](const A& a, const L&) { return kernels::polynomial(a.whole("degree", 3), a.number("scale", 1), a.number("offset", 1)); }}},
      {"sigmoid",
       {{"scale", "offset"}, [](const A& a, const L&) { return kernels::sigmoid(a.number("scale", 1), a.number("offset", 0)); }}},
      {"exponential_dot", {{"scale"}, [](const A& a, const L&) { return kernels::exponential_dot(a.number("scale", 1)); }}},
      {"cosine", {{}, [](const A&, const L&) { return kernels::cosine(); }}},
      {"gaussian", {{"length_scale"}, [](const A& a, const L&) { return kernels::gaussian(a.length_scale("length_scale")); }}},
      {"laplacian",
       {{"length_scale", "norm"},
        [](const A& a, const L&) {
          const bool l1 = a.word("norm", {"l2", "l1"}) == "l1";
          return kernels::laplacian(a.length_scale("length_scale"), l1 ? kernels::Norm::l1 : kernels::Norm::l2);
        }}},
      {"matern",
       {{"nu", "length_scale"}, [](const A& a, const L&) { return kernels::matern(a.number("nu", 1.5), a.length_scale("length_scale")); }}},
      {"rational_quadratic",
       {{"length_scale", "alpha"},
        [](const A& a, const L&) { return kernels::rational_quadratic(a.length_scale("length_scale"), a.number("alpha", 1)); }}},
      {"periodic",
       {{"length_scale", "period"},
        [](const A& a, const L&) { return kernels::periodic(a.length_scale("length_scale", false), a.length_scale("period", false)); }}},
      {"chi2", {{"gamma"}, [](const A& a, const L&) { return kernels::chi2(a.number("gamma", 1)); }}},
      {"histogram_intersection", {{}, [](const A&, const L&) { return kernels::histogram_intersection(); }}},
      {"constant", {{"value"}, [](const A& a, const L&) { return kernels::constant(a.number("value", 1)); }}},
      {"white", {{"variance"}, [](const A& a, const L&) { return kernels::white(a.number("variance", 1)); }}},
      {"precomputed", {{}, [](const A&, const L&) { return kernels::precomputed(); }}},
      {"spectrum",
       {{"k", "normalized"}, [](const A& a, const L&) { return kernels::spectrum(a.whole("k", 3), a.flag("normalized", true)); }}},
      {"weighted_degree",
       {{"degree", "normalized"},
        [](const A& a, const L&) { return kernels::weighted_degree(a.whole("degree", 3), a.flag("normalized", true)); }}},
      {"mismatch",
       {{"k", "m", "letters", "normalized"},
        [](const A& a, const L&) {
          return kernels::mismatch(a.whole("k", 3), a.whole("m", 1), a.whole("letters", 0), a.flag("normalized", true));
        }}},
      {"gappy",
       {{"k", "gaps", "normalized"},
        [](const A& a, const L&) { return kernels::gappy(a.whole("k", 3), a.whole("gaps", 1), a.flag("normalized", true)); }}},
      {"subsequence",
       {{"k", "decay", "normalized"},
        [](const A& a, const L&) { return kernels::subsequence(a.whole("k", 2), a.number("decay", 0.5), a.flag("normalized", true)); }}},
      {"edit_distance", {{"length_scale"}, [](const A& a, const L&) { return kernels::edit_distance(a.length_scale("length_scale")); }}},
      {"bag_of",
       {{"kernel", "form"},
        [](const A& a, const L&) {
          const std::string form = a.word("form", {"sum", "mean", "best"});
          using Form = kernels::BagForm;
          return kernels::bag_of(a.kernel("kernel", kernels::gaussian()), form == "sum"    ? Form::sum
                                                                          : form == "mean" ? Form::mean
                                                                                           : Form::best);
        }}},
      {"bag_of_words", {{"weights", "normalized"}, bag_of_words}},
      {"words", {{"table", "kernel"}, words}},
      {"convolution", {{"parts", "kernel"}, convolution}},
      {"weisfeiler_lehman",
       {{"iterations", "form", "normalized"},
        [](const A& a, const L&) {
          const bool subtree = a.word("form", {"subtree", "assignment"}) == "subtree";
          return kernels::weisfeiler_lehman(a.whole("iterations", 5),
                                            subtree ? kernels::LehmanForm::subtree : kernels::LehmanForm::assignment,
                                            a.flag("normalized", true));
        }}},
      {"shortest_path", {{"normalized"}, [](const A& a, const L&) { return kernels::shortest_path(a.flag("normalized", true)); }}},
      {"random_walk",
       {{"decay", "normalized"},
        [](const A& a, const L&) { return kernels::random_walk(a.number("decay", 0), a.flag("normalized", true)); }}},
      {"graphlet",
       {{"size", "normalized"}, [](const A& a, const L&) { return kernels::graphlet(a.whole("size", 3), a.flag("normalized", true)); }}},
      {"function", {{"name"}, [](const A& a, const L& library) { return known(a, library, "function", true); }}},
      {"feature_map", {{"name"}, [](const A& a, const L& library) { return known(a, library, "feature map", false); }}},
  };
  return all;
}

const std::map<std::string, Method>& methods() {
  using A = Arguments;
  static const std::map<std::string, Method> all{
      {"normalized",
       {{"form"},
        [](const Kernel& k, const A& a) {
          return k.normalized(a.word("form", {"root", "product"}) == "root" ? Normalization::root : Normalization::product);
        }}},
      {"exp", {{}, [](const Kernel& k, const A&) { return k.exp(); }}},
      {"geometric", {{}, [](const Kernel& k, const A&) { return k.geometric(); }}},
      {"series", {{"coefficients"}, [](const Kernel& k, const A& a) { return k.series(a.numbers("coefficients")); }}},
      {"radial", {{"length_scale"}, [](const Kernel& k, const A& a) { return k.radial(a.length_scale("length_scale")); }}},
      {"over", {{"points"}, [](const Kernel& k, const A& a) { return k.over(a.points("points")); }}},
  };
  return all;
}

}  // namespace mercer
