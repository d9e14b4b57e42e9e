// Files as bytes: what can be opened, unpacked, and written whole.
// SPDX-License-Identifier: BSD-3-Clause
#include "data/bytes.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "io_support.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

using io_test::message_of;
using io_test::slurp;
using io_test::spill;
using io_test::TemporaryDirectory;

std::string pack(std::string_view bytes, Packing packing) {
  std::string out;
  const auto sink = packing_sink(packing, [&](std::string_view part) { out += part; });
  sink(bytes, false);
  sink({}, true);
  return out;
}

std::string unpacked(const std::string& packed, std::size_t memory = 1 << 30) {
  Run run;
  run.memory = memory;
  return std::string(unpack({packed, nullptr}, "f", run).view);
}

std::string random_text(std::size_t size) {
  RandomStream random(1, 0);
  std::string text;
  while (text.size() < size) text += std::to_string(random.below(1000000)) + "\n";
  return text;
}

TEST(Bytes, PackingRoundTrip) {
  for (const Packing packing : {Packing::gzip, Packing::xz}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{1} << 18}) {
      const std::string text = size == 0 ? "" : random_text(size);
      const std::string packed = pack(text, packing);
      EXPECT_EQ(unpacked(packed), text);
      EXPECT_EQ(unpacked(packed + packed), text + text) << "members behind each other";
    }
  }
  EXPECT_EQ(unpacked(pack("abc", Packing::gzip) + std::string(512, '\0')), "abc") << "padding";
}

// Made by gzip itself: printf 'a,b\n1,2\n' | gzip -n | xxd -p
TEST(Bytes, AFileOfGzip) {
  const unsigned char gz[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x4b, 0xd4, 0x49, 0xe2,
                              0x32, 0xd4, 0x31, 0xe2, 0x02, 0x00, 0x7b, 0x07, 0x97, 0x0a, 0x08, 0x00, 0x00, 0x00};
  const std::string packed(reinterpret_cast<const char*>(gz), sizeof gz);
  EXPECT_EQ(unpacked(packed), "a,b\n1,2\n");
  EXPECT_EQ(read_table_from(packed, "t.csv.gz").columns[1].numbers(), std::vector<double>{2});
}

TEST(Bytes, CutShort) {
  for (const Packing packing : {Packing::gzip, Packing::xz}) {
    const std::string packed = pack(random_text(1000), packing);
    for (std::size_t size = 6; size < packed.size(); ++size) {
      const std::string message = message_of([&] { unpacked(packed.substr(0, size)); });
      ASSERT_NE(message, "(no exception)") << size;
    }
    EXPECT_EQ(message_of([&] { unpacked(packed.substr(0, packed.size() - 1)); }),
              std::string("f: the ") + (packing == Packing::gzip ? "gzip" : "xz") + " stream is cut short; fetch or make the file again");
  }
}

// One wrong byte: an error, or (in a header's flags, times and names) the same content. Never other content, for there are checksums.
TEST(Bytes, AnyByteChanged) {
  const std::string text = "label,value\n" + random_text(200);
  for (const Packing packing : {Packing::gzip, Packing::xz}) {
    const std::string packed = pack(text, packing);
    for (std::size_t i = 0; i < packed.size(); ++i) {
      for (const int flip : {0x01, 0x80, 0xFF}) {
        std::string changed = packed;
        changed[i] = static_cast<char>(changed[i] ^ flip);
        try {
          const std::string got = unpacked(changed);
          ASSERT_TRUE(got == text || got == changed) << "byte " << i << " flipped by " << flip;  // no magic: taken as it is
        } catch (const Error& error) {
          ASSERT_EQ(std::string(error.what()).substr(0, 3), "f: ");
        }
      }
    }
  }
}

TEST(Bytes, GarbageBehind) {
  EXPECT_HAS(message_of([] { unpacked(pack("abc", Packing::gzip) + "junk"); }), "other bytes follow its end");
  EXPECT_HAS(message_of([] { unpacked(pack("abc", Packing::xz) + "junkjunkjunkjunk"); }), "the xz stream is corrupt");
}

TEST(Bytes, ABombStopsAtTheBudget) {
  const std::string zeros(24 << 20, 'a');
  for (const Packing packing : {Packing::gzip, Packing::xz}) {
    const std::string bomb = pack(zeros, packing);
    EXPECT_LT(bomb.size(), 50000U);
    try {
      unpacked(bomb, 12 << 20);
      ADD_FAILURE() << "no error";
    } catch (const OverBudget& error) {
      EXPECT_HAS(error.what(), "f: the unpacked content needs");
    }
    EXPECT_THROW(unpacked(bomb, 1 << 16), OverBudget);
  }
}

