// Damaged and forged model files: always a FileError that names the file, never a crash or a huge allocation.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <limits>

#include "unit/persist/models.hpp"

namespace mercer {
namespace {

using namespace mercer::testing;

std::string forged_error(const SavedModel& model, const std::function<void(Parts&)>& change) {
  Parts parts = take_apart(model_to_bytes(model));
  change(parts);
  return load_error(forge(std::move(parts)));
}

bool says(const std::string& message, std::string_view words) {
  return message.starts_with("m.mercer: ") && message.find(words) != std::string::npos;
}

#define EXPECT_SAYS(message, words)                      \
  do {                                                   \
    const std::string got = message;                     \
    EXPECT_TRUE(says(got, words)) << "message: " << got; \
  } while (false)

// One tensor's numbers, changed in place.
template <class T>
void set_number(Parts& parts, const std::string& tensor, std::size_t i, T value) {
  const auto begin = parts.header[tensor]["data_offsets"][0].get<std::size_t>();
  std::memcpy(parts.data.data() + begin + i * sizeof(T), &value, sizeof(T));
}

void change_json(Parts& parts, const std::string& key, const std::function<void(Json&)>& change) {
  Json value = Json::parse(parts.header["__metadata__"][key].get<std::string>());
  change(value);
  parts.header["__metadata__"][key] = value.dump();
}

TEST(HostileModelFile, EveryChangedByteIsNoticed) {
  const std::string bytes = model_to_bytes(small_model());
  ASSERT_EQ(load_error(bytes), "");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    for (const int flip : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      damaged[i] = static_cast<char>(bytes[i] ^ flip);
      EXPECT_TRUE(says(load_error(damaged), "")) << "byte " << i << " xor " << flip;
    }
  }
}

TEST(HostileModelFile, EveryTruncationIsNoticed) {
  const std::string bytes = model_to_bytes(small_model());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_TRUE(says(load_error(std::string_view(bytes).substr(0, n)), "")) << n << " bytes";
  }
  EXPECT_SAYS(load_error(bytes.substr(0, bytes.size() - 8)), "cut short or damaged");
  EXPECT_SAYS(load_error(""), "only 0 bytes");
}

TEST(HostileModelFile, TrailingBytesAreNoticed) {
  EXPECT_SAYS(load_error(model_to_bytes(small_model()) + "x"), "1 bytes after its last tensor");
  EXPECT_SAYS(forged_error(small_model(), [](Parts& p) { p.data += "12345678"; }), "8 bytes after its last tensor");
}

TEST(HostileModelFile, OversizedHeaderIsRefusedBeforeItIsRead) {
  std::string bytes = model_to_bytes(small_model());
  for (const std::uint64_t length : {std::uint64_t{100'000'001}, std::numeric_limits<std::uint64_t>::max()}) {
    std::memcpy(bytes.data(), &length, 8);
    EXPECT_SAYS(load_error(bytes), "at most 100000000 are allowed");
  }
  const std::uint64_t length = 99'999'999;
  std::memcpy(bytes.data(), &length, 8);
  EXPECT_SAYS(load_error(bytes), "is cut short");
}

TEST(HostileModelFile, DeepNestingIsRefused) {
  std::string bytes(8, '\0');
  const std::string header = "{\"__metadata__\":" + std::string(100000, '[');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  EXPECT_SAYS(load_error(bytes + header), "cannot be understood");
  EXPECT_SAYS(forged_error(small_model(), [](Parts& p) { p.header["__metadata__"]["encoder"] = std::string(100000, '['); }), "nested");
}

TEST(HostileModelFile, DeepNestingInUnknownMetadataIsShownAsText) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  Parts parts = take_apart(model_to_bytes(small_model()));
  parts.header["__metadata__"]["note"] = deep;
  const std::string path = ::testing::TempDir() + "mercer_deep_note.mercer";
  std::ofstream(path, std::ios::binary) << forge(std::move(parts));
  const std::string shown = model_info(path);
  std::remove(path.c_str());
  EXPECT_NE(shown.find("{\\\"a\\\":{\\\"a\\\":"), std::string::npos);
}

TEST(HostileModelFile, OtherFilesAreNamedAsSuch) {
  EXPECT_SAYS(load_error("x1,x2,y\n1,2,3\n4,5,6\n"), "is not a model file");
  Parts foreign{{{"__metadata__", {{"format", "pt"}}}}, ""};
  EXPECT_SAYS(load_error(forge(foreign)), "not a model that Mercer saved");
}

