// gzip and xz, in and out. Unpacking stops at the memory budget, so a file made to explode is an error and not a dead machine.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "data/bytes.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t first_room = std::size_t{1} << 20;

// Unpacked bytes, growing by halves within the budget.
class Growing {
 public:
  Growing(const std::string& source, const Run& run) : source_(source), requested_(run.memory), budget_(memory_budget(run.memory)) {}

  // Room for more bytes, and how many of them were used.
  std::pair<char*, std::size_t> room() {
    if (used_ == content_->size()) {
      if (used_ >= budget_) {
        require_memory(used_ + 1, requested_, fmt::format("{}: the unpacked content", source_),
                       "read a part of it, or allow more (--memory)");
      }
      content_->resize(std::min(budget_, std::max(first_room, used_ + used_ / 2)));
    }
    return {content_->data() + used_, content_->size() - used_};
  }
  void took(std::size_t bytes) { used_ += bytes; }

  Bytes finish() {
    content_->resize(used_);
    return {*content_, content_};
  }

 private:
  const std::string& source_;
  std::size_t requested_;
  std::size_t budget_;
  std::size_t used_ = 0;
  std::shared_ptr<std::string> content_ = std::make_shared<std::string>();
};

// Unpacked bytes, handed on block by block.
class Passing {
 public:
  explicit Passing(const ByteSink& sink) : sink_(sink), block_(first_room, '\0') {}

  std::pair<char*, std::size_t> room() { return {block_.data(), block_.size()}; }
  void took(std::size_t bytes) {
    if (bytes > 0) sink_(std::string_view(block_.data(), bytes));
  }

 private:
  const ByteSink& sink_;
  std::string block_;
};

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }
};

[[noreturn]] void throw_corrupt(const std::string& source, const char* kind, const char* why) {
  throw FileError(fmt::format("{}: the {} stream is corrupt ({}); fetch or make the file again", source, kind, why));
}

[[noreturn]] void throw_truncated(const std::string& source, const char* kind) {
  throw FileError(fmt::format("{}: the {} stream is cut short; fetch or make the file again", source, kind));
}

uInt piece(std::size_t size) { return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max() / 2)); }

template <class Out>
void unpack_gzip(std::string_view packed, const std::string& source, const Run& run, Out& out) {
  Stage stage(run.progress, "unpacking", static_cast<double>(packed.size()));
  Inflater inflater;
  z_stream& z = inflater.stream;
  for (std::size_t at = 0;;) {
    const auto [room, free] = out.room();
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + at));
    z.avail_in = piece(packed.size() - at);
    z.next_out = reinterpret_cast<Bytef*>(room);
    z.avail_out = piece(free);
    const uInt had_in = z.avail_in;
    const uInt had_out = z.avail_out;
    const int status = inflate(&z, Z_NO_FLUSH);
    const std::size_t taken = had_in - z.avail_in;
    const std::size_t given = had_out - z.avail_out;
    at += taken;
    out.took(given);
    stage.advance(static_cast<double>(taken));
    if (status == Z_STREAM_END) {
      const std::string_view rest = packed.substr(at);
      if (rest.find_first_not_of('\0') == std::string_view::npos) return;  // gzip itself allows padding
      if (!rest.starts_with("\x1F\x8B"sv)) throw_corrupt(source, "gzip", "other bytes follow its end");
      inflateReset(&z);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw_corrupt(source, "gzip", z.msg != nullptr ? z.msg : "bad data");
    } else if (taken == 0 && given == 0) {
      throw_truncated(source, "gzip");
    }
  }
}

struct LzmaStream {
  lzma_stream stream = LZMA_STREAM_INIT;
  LzmaStream() = default;
  LzmaStream(const LzmaStream&) = delete;
  LzmaStream& operator=(const LzmaStream&) = delete;
  ~LzmaStream() { lzma_end(&stream); }
};

