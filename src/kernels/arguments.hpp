// The arguments of a kernel in text, taken by name or in order, and the table of what can be made from them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "mercer/kernels.hpp"

namespace mercer {

struct Word {
  std::string text;
};
using Numbers = std::vector<double>;

struct Argument {
  std::string name;                                                              // empty: by position
  std::variant<double, Word, std::string, Numbers, Matrix, Kernel> value = 0.0;  // a quoted name is a string
  std::size_t at = 0;                                                            // of the value
  std::size_t name_at = 0;                                                       // of the name, where there is one
};

// A complaint about the character at this place.
struct Misplaced {
  std::size_t at;
  std::string message;
};

class Arguments {
 public:
  // Throws Misplaced for a name that is not among `names`, one too many, or one given twice.
  Arguments(std::string kernel, std::vector<Argument> given, std::vector<std::string> names);

  // The value given for a parameter, else what it is when nobody says; throws Misplaced where it is of another kind.
  double number(const std::string& name, double otherwise) const;
  int whole(const std::string& name, int otherwise) const;
  kernels::LengthScale length_scale(const std::string& name, bool automatic = true) const;
  std::string word(const std::string& name, const std::vector<std::string>& words) const;  // the first word when not given
  bool flag(const std::string& name, bool otherwise) const;                                // the words true and false
  const std::string& quoted_name(const std::string& name) const;
  bool has(const std::string& name) const { return find(name) != nullptr; }
  const Argument& required(const std::string& name) const;
  Kernel kernel(const std::string& name, const Kernel& otherwise) const;
  const Numbers& numbers(const std::string& name) const;
  const Matrix& points(const std::string& name) const;

  std::size_t at(const std::string& name) const;

 private:
  const Argument* find(const std::string& name) const;

  std::string kernel_;
  std::vector<std::string> names_;
  std::map<std::string, Argument> values_;
};

// Names that are made into kernels, and methods that are called on them. A parameter called `kernel` is an expression.
struct Maker {
  std::vector<std::string> parameters;
  std::function<Kernel(const Arguments&, const KernelLibrary&)> make;
};
struct Method {
  std::vector<std::string> parameters;
  std::function<Kernel(const Kernel&, const Arguments&)> make;
};
const std::map<std::string, Maker>& makers();
const std::map<std::string, Method>& methods();  // all but `on`, whose columns have a form of their own

// Bytes that would upset a terminal, a log or a reader of UTF-8 become blanks and question marks, one for one.
std::string printable(std::string_view text, std::size_t longest = 60);

}  // namespace mercer
