// Every experiment of the gallery, quick and on built-in data: each claim holds, and the report has what a page needs.
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/gallery.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

namespace mercer::gallery {
namespace {

class Gallery : public ::testing::TestWithParam<Entry> {};

TEST_P(Gallery, ComesOut) {
  const Entry& entry = GetParam();
  const Experiment e = entry.make({});
  EXPECT_EQ(e.id, entry.id);
  EXPECT_EQ(e.title, entry.title);
  EXPECT_FALSE(e.claims.empty());
  for (const Claim& claim : e.claims) {
    EXPECT_TRUE(claim.held) << claim.text;
    EXPECT_FALSE(claim.text.empty());
  }
  for (const std::string* text : {&e.source, &e.equation, &e.data, &e.see}) EXPECT_FALSE(text->empty());
  EXPECT_FALSE(e.figures.empty());
  for (const Figure& figure : e.figures) {
    EXPECT_FALSE(figure.title.empty());
    EXPECT_FALSE(figure.description.empty()) << figure.title;
    EXPECT_NO_THROW(vega_lite(figure)) << figure.title;
  }
  EXPECT_FALSE(e.numbers.empty());
  std::set<std::string> names;
  for (const auto& [name, value] : e.numbers) {
    EXPECT_TRUE(std::isfinite(value)) << name;
    EXPECT_TRUE(names.insert(name).second) << name << " twice";
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos) << name;
  }
  EXPECT_TRUE(e.program.starts_with("examples/gallery/e")) << e.program;
  EXPECT_NO_THROW(gallery_page({.experiments = {e}, .command = "", .setting = ""}));
}

INSTANTIATE_TEST_SUITE_P(Experiments, Gallery, ::testing::ValuesIn(experiments()),
                         [](const ::testing::TestParamInfo<Entry>& tested) { return tested.param.id; });

TEST(GalleryList, HasAllInOrder) {
  ASSERT_EQ(experiments().size(), 14U);
  for (std::size_t i = 0; i < 14; ++i) EXPECT_EQ(experiments()[i].id, "E" + std::to_string(i + 1));
}

TEST(GalleryData, IsWhatTheFolderHas) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "mercer_gallery_data";
  std::filesystem::create_directories(folder / "eeg");
  std::ofstream(folder / "eeg" / "eeg.csv") << "a\n1\n";
  const Setting setting{.data = folder.string()};
  EXPECT_EQ(data_file(setting, "eeg/eeg.csv"), (folder / "eeg/eeg.csv").string());
  EXPECT_FALSE(data_file(setting, "eeg/other.csv"));
  EXPECT_FALSE(data_file(setting, "eeg"));  // a folder is no file
  EXPECT_FALSE(data_file({}, "eeg/eeg.csv"));
  EXPECT_FALSE(data_file({.data = (folder / "none").string()}, "eeg/eeg.csv"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mercer::gallery
