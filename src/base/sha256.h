#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace anyshape {

// SHA-256 of FIPS 180-4 as 64 hexadecimal digits in lower case.
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace anyshape
