// From a table to what a model learns from: which column is the target, which are features, how text becomes numbers, how
// columns are scaled. The Encoder that learned this travels with the model, so new data meets the same treatment.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mercer/objects.hpp"
#include "mercer/samples.hpp"
#include "mercer/scaling.hpp"
#include "mercer/table.hpp"

namespace mercer {

enum class Task : std::uint8_t { automatic, regression, classification };
enum class Impute : std::uint8_t { reject, mean, median };

struct EncodeOptions {
  std::string target{};             // empty: a column named y, label, target or class, else the last one
  bool no_target = false;           // every column is a feature; y stays empty
  std::vector<std::string> drop{};  // columns to leave out
  Task task = Task::automatic;      // classification if the target is text, or whole numbers with at most 20 distinct values
  Impute impute = Impute::reject;   // missing features; a missing target is always an error
  bool one_hot = false;             // turn text columns into 0/1 columns, one per category; otherwise a text column is an error
  // Text columns that stay strings, for a kernel of strings to look at; "*" is every text column that is left. Columns of sets and graphs
  // always stay what they are.
  std::vector<std::string> keep_text{};
  ScalingKind scaling = ScalingKind::none;
  std::string positive{};  // a label: the classes are this one and all the others together ("not X"), in the order "not X", "X"
};

// How one column of a table becomes feature columns.
struct FeatureColumn {
  std::string name{};
  std::vector<std::string> categories{};  // text: one 0/1 column each; empty: a number
  double fill = 0;                        // what a missing number becomes (Impute::mean, median); missing text: no category
  Index position = -1;                    // its column in the table it was learned from, counted from 0; -1: not known
  std::optional<ObjectKind> object{};     // strings, sets or graphs, as they are
};

// What was learned about a table's columns; applying it to new data checks names and gives the same feature columns.
struct Encoder {
  std::vector<FeatureColumn> features{};  // in the order of the columns of what features_of makes: records, where some are objects
  bool fills_missing = false;
  bool sparse = false;   // LIBSVM rows: columns by number, not by name
  Index width = 0;       // number of feature columns produced
  std::string target{};  // name of the target column
  Task task = Task::regression;
  std::vector<std::string> classes{};  // classification: labels as written, in order (numbers ascending, text alphabetical)
  std::string positive{};              // not empty: the label of class 1, every other label is class 0
  Scaler scaler;
  bool named = true;           // the table it was learned from had a header; if not, columns go by position
  Index table_columns = 0;     // number of columns of that table, 0: not known
  Index target_position = -1;  // of the target in it, counted from 0; -1: not known

  // One per feature column; "color=red" for a category.
  std::vector<std::string> feature_names() const;
  // One per feature column: the column of the table it was made of, the same for all its categories. Empty for LIBSVM rows.
  std::vector<std::string> column_names() const;

  // Features of new data, scaled: columns found by name in any order, extra columns ignored, missing ones named in the error. Without a
  // header (here or in the table learned from) columns go by position: all columns of that table, or all but the target, or just the
  // features. A category that was not seen in learning becomes zeros.
  Samples features_of(const Table& table) const;
  // A sentence for every text column of new data with categories that were not seen in learning: which, and in how many rows.
  std::vector<std::string> unseen_categories(const Table& table) const;
  // The target of new data if the table has it: numbers, or class indices 0..; an unknown label is an error naming it.
  std::optional<Vector> target_of(const Table& table) const;
};

struct Dataset {
  Samples X;   // scaled if asked
  Vector y{};  // numbers, or class indices 0, 1, ...
  Encoder encoder;
  std::vector<std::string> notes{};  // sentences a person should see: which column is the target, what was dropped and why
};

// Columns that identify rows (text, all distinct) are dropped with a note.
Dataset make_dataset(const Table& table, const EncodeOptions& options = {});

}  // namespace mercer