template <class Out>
void unpack_xz(std::string_view packed, const std::string& source, const Run& run, Out& out) {
  Stage stage(run.progress, "unpacking", static_cast<double>(packed.size()));
  LzmaStream decoder;
  lzma_stream& x = decoder.stream;
  if (lzma_stream_decoder(&x, memory_budget(run.memory), LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  x.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  x.avail_in = packed.size();
  for (;;) {
    const auto [room, free] = out.room();
    x.next_out = reinterpret_cast<std::uint8_t*>(room);
    x.avail_out = free;
    const std::size_t had_in = x.avail_in;
    const lzma_ret status = lzma_code(&x, LZMA_FINISH);
    out.took(free - x.avail_out);
    stage.advance(static_cast<double>(had_in - x.avail_in));
    switch (status) {
      case LZMA_OK:
        break;
      case LZMA_STREAM_END:
        return;
      case LZMA_BUF_ERROR:
        throw_truncated(source, "xz");
      case LZMA_MEMLIMIT_ERROR:
        require_memory(lzma_memusage(&x), run.memory, fmt::format("{}: its xz dictionary", source), "allow more (--memory)");
        throw_corrupt(source, "xz", "impossible memory limit");
      case LZMA_MEM_ERROR:
        throw std::bad_alloc();
      case LZMA_OPTIONS_ERROR:
        throw_corrupt(source, "xz", "unknown options");
      default:
        throw_corrupt(source, "xz", "bad data or checksum");
    }
  }
}

struct Foreign {
  std::string_view start;
  const char* what;
};

constexpr std::array<Foreign, 7> foreign{{{"PK\x03\x04"sv, "a zip archive (.zip, .xlsx or .npz); unpack it, or save the sheet as CSV"},
                                          {"BZh91AY&SY"sv, "a bzip2 file; unpack it first (bunzip2)"},
                                          {"\x28\xB5\x2F\xFD"sv, "a zstd file; unpack it first (unzstd)"},
                                          {"PAR1"sv, "a Parquet file; export it as CSV or NPY"},
                                          {"\x89HDF\r\n\x1A\n"sv, "an HDF5 file; export it as CSV or NPY"},
                                          {"ARROW1"sv, "an Arrow file; export it as CSV or NPY"},
                                          {"\xD0\xCF\x11\xE0"sv, "an old Excel sheet; save it as CSV"}}};

void deflate_into(z_stream& z, std::string_view bytes, bool last, const ByteSink& sink) {
  std::array<char, 1 << 16> block;
  do {
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z.avail_in = piece(bytes.size());
    const std::size_t offered = z.avail_in;
    const bool final_piece = last && offered == bytes.size();
    do {
      z.next_out = reinterpret_cast<Bytef*>(block.data());
      z.avail_out = static_cast<uInt>(block.size());
      deflate(&z, final_piece ? Z_FINISH : Z_NO_FLUSH);
      sink(std::string_view(block.data(), block.size() - z.avail_out));
    } while (z.avail_out == 0);
    bytes.remove_prefix(offered);
  } while (!bytes.empty());
}

void xz_into(lzma_stream& x, std::string_view bytes, bool last, const ByteSink& sink) {
  std::array<char, 1 << 16> block;
  x.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  x.avail_in = bytes.size();
  do {
    x.next_out = reinterpret_cast<std::uint8_t*>(block.data());
    x.avail_out = block.size();
    if (lzma_code(&x, last ? LZMA_FINISH : LZMA_RUN) == LZMA_MEM_ERROR) throw std::bad_alloc();
    sink(std::string_view(block.data(), block.size() - x.avail_out));
  } while (x.avail_out == 0);
}

}  // namespace

Packing packing_of_content(std::string_view bytes) {
  if (bytes.starts_with("\x1F\x8B"sv)) return Packing::gzip;
  constexpr std::string_view xz_start =
      "\xFD"
      "7zXZ\0"sv;
  return bytes.starts_with(xz_start) ? Packing::xz : Packing::none;
}

void unpack_into(std::string_view packed, const std::string& source, const Run& run, const ByteSink& sink) {
  Passing out(sink);
  if (packing_of_content(packed) == Packing::gzip) {
    unpack_gzip(packed, source, run, out);
  } else {
    unpack_xz(packed, source, run, out);
  }
}

Bytes unpack(Bytes packed, const std::string& source, const Run& run) {
  if (const Packing packing = packing_of_content(packed.view); packing != Packing::none) {
    Growing out(source, run);
    if (packing == Packing::gzip) {
      unpack_gzip(packed.view, source, run, out);
    } else {
      unpack_xz(packed.view, source, run, out);
    }
    return out.finish();
  }
  for (const Foreign& kind : foreign) {
    if (packed.view.starts_with(kind.start)) throw FileError(fmt::format("{}: is {}", source, kind.what));
  }
  return packed;
}

Packing packing_of_name(std::string_view path) {
  if (path.ends_with(".gz")) return Packing::gzip;
  if (path.ends_with(".xz")) return Packing::xz;
  return Packing::none;
}

std::function<void(std::string_view, bool)> packing_sink(Packing packing, const ByteSink& sink) {
  if (packing == Packing::gzip) {
    auto state = std::shared_ptr<z_stream>(new z_stream{}, [](z_stream* z) {
      deflateEnd(z);
      delete z;
    });
    if (deflateInit2(state.get(), 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
    return [state, sink](std::string_view bytes, bool last) { deflate_into(*state, bytes, last, sink); };
  }
  if (packing == Packing::xz) {
    auto state = std::make_shared<LzmaStream>();
    if (lzma_easy_encoder(&state->stream, 6, LZMA_CHECK_CRC64) != LZMA_OK) throw std::bad_alloc();
    return [state, sink](std::string_view bytes, bool last) { xz_into(state->stream, bytes, last, sink); };
  }
  return [sink](std::string_view bytes, bool) { sink(bytes); };
}

}  // namespace mercer
