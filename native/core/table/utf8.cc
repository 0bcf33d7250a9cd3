// Reads UTF-8 byte by byte.
#include "core/table/utf8.h"

#include <cstddef>

namespace metainfo {
namespace {

// The bytes after the first byte of a character; -1 if the byte cannot be the first one.
int bytes_after(unsigned char first) {
  if (first < 0x80) return 0;
  if (first < 0xc2 || first > 0xf4) return -1;
  return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

}  // namespace

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char first = byte(i);
    const int after = bytes_after(first);
    if (after < 0 || text.size() - i <= static_cast<std::size_t>(after)) return false;
    for (int n = 1; n <= after; ++n) {
      const unsigned char next = byte(i + static_cast<std::size_t>(n));
      // The first byte narrows the range of the second.
      const unsigned char least = n > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
      const unsigned char most = n > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
      if (next < least || next > most) return false;
    }
    i += 1 + static_cast<std::size_t>(after);
  }
  return true;
}

std::size_t utf16_units(std::string_view text) {
  std::size_t units = 0;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    units += (byte & 0xc0) != 0x80 ? 1 : 0;
    units += byte >= 0xf0 ? 1 : 0;
  }
  return units;
}

}  // namespace metainfo
