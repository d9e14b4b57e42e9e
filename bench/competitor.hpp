// The loop around every C++ competitor, the twin of competitor.py.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace bench {

inline double status(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    double kib = 0;
    if (word == key && in >> kib) return kib * 1024;
  }
  return 0;
}

// prepare(files) loads; work() is timed; check() gives numbers to compare.
inline void serve(const std::function<void(const std::vector<std::string>&)>& prepare, const std::function<void()>& work,
                  const std::function<std::vector<double>()>& check) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "prepare") {
      std::vector<std::string> files;
      for (std::string file; words >> file;) files.push_back(file);
      prepare(files);
      std::puts("\"ready\"");
    } else {
      std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts here
      const double before = status("VmRSS:");
      const auto start = std::chrono::steady_clock::now();
      work();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const double peak = status("VmHWM:") - before;
      std::printf("{\"seconds\": %.6f, \"peak_bytes\": %.0f, \"check\": [", seconds, peak);
      const char* comma = "";
      for (const double x : check()) {
        std::printf("%s%.17g", comma, x);
        comma = ", ";
      }
      std::puts("]}");
    }
    std::fflush(stdout);
  }
}

}  // namespace bench
