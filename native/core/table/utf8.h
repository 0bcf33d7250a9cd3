// Checks text.
#pragma once

#include <string_view>

namespace metainfo {

// Whether text is UTF-8, as isUtf8 of Node has it: without surrogates and overlong forms.
bool is_utf8(std::string_view text);

}  // namespace metainfo
