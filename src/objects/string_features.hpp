// Kernels of strings, without normalisation. Letters are code points (letters.hpp); a string too short to have a feature has none, and its
// value with every other is 0.
//
// Explicit features, so that a Gram matrix is a sparse product:
//   spectrum         Leslie, Eskin & Noble 2002: how often each k-letter substring occurs.
//   mismatch         Leslie, Eskin, Cohen, Weston & Noble 2004: k-letter substrings up to m letters.
//   gappy            Leslie & Kuang 2004: k-letter subsequences of windows of k + gaps letters.
//   weighted_degree  Raetsch & Sonnenburg 2004: substrings of 1 ... degree letters at the same position.
// Pair by pair:
//   subsequence      Lodhi, Saunders, Shawe-Taylor, Cristianini & Watkins 2002: all k-letter subsequences, less for every letter they span.
//   edit_distance    Levenshtein 1966: letters to insert, delete or change.
// All are exact: features are compared whole, never by a hash. Wrong parameters throw InvalidArgument.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "objects/features.hpp"

namespace mercer::objects {

// Linear in the letters; O(letters log k) where k letters of the alphabet do not fit 64 bits. k >= 1.
Features spectrum(const BothStrings& both, int k);

// sum_{d=1}^{D} beta_d sum_l [x[l, l + d) = y[l, l + d)], beta_d = 2 (D - d + 1) / (D (D + 1)), over the positions that both strings have.
// degree * length features a string. degree >= 1.
Features weighted_degree(const BothStrings& both, int degree);

// phi_b(x) = the number of k-letter substrings of x that differ from b in at most m places, b over all k-letter strings of an alphabet of
// `alphabet` letters: a function of the two strings, k, m and that size, whatever else is in the data. Throws where the strings have more
// different letters. sum_{j <= min(2m, k)} C(k, j) features for every substring, whatever the alphabet. 0 <= m < k, alphabet >= 2.
Features mismatch(const BothStrings& both, int k, int m, Index alphabet);

// phi_b(x) = the number of windows of k + gaps letters of x that have b, k letters, as a subsequence (once or more). Whole windows only: a
// string shorter than k + gaps has no features. At most C(k + gaps, k) features a window. k >= 1, gaps >= 0.
Features gappy(const BothStrings& both, int k, int gaps);

// sum over all pairs of equal k-letter subsequences of x and y of decay^(letters spanned in x + letters spanned in y). O(k |x| |y|) a pair.
// k >= 1, 0 < decay <= 1. Terms below 1e-250 of an unbroken one count as 0; a value beyond the largest number throws InvalidArgument.
std::unique_ptr<PairValues> subsequence(const BothStrings& both, int k, double decay);

// Values are distances; those of a string to itself are 0. O(|x| |y| / 64) a pair.
std::unique_ptr<PairValues> edit_distance(const BothStrings& both);

}  // namespace mercer::objects
