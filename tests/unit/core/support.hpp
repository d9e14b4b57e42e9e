// What the tests of core share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "mercer/error.hpp"

namespace mercer::testing {

// An environment variable for the length of a block.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name); before != nullptr) before_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// The message of the exception of type E that `act` throws; "(no exception)" if it throws none.
template <class E = Error, class Act>
std::string message_of(const Act& act) {
  try {
    act();
  } catch (const E& error) {
    return error.what();
  }
  return "(no exception)";
}

// A thread's progress callback is called at most every 50 ms, but at once on a new thread: so a short job can be stopped.
template <class Act>
void on_new_thread(const Act& act) {
  std::thread([&] { act(); }).join();
}

}  // namespace mercer::testing
