#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace anyshape {

// What stands before the elements of a .npy file.
struct NpyHeader {
  // The letters of NumPy: b bool, i u f c numbers, U text in UCS-4, S bytes of text, V raw bytes.
  char kind = 'f';
  bool big_endian = false;
  uint64_t item_bytes = 0;
  bool fortran_order = false;
  std::vector<int64_t> dims;
  uint64_t length = 0;  // of the header itself: the elements start there
};

// Codes: npy.format (not a .npy file), npy.header, npy.dtype (Python objects, records, dates).
Result<NpyHeader> parse_npy_header(std::span<const std::byte> file);

// The header of a row-major little-endian array, padded to a multiple of 64 bytes. `descr` as NumPy writes it: "<f4".
std::string make_npy_header(std::string_view descr, std::span<const int64_t> dims);

}  // namespace anyshape
