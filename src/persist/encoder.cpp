// The encoder in a model file: names and labels as JSON text, the scaler's numbers as tensors (a sparse set has millions of columns).
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "mercer/error.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

template <class E>
struct Word {
  E value;
  std::string_view word;
};

constexpr std::array<Word<Task>, 3> tasks{
    {{Task::automatic, "automatic"}, {Task::regression, "regression"}, {Task::classification, "classification"}}};
constexpr std::array<Word<ScalingKind>, 3> scalings{
    {{ScalingKind::none, "none"}, {ScalingKind::standard, "standard"}, {ScalingKind::min_max, "min-max"}}};

constexpr std::array<Word<ObjectKind>, 3> object_kinds{
    {{ObjectKind::string, "string"}, {ObjectKind::set, "set"}, {ObjectKind::graph, "graph"}}};

template <class E, std::size_t N>
std::string word_of(const std::array<Word<E>, N>& words, E value) {
  for (const Word<E>& w : words) {
    if (w.value == value) return std::string(w.word);
  }
  throw InvalidArgument("a setting of the encoder has no name");
}

template <class E, std::size_t N>
E value_of(const std::array<Word<E>, N>& words, const Json& word) {
  for (const Word<E>& w : words) {
    if (word.get<std::string>() == w.word) return w.value;
  }
  throw InvalidArgument(fmt::format("{:?} in the encoder is not known", word.get<std::string>()));
}

Json texts_to_json(const std::vector<std::string>& texts) {
  Json out = Json::array();
  for (const std::string& text : texts) out.push_back(text_to_json(text));
  return out;
}

std::vector<std::string> texts_from_json(const Json& values) {
  if (!values.is_array()) throw InvalidArgument("a list of names in the encoder is not a list");
  std::vector<std::string> out;
  for (const Json& value : values) out.push_back(text_from_json(value));
  return out;
}

Scaler read_scaler(const ContainerReader& in, const Json& kind, Index width) {
  Scaler scaler{value_of(scalings, kind), {}, {}};
  if (in.has_tensor("scaler.scale")) {
    scaler.shift = in.vector("scaler.shift");
    scaler.scale = in.vector("scaler.scale");
    if (scaler.scale.size() != width || scaler.shift.size() != width) in.fail(fmt::format("its scaler is not for {} columns", width));
    if ((scaler.scale.array() <= 0).any()) in.fail("its scaler has a scale that is not > 0");
  } else if (scaler.kind != ScalingKind::none) {
    in.fail("has no tensor scaler.scale");
  }
  return scaler;
}

// Positions are used as indices later on, where a table has as many columns as `table_columns` says.
bool is_position(Index position, const Encoder& encoder) {
  return position >= -1 && (encoder.table_columns == 0 || position < encoder.table_columns);
}

void check_columns(const ContainerReader& in, const Encoder& encoder) {
  Index columns = 0;
  bool placed = encoder.table_columns >= 0 && is_position(encoder.target_position, encoder);
  for (const FeatureColumn& feature : encoder.features) {
    placed = placed && is_position(feature.position, encoder) && (feature.position < 0 || feature.position != encoder.target_position);
    columns += feature.categories.empty() ? 1 : static_cast<Index>(feature.categories.size());
    if (feature.object && (encoder.sparse || !feature.categories.empty()))
      in.fail("its encoder has a feature that is both an object and numbers");
    if (!std::isfinite(feature.fill)) in.fail("its encoder fills missing values with a number that is not finite");
  }
  if (encoder.width < 0 || (!encoder.sparse && columns != encoder.width)) {
    in.fail(fmt::format("its encoder makes {} columns of its features, but claims {}", columns, encoder.width));
  }
  if (!placed) in.fail("its encoder names a column that its table does not have");
}

}  // namespace

void write_encoder(const Encoder& encoder, ContainerWriter& out) {
  Json features = Json::array();
  for (const FeatureColumn& feature : encoder.features) {
    Json about = {{"name", text_to_json(feature.name)}};
    if (!feature.categories.empty()) about["categories"] = texts_to_json(feature.categories);
    about["fill"] = number_to_json(feature.fill);
    about["position"] = feature.position;
    if (feature.object) about["object"] = word_of(object_kinds, *feature.object);
    features.push_back(std::move(about));
  }
  out.json("encoder", {{"features", std::move(features)},
                       {"fills_missing", encoder.fills_missing},
                       {"sparse", encoder.sparse},
                       {"width", encoder.width},
                       {"target", text_to_json(encoder.target)},
                       {"task", word_of(tasks, encoder.task)},
                       {"classes", texts_to_json(encoder.classes)},
                       {"positive", text_to_json(encoder.positive)},
                       {"scaling", word_of(scalings, encoder.scaler.kind)},
                       {"named", encoder.named},
                       {"table_columns", encoder.table_columns},
                       {"target_position", encoder.target_position}});
  if (encoder.scaler.scale.size() > 0) {
    out.tensor("scaler.shift", {encoder.scaler.shift.size()}, encoder.scaler.shift.data());
    out.tensor("scaler.scale", {encoder.scaler.scale.size()}, encoder.scaler.scale.data());
  }
}

Encoder read_encoder(const ContainerReader& in) {
  const Json about = in.json("encoder");
  Encoder encoder;
  for (const Json& value : about.at("features")) {
    FeatureColumn feature;
    feature.name = text_from_json(value.at("name"));
    if (value.contains("categories")) feature.categories = texts_from_json(value.at("categories"));
    feature.fill = number_from_json(value.at("fill"));
    feature.position = value.at("position").get<Index>();
    if (value.contains("object")) feature.object = value_of(object_kinds, value.at("object"));
    encoder.features.push_back(std::move(feature));
  }
  encoder.fills_missing = about.at("fills_missing").get<bool>();
  encoder.sparse = about.at("sparse").get<bool>();
  encoder.width = about.at("width").get<Index>();
  encoder.target = text_from_json(about.at("target"));
  encoder.task = value_of(tasks, about.at("task"));
  encoder.classes = texts_from_json(about.at("classes"));
  if (about.contains("positive")) encoder.positive = text_from_json(about.at("positive"));  // files of 0.1 have none
  encoder.named = about.at("named").get<bool>();
  encoder.table_columns = about.at("table_columns").get<Index>();
  encoder.target_position = about.at("target_position").get<Index>();
  check_columns(in, encoder);
  const auto objects = std::count_if(encoder.features.begin(), encoder.features.end(), [](const FeatureColumn& f) { return f.object; });
  encoder.scaler = read_scaler(in, about.at("scaling"), encoder.width - objects);  // of the numbers alone
  return encoder;
}

}  // namespace mercer::persist
