// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/row_cache.hpp"

#include <algorithm>

namespace mercer {

template <class T>
RowCache<T>::RowCache(const RowSource<T>& source, std::size_t bytes, Index least)
    : source_(source),
      stride_((source.size() + 15) / 16 * 16),
      capacity_(std::clamp<Index>(static_cast<Index>(bytes / (static_cast<std::size_t>(stride_) * sizeof(T))),
                                  std::min(least, source.size()), source.size())),
      chunk_rows_(std::clamp<Index>((Index{32} << 20) / (stride_ * static_cast<Index>(sizeof(T))), 1, std::max<Index>(1, capacity_))),
      place_(static_cast<std::size_t>(source.size()), nullptr),
      last_use_(static_cast<std::size_t>(source.size()), -1) {}

template <class T>
T* RowCache<T>::take_place(Index for_row) {
  T* place = nullptr;
  if (used_ < capacity_) {
    if (used_ == std::ssize(chunks_) * chunk_rows_) chunks_.emplace_back(static_cast<std::size_t>(chunk_rows_ * stride_));
    place = chunks_.back().data() + used_ % chunk_rows_ * stride_;
    ++used_;
    here_.push_back(for_row);
  } else {
    const Index at = victims_.back();
    victims_.pop_back();
    Index& row = here_[static_cast<std::size_t>(at)];
    place = place_[static_cast<std::size_t>(row)];
    place_[static_cast<std::size_t>(row)] = nullptr;
    row = for_row;
  }
  return place_[static_cast<std::size_t>(for_row)] = place;
}

template <class T>
std::vector<const T*> RowCache<T>::rows(std::span<const Index> wanted) {
  std::vector<const T*> out;
  out.reserve(wanted.size());
  if (!wanted.empty() && source_.stored(wanted[0]) != nullptr) {
    for (const Index row : wanted) out.push_back(source_.stored(row));
    return out;
  }
  ++clock_;
  std::vector<Index> missing;
  for (const Index row : wanted) {
    last_use_[static_cast<std::size_t>(row)] = clock_;
    if (place_[static_cast<std::size_t>(row)] == nullptr) missing.push_back(row);
  }
  const Index evicted = std::max<Index>(0, used_ + std::ssize(missing) - capacity_);
  victims_.clear();
  if (evicted > 0) {
    for (Index at = 0; at < std::ssize(here_); ++at) victims_.push_back(at);
    const auto use = [&](Index at) { return last_use_[static_cast<std::size_t>(here_[static_cast<std::size_t>(at)])]; };
    const auto later = [&](Index a, Index b) { return use(a) != use(b) ? use(a) > use(b) : a > b; };
    std::sort(victims_.begin(), victims_.end(), later);
  }
  std::vector<T*> places;
  for (const Index row : missing) places.push_back(take_place(row));
  if (!missing.empty()) source_.rows(missing, places);
  computed_ += std::ssize(missing);
  for (const Index row : wanted) out.push_back(place_[static_cast<std::size_t>(row)]);
  return out;
}

template class RowCache<float>;
template class RowCache<double>;

}  // namespace mercer
