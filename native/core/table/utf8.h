// Checks and measures text.
#pragma once

#include <cstddef>
#include <string_view>

namespace metainfo {

// Whether text is UTF-8, as isUtf8 of Node has it: without surrogates and overlong forms.
bool is_utf8(std::string_view text);

// The units of UTF-16 of UTF-8: one for each character, two for those of four bytes.
std::size_t utf16_units(std::string_view text);

}  // namespace metainfo
