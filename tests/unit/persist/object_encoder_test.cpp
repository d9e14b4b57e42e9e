// The encoder of a model on records: which features are strings, sets or graphs, and the scaler of the numbers beside them.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "unit/persist/models.hpp"

namespace mercer {
namespace {

using namespace mercer::testing;

Table patients() { return read_table_from("seq,age,y\nACGT,1,0.5\nACCT,3,1.5\nGG,5,0.25\n", "t.csv", {}); }

SavedModel model_on_records() {
  const Dataset data = make_dataset(patients(), {.keep_text = {"seq"}, .scaling = ScalingKind::min_max});
  SavedModel model = krr_model(data.X, 1, "normalized(spectrum(2).on(0)) * gaussian(1).on(1)");
  model.encoder = data.encoder;
  return model;
}

std::string forged_error(const std::function<void(Json& encoder)>& change) {
  Parts parts = take_apart(model_to_bytes(model_on_records()));
  Json encoder = Json::parse(parts.header["__metadata__"]["encoder"].get<std::string>());
  change(encoder);
  parts.header["__metadata__"]["encoder"] = encoder.dump();
  return load_error(forge(std::move(parts)));
}

TEST(ObjectEncoder, Survives) {
  const SavedModel model = model_on_records();
  const SavedModel again = model_from_bytes(model_to_bytes(model));
  ASSERT_TRUE(again.encoder);
  ASSERT_EQ(again.encoder->features.size(), 2U);
  EXPECT_EQ(again.encoder->features[0].object, ObjectKind::string);
  EXPECT_FALSE(again.encoder->features[1].object);
  EXPECT_EQ(again.encoder->width, 2);
  EXPECT_EQ(again.encoder->scaler.scale, Vector::Constant(1, 4.0));
  const Table table = patients();
  EXPECT_EQ(again.predict(again.encoder->features_of(table)), model.predict(model.encoder->features_of(table)));
}

TEST(ObjectEncoder, EveryKindHasAWord) {
  for (const ObjectKind kind : {ObjectKind::string, ObjectKind::set, ObjectKind::graph}) {
    SavedModel model = model_on_records();
    model.encoder->features[0].object = kind;
    EXPECT_EQ(model_from_bytes(model_to_bytes(model)).encoder->features[0].object, kind);
  }
}

TEST(ObjectEncoder, HostileValuesAreRefused) {
  const auto says = [](const std::string& message, std::string_view words) {
    EXPECT_TRUE(message.starts_with("m.mercer: ") && message.find(words) != std::string::npos) << message;
  };
  EXPECT_EQ(forged_error([](Json&) {}), "");
  says(forged_error([](Json& e) { e["features"][0]["object"] = "tree"; }), "\"tree\" in the encoder is not known");
  says(forged_error([](Json& e) { e["features"][0]["object"] = 3; }), "");
  says(forged_error([](Json& e) { e["features"][0]["object"] = nullptr; }), "");
  says(forged_error([](Json& e) { e["features"][0]["categories"] = {"a"}; }), "both an object and numbers");
  says(forged_error([](Json& e) { e["features"][0].erase("object"); }), "its scaler is not for 2 columns");
  says(forged_error([](Json& e) { e["features"][1]["object"] = "set"; }), "its scaler is not for 0 columns");
}

}  // namespace
}  // namespace mercer