TEST(Bytes, OtherPackersAreNamed) {
  using namespace std::string_view_literals;
  EXPECT_HAS(message_of([] { unpacked("PK\x03\x04xxxx"); }), "f: is a zip archive (.zip, .xlsx or .npz)");
  EXPECT_HAS(message_of([] { unpacked("BZh91AY&SYxx"); }), "bzip2");
  EXPECT_HAS(message_of([] { unpacked("PAR1xx"); }), "Parquet");
  EXPECT_HAS(message_of([] { unpacked("\x28\xB5\x2F\xFD"); }), "zstd");
}

TEST(Bytes, OpeningFails) {
  const TemporaryDirectory directory;
  EXPECT_EQ(message_of([&] { read_table(directory / "none.csv"); }),
            (directory / "none.csv") + ": cannot be read: No such file or directory");
  EXPECT_EQ(
      message_of([&] { read_table(directory / ""); }),
      (directory / "") + ": cannot be read: it is a directory without the files of TUDataset (NAME_A.txt and so on); name a file in it");
  EXPECT_HAS(message_of([&] { read_table(""); }), "name of the file to read is empty");
  spill(directory / "empty.csv", "");
  EXPECT_HAS(message_of([&] { read_table(directory / "empty.csv"); }), "is empty");
  if (::geteuid() != 0) {
    spill(directory / "secret.csv", "1,2\n");
    ::chmod((directory / "secret.csv").c_str(), 0);
    EXPECT_HAS(message_of([&] { read_table(directory / "secret.csv"); }), "Permission denied");
  }
}

TEST(Bytes, APipeIsReadToItsEnd) {
  const TemporaryDirectory directory;
  const std::string path = directory / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string text = random_text(3000000);
  std::thread writer([&] { spill(path, text); });
  const Bytes got = read_bytes(path, {});
  writer.join();
  EXPECT_EQ(got.view, text);
}

TEST(Files, WrittenWhole) {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.txt";
  write_file_atomically(path, "hello");
  EXPECT_EQ(slurp(path), "hello");
  EXPECT_EQ(directory.files(), 1U);
  const std::string large = random_text(5000000);
  write_file_atomically(path, [&](const ByteSink& sink) {
    sink("small");
    sink(large);
    sink("end");
  });
  EXPECT_EQ(slurp(path), "small" + large + "end");
}

TEST(Files, AFailureLeavesTheOldFile) {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.txt";
  const auto fail = [&] {
    write_file_atomically(path, [](const ByteSink& sink) {
      sink(std::string(3 << 20, 'x'));
      throw Cancelled();
    });
  };
  EXPECT_THROW(fail(), Cancelled);
  EXPECT_EQ(directory.files(), 0U);
  spill(path, "old");
  EXPECT_THROW(fail(), Cancelled);
  EXPECT_EQ(slurp(path), "old");
  EXPECT_EQ(directory.files(), 1U);
}

TEST(Files, ModesAndLinksStay) {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.txt";
  const std::string link = directory / "link.txt";
  spill(path, "old");
  ::chmod(path.c_str(), 0640);
  std::filesystem::create_symlink("out.txt", link);
  write_file_atomically(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(slurp(path), "new");
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640U);
  const mode_t mask = ::umask(0027);
  write_file_atomically(directory / "fresh.txt", "x");
  ::umask(mask);
  ASSERT_EQ(::stat((directory / "fresh.txt").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640U);
}

TEST(Files, WritingFails) {
  const TemporaryDirectory directory;
  EXPECT_EQ(message_of([&] { write_file_atomically(directory / "no/out.txt", "x"); }),
            (directory / "no/out.txt") + ": cannot be written: No such file or directory");
  EXPECT_HAS(message_of([&] { write_file_atomically(directory / "", "x"); }), "it is a directory");
  EXPECT_HAS(message_of([&] { write_file_atomically("", "x"); }), "name of the file to write is empty");
  EXPECT_HAS(message_of([&] { write_file_atomically("/dev/full", "x"); }), "/dev/full: cannot be written: No space left on device");
  EXPECT_EQ(directory.files(), 0U);
  write_file_atomically("/dev/null", "x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace mercer
