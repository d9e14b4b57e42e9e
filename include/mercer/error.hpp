// The three kinds of failure. Misuse or a bad file throws one of these; a numeric outcome (iteration limit, singular
// matrix, not separable) is a status inside a summary; Mercer's own bugs are asserts.
// Every message says what, what was got, what was wanted and the remedy, in one line.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace mercer {

// The base of all exceptions that Mercer throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A parameter or an array that cannot be used as given.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

// A file that cannot be read, written or understood. The message starts with "path:line:column: " where those are known.
class FileError : public Error {
 public:
  using Error::Error;
};

// The work needs more memory than the budget allows; the message says how much and what to do instead.
class OverBudget : public Error {
 public:
  using Error::Error;
};

// An operation that this kind of operator or model does not offer (a block of a streamed Gram, say).
class NotOffered : public Error {
 public:
  using Error::Error;
};

// The progress callback asked to stop. Not an Error: nothing is wrong, and no result exists.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "cancelled"; }
};

// Letters to insert, delete or change between two words: what messages use to say which name was probably meant.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace mercer
