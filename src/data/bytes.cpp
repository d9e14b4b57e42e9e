// SPDX-License-Identifier: BSD-3-Clause
#include "data/bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "mercer/error.hpp"

namespace mercer {

namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : owned_(path != "-") {
    number = owned_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (number < 0) throw FileError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (owned_) ::close(number);
  }

  int number;

 private:
  bool owned_;
};

Bytes map_file(int descriptor, std::size_t size) {
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED) return {};
  ::madvise(data, size, MADV_WILLNEED);
  std::shared_ptr<const void> owner(data, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return {std::string_view(static_cast<const char*>(data), size), std::move(owner), true};
}

Bytes read_to_end(int descriptor, const std::string& path, const Run& run) {
  constexpr std::size_t step = std::size_t{1} << 20;
  const std::size_t budget = memory_budget(run.memory);
  Stage stage(run.progress, "reading", 1);
  auto content = std::make_shared<std::string>();
  for (std::size_t size = 0;;) {
    if (size + step > budget)
      require_memory(size + step, run.memory, path == "-" ? "standard input" : path, "read a part of it, or allow more (--memory)");
    content->resize(size + step);
    const ssize_t got = ::read(descriptor, content->data() + size, step);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(fmt::format("{}: cannot be read: {}", path == "-" ? "standard input" : path, std::strerror(errno)));
    size += static_cast<std::size_t>(got);
    content->resize(size);
    stage.check();
    if (got == 0) break;
  }
  return {*content, content};
}

}  // namespace

Bytes read_bytes(const std::string& path, const Run& run) {
  if (path.empty()) throw FileError("the name of the file to read is empty; give a name, or - for standard input");
  const Descriptor file(path);
  struct stat info {};
  if (::fstat(file.number, &info) != 0) throw FileError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  if (S_ISDIR(info.st_mode))
    throw FileError(fmt::format(
        "{}: cannot be read: it is a directory without the files of TUDataset (NAME_A.txt and so on); name a file in it", path));
  if (path != "-" && S_ISREG(info.st_mode) && info.st_size > 0) {
    if (Bytes mapped = map_file(file.number, static_cast<std::size_t>(info.st_size)); mapped.owner != nullptr) return mapped;
  }
  return read_to_end(file.number, path, run);
}

std::string_view without_byte_order_mark(std::string_view text, const std::string& source) {
  using namespace std::string_view_literals;
  if (text.starts_with("\xEF\xBB\xBF"sv)) return text.substr(3);
  const bool wide = text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv);
  if (wide || text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv)) {
    const char* name = wide ? "UTF-32" : "UTF-16";
    throw FileError(fmt::format("{}: is {} text, wanted UTF-8; convert it (iconv -f {} -t UTF-8)", source, name, name));
  }
  return text;
}

}  // namespace mercer
