// SPDX-License-Identifier: BSD-3-Clause
#include "core/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "mercer/error.hpp"
#include "mercer/unfinished_files.hpp"

namespace mercer {

namespace {

constexpr std::size_t buffered = std::size_t{1} << 20;

[[noreturn]] void throw_cannot_write(const std::string& path, int reason) {
  throw FileError(fmt::format("{}: cannot be written: {}", path == "-" ? "standard output" : path, std::strerror(reason)));
}

// A descriptor with a buffer before it. Closing is explicit because a full disk may show only then.
class Output {
 public:
  Output(int descriptor, const std::string& path, bool owned) : descriptor_(descriptor), path_(path), owned_(owned) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (owned_ && descriptor_ >= 0) ::close(descriptor_);
  }

  void put(std::string_view bytes) {
    if (pending_.size() + bytes.size() > buffered) flush();
    if (bytes.size() >= buffered) {
      write_all(bytes);
    } else {
      pending_.append(bytes);
    }
  }

  void finish() {
    flush();
    if (owned_ && ::close(std::exchange(descriptor_, -1)) != 0) throw_cannot_write(path_, errno);
  }

 private:
  void flush() {
    write_all(pending_);
    pending_.clear();
  }

  void write_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        throw_cannot_write(path_, errno);
      }
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  int descriptor_;
  const std::string& path_;
  bool owned_;
  std::string pending_;
};

void fill_in_place(int descriptor, const std::string& path, bool owned, const std::function<void(const ByteSink&)>& fill) {
  Output out(descriptor, path, owned);
  fill([&](std::string_view bytes) { out.put(bytes); });
  out.finish();
}

// Where a chain of symbolic links ends, so that the link survives and the temporary lies on the same file system as the file.
std::string behind_links(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) != nullptr ? std::string(resolved) : path;
}

// The names of files under way, where a signal handler can read them: in memory that is never given back.
class Unfinished {
 public:
  // The place that the name took; none when it is too long, or all are taken.
  std::optional<std::size_t> add(const std::string& name) {
    if (name.size() >= PATH_MAX) return std::nullopt;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      State free = State::free;
      if (!places_[k].state.compare_exchange_strong(free, State::taken)) continue;
      std::memcpy(places_[k].name.data(), name.c_str(), name.size() + 1);
      places_[k].state = State::written;
      return k;
    }
    return std::nullopt;
  }
  void leave(std::size_t place) { places_[place].state = State::free; }

  void remove() noexcept {
    for (Place& place : places_) {
      if (place.state == State::written) ::unlink(place.name.data());
    }
  }

 private:
  enum class State : int { free, taken, written };
  struct Place {
    std::atomic<State> state{State::free};
    std::array<char, PATH_MAX> name{};
  };
  static_assert(std::atomic<State>::is_always_lock_free, "used in signal handlers");
  std::array<Place, 16> places_{};
};

constinit Unfinished unfinished;  // ready before any code runs: a signal may come first

struct Temporary {
  std::string name;
  int descriptor = -1;
  bool kept = false;
  std::optional<std::size_t> place{};

  explicit Temporary(const std::string& target) {
    static std::atomic<unsigned> serial{0};
    do {
      name = fmt::format("{}.{}-{}.part", target, ::getpid(), serial++);
      descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EEXIST);
    if (descriptor >= 0) place = unfinished.add(name);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (descriptor >= 0 && !kept) ::unlink(name.c_str());
    if (place) unfinished.leave(*place);
  }
};

}  // namespace

void write_file_atomically(const std::string& path, const std::function<void(const ByteSink&)>& fill) {
  if (path.empty()) throw FileError("the name of the file to write is empty; give a name, or - for standard output");
  if (path == "-") {
    std::fflush(stdout);  // what the caller printed before comes first
    fill_in_place(STDOUT_FILENO, path, false, fill);
    return;
  }
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) throw FileError(fmt::format("{}: cannot be written: it is a directory; name a file in it", path));
  if (exists && !S_ISREG(info.st_mode)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) throw_cannot_write(path, errno);
    fill_in_place(descriptor, path, true, fill);
    return;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) throw_cannot_write(path, errno);

  const std::string target = exists ? behind_links(path) : path;
  Temporary temporary(target);
  if (temporary.descriptor < 0) throw_cannot_write(path, errno);
  if (exists) (void)::fchmod(temporary.descriptor, info.st_mode & 07777);  // a file system without modes is no reason to fail
  fill_in_place(temporary.descriptor, path, true, fill);
  if (::rename(temporary.name.c_str(), target.c_str()) != 0) throw_cannot_write(path, errno);
  temporary.kept = true;
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  write_file_atomically(path, [&](const ByteSink& sink) { sink(bytes); });
}

void remove_unfinished_files() noexcept { unfinished.remove(); }

}  // namespace mercer
