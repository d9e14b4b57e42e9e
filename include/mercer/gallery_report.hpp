// The page and the numbers of experiments: each with pictures, a table, the numbers it must show and claims that held or did not.
// Names and words are data: escaped in HTML and in script. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mercer/exploration_report.hpp"
#include "mercer/figure.hpp"

namespace mercer {

struct ExperimentTable {
  std::string caption{};
  std::vector<std::string> columns{};
  std::vector<std::vector<std::string>> rows{};  // as they are to be read
};

// Something the experiment must show, and whether it did.
struct Claim {
  std::string text{};  // "ridge wiggles less: 0.8 against 12.4"
  bool held = false;
};

struct Experiment {
  std::string id{};        // "E1"
  std::string title{};     // "Ridge is calm where least squares wiggles"
  std::string source{};    // "K fig 1-2"
  std::string equation{};  // what it demonstrates, in Unicode: "ŵ = (XᵀX + nλI)⁻¹ Xᵀy"
  std::string data{};      // where the data are from
  std::string see{};       // a sentence or two on what to see
  std::vector<Figure> figures{};
  std::vector<ImageStrip> images{};
  std::vector<ExperimentTable> tables{};
  std::vector<std::pair<std::string, double>> numbers{};  // by words_with_underscores, as gallery.json has them
  std::vector<Claim> claims{};
  std::vector<std::string> notes{};  // slips of the source, what was left out in a quick run
  std::string program{};             // the file that makes it: "examples/gallery/e01_ridge.cpp"
  double seconds = 0;

  bool held() const {
    for (const Claim& claim : claims) {
      if (!claim.held) return false;
    }
    return !claims.empty();
  }
};

struct GalleryReport {
  std::vector<Experiment> experiments{};
  std::string command{};  // what a person types to get the page again
  std::string setting{};  // "quick, built-in data", "full, data of ../data"
};

std::string gallery_page(const GalleryReport& report);
// {"E1": {"title", "source", "equation", "data", "see", "held", "claims": [{"text", "held"}], "numbers": {...}, "tables": [...],
//  "charts": [{"title", "description", "spec"}], "notes", "program", "seconds"}, ...}
std::string gallery_json(const GalleryReport& report);

}  // namespace mercer
