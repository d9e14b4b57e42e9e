// A PNG is a signature and chunks: length, name, bytes, checksum of name and bytes. Reference: W3C, PNG specification, third edition.
// SPDX-License-Identifier: BSD-3-Clause
#include "report/png.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "mercer/error.hpp"

namespace mercer::report {

namespace {

std::string big_endian(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xFFU);
  return out;
}

const Bytef* bytes_of(const std::string& text) { return reinterpret_cast<const Bytef*>(text.data()); }

std::string chunk(const std::string& name, const std::string& bytes) {
  const std::string named = name + bytes;
  const auto checksum = static_cast<std::uint32_t>(crc32(0, bytes_of(named), static_cast<uInt>(named.size())));
  return big_endian(static_cast<std::uint32_t>(bytes.size())) + named + big_endian(checksum);
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, bytes_of(bytes), static_cast<uLong>(bytes.size()), 9) != Z_OK)
    throw Error("an image could not be compressed");
  out.resize(size);
  return out;
}

}  // namespace

std::string png_of(const Matrix& grey) {
  std::string pixels;
  pixels.reserve(static_cast<std::size_t>(grey.rows() * (2 * grey.cols() + 1)));
  for (Index i = 0; i < grey.rows(); ++i) {
    pixels += '\0';  // this line is not a difference to another
    for (Index j = 0; j < grey.cols(); ++j) {
      const bool there = !std::isnan(grey(i, j));
      pixels += static_cast<char>(there ? static_cast<unsigned char>(std::lround(255 * std::clamp(grey(i, j), 0.0, 1.0))) : 0);
      pixels += static_cast<char>(there ? 255 : 0);
    }
  }
  const std::string head = big_endian(static_cast<std::uint32_t>(grey.cols())) + big_endian(static_cast<std::uint32_t>(grey.rows())) +
                           std::string("\x08\x04\x00\x00\x00", 5);  // 8 bits, grey and alpha, the only methods there are
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + chunk("IDAT", deflated(pixels)) + chunk("IEND", "");
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) out += i + j <= bytes.size() ? letters[group >> (18 - 6 * j) & 63U] : '=';
  }
  return out;
}

}  // namespace mercer::report
