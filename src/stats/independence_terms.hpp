// dHSIC without what cancels in it.
//
// Problem: dHSIC is the mean over i, j of prod_l K_l(i, j) - prod_l m_l(i) - prod_l m_l(j) + prod_l M_l, with m the row means of a Gram
// matrix and M their mean. Where entries differ by little beside their size (rows far from 0, wide kernels) these products are large and
// nearly cancel.
//
// Method: every factor is M + a_i + a_j + c_ij, with a = m - M and c = HKH; rows of c and the vector a add up to 0. Of the product
// multiplied out, terms in which just one factor depends on j (by a_j or c_ij) add up to 0 over j, and so over i; terms in which none
// depends on j, or none on i, are those that dHSIC subtracts. What is left has at least two factors that depend on i and at least two that
// depend on j, and is found by taking one factor after the other into sums kept apart by how many factors (0, 1, 2 or more) of the terms
// depend on i and on j. Cost: some 25 operations for a pair and a factor, all of them on neighbours in memory.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/matrix.hpp"

namespace mercer::stats {

// Sums of the terms of a product of factors that do not depend on j: of none (the product of M), one, and two or more factors a_i.
template <class T>
struct RowTerms {
  T none = 1;
  T one = 0;
  T more = 0;

  void take(T mean, T a) {
    more = more * (mean + a) + one * a;
    one = one * mean + none * a;
    none *= mean;
  }
};

// The terms of pairs (i, j .. j + count - 1): sums with p factors that depend on i and q that depend on j in s<p><q>, 2 meaning two or
// more. What comes next is the factor of mean M with its a_i, its a_j in a[] and its c_ij in c[]; `row` has the terms of row i alone before
// this factor, `ones` and `mores` those of the rows j.
template <class T>
void take_factor(Index count, T mean, T a_i, const T* __restrict a, const T* __restrict c, const RowTerms<T>& row, const T* __restrict ones,
                 const T* __restrict mores, T* __restrict s11, T* __restrict s12, T* __restrict s21, T* __restrict s22) {
  const T none = row.none;
  const T one = row.one;
  const T more = row.more;
  for (Index j = 0; j < count; ++j) {
    const T with_i = a_i + c[j];
    const T with_j = a[j] + c[j];
    s22[j] = s22[j] * (mean + a_i + with_j) + s12[j] * with_i + s21[j] * with_j + s11[j] * c[j];
    s21[j] = s21[j] * (mean + a_i) + s11[j] * a_i + more * with_j + one * c[j];
    s12[j] = s12[j] * (mean + a[j]) + s11[j] * a[j] + mores[j] * with_i + ones[j] * c[j];
    s11[j] = s11[j] * mean + one * a[j] + ones[j] * a_i + none * c[j];
  }
}

// The second factor: of one factor there is s11 alone, which is c.
template <class T>
void take_second_factor(Index count, T mean, T a_i, const T* __restrict a, const T* __restrict c, const RowTerms<T>& row,
                        const T* __restrict ones, T* __restrict s11, T* __restrict s12, T* __restrict s21, T* __restrict s22) {
  const T none = row.none;
  const T one = row.one;
  for (Index j = 0; j < count; ++j) {
    s22[j] = s11[j] * c[j];
    s21[j] = s11[j] * a_i + one * c[j];
    s12[j] = s11[j] * a[j] + ones[j] * c[j];
    s11[j] = s11[j] * mean + one * a[j] + ones[j] * a_i + none * c[j];
  }
}

// The same of the last factor, after which only s22 is wanted; it takes the place of s22.
template <class T>
void take_last_factor(Index count, T mean, T a_i, const T* a, const T* c, const T* s11, const T* s12, const T* s21, T* __restrict s22) {
  for (Index j = 0; j < count; ++j) {
    s22[j] = s22[j] * (mean + a_i + a[j] + c[j]) + s12[j] * (a_i + c[j]) + s21[j] * (a[j] + c[j]) + s11[j] * c[j];
  }
}

}  // namespace mercer::stats