TEST(HostileModelFile, VersionsAreChecked) {
  const auto with_version = [](const char* text) {
    return forged_error(small_model(), [&](Parts& p) { p.header["__metadata__"]["format_version"] = text; });
  };
  EXPECT_SAYS(with_version("2"), "has format version 2; this Mercer (0.1.0) reads versions up to 1: install a newer Mercer");
  EXPECT_SAYS(with_version("99999"), "install a newer Mercer");
  for (const char* bad : {"0", "-1", "", "one", "1.5", "99999999999999999999"}) EXPECT_SAYS(with_version(bad), "format_version");
  EXPECT_SAYS(
      forged_error(small_model(), [](Parts& p) { p.header["__metadata__"]["kind"] = "forest"; }),
      "holds a model of kind \"forest\"; this Mercer knows krr, ridge, gp, logistic, representer, falkon, rff, svc, svr, one-class, "
      "linear-svc, sgd-svm, mean, pca, kernel-pca");
}

TEST(HostileModelFile, ExtraMetadataIsAllowed) {
  EXPECT_EQ(forged_error(small_model(), [](Parts& p) { p.header["__metadata__"]["note"] = "made on a Monday"; }), "");
}

TEST(HostileModelFile, ChecksumMustBeThereOnce) {
  std::string bytes = model_to_bytes(small_model());
  bytes.replace(bytes.find("\"checksum\""), 10, "\"chucksum\"");
  EXPECT_SAYS(load_error(bytes), "has no checksum");
  std::string upper = model_to_bytes(small_model());
  const std::size_t at = upper.find("crc32:") + 6;
  for (std::size_t i = at; i < at + 8; ++i) upper[i] = static_cast<char>(std::toupper(upper[i]));
  if (upper != model_to_bytes(small_model())) EXPECT_SAYS(load_error(upper), "checksum");
}

TEST(HostileModelFile, TensorLayoutIsChecked) {
  const auto with = [](const char* key, const Json& value) {
    return forged_error(small_model(), [&](Parts& p) { p.header["dual_coef"][key] = value; });
  };
  EXPECT_SAYS(with("dtype", "BF16"), "has type \"BF16\"");
  EXPECT_SAYS(with("dtype", "F32"), "bytes by its shape");
  EXPECT_SAYS(with("dtype", 5), "cannot be understood");
  EXPECT_SAYS(with("shape", {4, 1}), "bytes by its shape");
  EXPECT_SAYS(with("shape", {-3, 1}), "whole numbers");
  EXPECT_SAYS(with("shape", {1.5, 2}), "whole numbers");
  EXPECT_SAYS(with("shape", {std::uint64_t{1} << 62, 4}), "more numbers than memory");
  EXPECT_SAYS(with("shape", {std::numeric_limits<std::uint64_t>::max(), 1}), "more numbers than memory");
  EXPECT_SAYS(with("shape", "many"), "whole numbers");
  EXPECT_SAYS(with("data_offsets", {0, std::uint64_t{1} << 60}), "cut short or damaged");
  EXPECT_SAYS(with("data_offsets", {24, 0}), "cut short or damaged");
  EXPECT_SAYS(with("data_offsets", {0}), "two whole numbers");
  EXPECT_SAYS(with("data_offsets", {-8, 16}), "two whole numbers");
  EXPECT_SAYS(with("data_offsets", {0, 24}), "overlap");
  EXPECT_SAYS(forged_error(small_model(), [](Parts& p) { p.header.erase("dual_coef"); }), "leave a hole");
  EXPECT_SAYS(forged_error(small_model(), [](Parts& p) { p.header["dual_coef"]["shape"] = {3}; }), "two dimensions");
  EXPECT_SAYS(forged_error(small_model(), [](Parts& p) { p.header["dual_coef"]["shape"] = {1, 3}; }), "cannot have 1 x 3");
  EXPECT_SAYS(forged_error(small_model(),
                           [](Parts& p) {
                             p.header["other"] = p.header["samples"];
                             p.header.erase("samples");
                           }),
              "has no tensor samples");
}

