// What the checks found, in words: a sentence that says it, then the evidence line by line.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "mercer/diagnosis.hpp"

namespace mercer {

namespace {

constexpr std::size_t shown = 3;  // of a list; the rest is counted

// "1 negative eigenvalue", "2 negative eigenvalues"
std::string negatives(Index count) { return fmt::format("{} negative eigenvalue{}", count, count == 1 ? "" : "s"); }

std::string more_than(std::size_t count) { return count > shown ? fmt::format(" and {} more", count - shown) : ""; }

std::string first_sentence(const GramCheck& c) {
  if (!c.symmetric)
    return fmt::format("not a Gram matrix: it is not symmetric, K_ij and K_ji differ by {:.3g} at ({}, {})", c.asymmetry, c.asymmetry_row,
                       c.asymmetry_col);
  if (!c.psd) return fmt::format("not a Gram matrix: v'Kv = {:.6g} < 0 for a unit vector v", c.violation);
  return fmt::format("a Gram matrix: symmetric and positive semi-definite{}",
                     c.strictly_positive ? ", strictly: every eigenvalue is above rounding" : "");
}

void say_diagonal(const GramCheck& c, std::vector<std::string>& lines) {
  if (const std::size_t count = c.negative_diagonal.size(); count > 0) {
    const auto end = c.negative_diagonal.begin() + static_cast<std::ptrdiff_t>(std::min(shown, count));
    lines.push_back(fmt::format("negative on the diagonal: row {}{}, least {:.6g}{}", fmt::join(c.negative_diagonal.begin(), end, ", "),
                                more_than(count), c.smallest_diagonal,
                                c.psd ? ": within rounding of the largest eigenvalue, but if it is exact, no Gram matrix has it" : ""));
  }
  if (const std::size_t count = c.vanishing_diagonal.size(); count > 0) {
    const EntryPair& p = c.vanishing_diagonal.front();
    lines.push_back(fmt::format("row {0}{1}: K_ii = 0, so the row of a Gram matrix would be 0, but K({0}, {2}) = {3:.6g}", p.row,
                                count > 1 ? fmt::format(" and {} more", count - 1) : "", p.col, p.entry));
  }
  if (c.cauchy_schwarz) {
    const EntryPair& p = *c.cauchy_schwarz;
    lines.push_back(fmt::format(
        "Cauchy-Schwarz fails, worst at ({0}, {1}): |K_ij| = {2:.6g} > {3:.6g} = sqrt(K_ii K_jj) (K_ii = {4:.6g}, K_jj = {5:.6g})", p.row,
        p.col, std::abs(p.entry), std::sqrt(std::max(0.0, p.row_diagonal)) * std::sqrt(std::max(0.0, p.col_diagonal)), p.row_diagonal,
        p.col_diagonal));
  }
}

void say_rank(const GramCheck& c, std::vector<std::string>& lines) {
  if (c.nonsingular) {
    lines.push_back(fmt::format("nonsingular, condition number {:.3g}", c.condition));
    return;
  }
  std::string line = fmt::format("singular to rounding: numerical rank {} of {}", c.rank, c.size);
  if (const std::size_t count = c.duplicates.size(); count > 0) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < std::min(shown, count); ++i)
      words.push_back(fmt::format("row {} equals row {}", c.duplicates[i].first, c.duplicates[i].second));
    const bool all = c.rank == c.size - static_cast<Index>(count);
    line += fmt::format(", {} duplicates: {}{}", all ? "because of" : "in part because of", fmt::join(words, ", "), more_than(count));
  }
  lines.push_back(line);
}

void say_use(const GramCheck& c, std::vector<std::string>& lines) {
  if (c.effective_dimension)
    lines.push_back(fmt::format("effective dimension tr K(K + alpha I)^-1 at alpha = {:.6g}: {:.6g}", *c.alpha, *c.effective_dimension));
  if (c.alpha && !c.effective_dimension)
    lines.emplace_back("effective dimension: not defined, for the matrix is not positive semi-definite");
  if (!c.has_target) return;
  const auto number = [](const std::optional<double>& a) { return a ? fmt::format("{:.4g}", *a) : std::string("not defined (0/0)"); };
  lines.push_back(fmt::format("target alignment <K, yy'>/(|K||y|^2): {}; centred, of HKH with Hy: {}", number(c.alignment),
                              number(c.centred_alignment)));
}

std::string joined(const std::string& sentence, const std::vector<std::string>& lines) {
  return lines.empty() ? sentence : fmt::format("{}\n  {}", sentence, fmt::join(lines, "\n  "));
}

std::vector<std::string> evidence(const GramCheck& c) {
  std::vector<std::string> lines;
  // + 0.0 turns -0 into 0.
  lines.push_back(fmt::format("eigenvalues{} from {:.6g} to {:.6g}; rounding alone explains {:.1g}",
                              c.symmetric ? "" : " of the symmetric part (K + K')/2", c.smallest_eigenvalue + 0.0,
                              c.largest_eigenvalue + 0.0, c.tolerance));
  if (!c.symmetric && !c.psd) lines.push_back(fmt::format("v'Kv = {:.6g} < 0 for a unit vector v", c.violation));
  say_diagonal(c, lines);
  say_rank(c, lines);
  say_use(c, lines);
  return lines;
}

}  // namespace

std::string GramCheck::verdict() const { return joined(first_sentence(*this), evidence(*this)); }

std::string KernelCheck::verdict() const {
  std::vector<std::string> lines = evidence(gram);
  // Kernel values are good to rounding of their own size: k(x, x) < 0 is no accident, however large other entries are.
  const bool shown_not = !gram.is_gram() || !gram.negative_diagonal.empty();
  std::string claim;
  if (claims_psd) {
    claim =
        agrees()
            ? "is positive semi-definite for every sample, and the data agree"
            : "is claimed to be positive semi-definite for every sample, but the data disagree: the claim of a function of your own does "
              "not hold, or values are near overflow";
  } else {
    claim = shown_not ? "is not known to be positive semi-definite, and on these samples it is not"
                      : "is not known to be positive semi-definite; on these samples it happens to be";
  }
  lines.insert(lines.begin(), fmt::format("{} {}", kernel, claim));
  return joined(first_sentence(gram), lines);
}

std::string GramRepair::sentence() const {
  if (changed == 0)
    return frobenius_distance == 0
               ? "nothing to repair: the matrix is positive semi-definite"
               : fmt::format("made symmetric, moved by {:.6g} in Frobenius norm; it is positive semi-definite", frobenius_distance);
  const std::string what = method == Repair::clip   ? negatives(changed) + " set to 0"
                           : method == Repair::flip ? "the sign of " + negatives(changed) + " changed"
                                                    : fmt::format("{:.6g} added to the diagonal", shift);
  return fmt::format("repaired: {}; moved by {:.6g} in Frobenius norm, {:.6g} in spectral norm", what, frobenius_distance,
                     spectral_distance);
}

}  // namespace mercer