TEST(HostileModelFile, MisalignedTensorsAreRefused) {
  EXPECT_SAYS(forged_error(small_model(),
                           [](Parts& p) {
                             for (auto& [name, value] : p.header.items()) {
                               if (name == "__metadata__") continue;
                               for (Json& offset : value["data_offsets"]) offset = offset.get<std::size_t>() + 4;
                             }
                             p.data.insert(0, 4, '\0');
                             p.header["pad"] = {{"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {0, 4}}};
                           }),
              "is not aligned");
}

TEST(HostileModelFile, SparseRowsAreChecked) {
  const SavedModel model = krr_model(Samples(sparse_numbers()));
  const auto with = [&](const char* tensor, std::size_t i, auto value) {
    return forged_error(model, [&](Parts& p) { set_number(p, tensor, i, value); });
  };
  EXPECT_EQ(with("samples.columns", 0, std::int32_t{3}), "");
  EXPECT_SAYS(with("samples.columns", 0, std::int32_t{-1}), "columns of sparse row 0");
  EXPECT_SAYS(with("samples.columns", 1, std::int32_t{9}), "ascending numbers below 9");
  EXPECT_SAYS(with("samples.columns", 1, std::int32_t{2}), "columns of sparse row 0");
  EXPECT_SAYS(with("samples.columns", 3, std::int32_t{1 << 30}), "columns of sparse row 3");
  EXPECT_SAYS(with("samples.offsets", 0, std::int64_t{1}), "offsets of its sparse rows");
  EXPECT_SAYS(with("samples.offsets", 1, std::int64_t{4000}), "offsets of its sparse rows");
  EXPECT_SAYS(with("samples.offsets", 1, std::int64_t{-4}), "offsets of its sparse rows");
  EXPECT_SAYS(with("samples.offsets", 4, std::int64_t{3}), "offsets of its sparse rows");
  EXPECT_SAYS(with("samples.values", 2, std::numeric_limits<double>::quiet_NaN()), "NaN in row 2, column 0");
  const auto about = [&](const char* key, const Json& value) {
    return forged_error(model, [&](Parts& p) { change_json(p, "samples", [&](Json& j) { j[key] = value; }); });
  };
  EXPECT_SAYS(about("rows", 5), "do not fit together");
  EXPECT_SAYS(about("rows", -1), "out of range");
  EXPECT_SAYS(about("width", 8), "ascending numbers below 8");
  EXPECT_SAYS(about("width", std::int64_t{1} << 40), "too wide");
  EXPECT_SAYS(about("layout", "ragged"), "layout \"ragged\"");
  EXPECT_SAYS(about("layout", "dense"), "has no tensor samples");
}

TEST(HostileModelFile, NumbersMustBeUsable) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto with = [&](const char* tensor, double value) {
    return forged_error(small_model(), [&](Parts& p) { set_number(p, tensor, 0, value); });
  };
  EXPECT_SAYS(with("dual_coef", nan), "dual_coef has a value that is not finite");
  EXPECT_SAYS(with("intercept", -std::numeric_limits<double>::infinity()), "intercept has a value that is not finite");
  EXPECT_SAYS(with("samples", nan), "NaN in row 0, column 0");
  EXPECT_SAYS(with("alpha", -1), "alpha is negative");
  EXPECT_SAYS(with("scaler.scale", 0), "not > 0");
  EXPECT_SAYS(with("scaler.shift", nan), "not finite");
}

TEST(HostileModelFile, MetadataIsChecked) {
  const auto text = [](const char* key, const Json& value) {
    return forged_error(small_model(), [&](Parts& p) { p.header["__metadata__"][key] = value; });
  };
  EXPECT_SAYS(text("kernel", "gausian(2)"), "gaussian");
  EXPECT_SAYS(text("kernel", "gaussian(auto)"), "without a number");
  EXPECT_SAYS(text("options", "{"), "options in its header is not a JSON object");
  EXPECT_SAYS(text("options", "{\"precision\":\"float16\"}"), "float16");
  EXPECT_SAYS(text("options", "{}"), "missing or has the wrong type");
  EXPECT_SAYS(text("encoder", "[]"), "encoder in its header is not a JSON object");
  EXPECT_SAYS(text("summary", 3), "cannot be understood");
  const auto encoder = [](const char* key, const Json& value) {
    return forged_error(small_model(), [&](Parts& p) { change_json(p, "encoder", [&](Json& j) { j[key] = value; }); });
  };
  EXPECT_SAYS(encoder("width", 5), "makes 4 columns");
  EXPECT_SAYS(encoder("task", "guess"), "\"guess\"");
  EXPECT_SAYS(encoder("classes", {"a", "b", "c"}), "3 class labels do not fit 1 column");
  EXPECT_SAYS(encoder("classes", "ab"), "not a list");
  EXPECT_SAYS(encoder("features", 7), "wrong type");
  EXPECT_SAYS(encoder("target_position", 5), "column that its table does not have");
  EXPECT_SAYS(encoder("target_position", -2), "column that its table does not have");
  EXPECT_SAYS(encoder("table_columns", 3), "column that its table does not have");
  EXPECT_SAYS(encoder("table_columns", -1), "column that its table does not have");
  EXPECT_SAYS(encoder("scaling", Json()), "wrong type");
  EXPECT_SAYS(forged_error(small_model(), [](Parts& p) { p.header["__metadata__"].erase("kernel"); }), "lacks kernel");
}

}  // namespace
}  // namespace mercer
