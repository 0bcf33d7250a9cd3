// Checks names: do they need a closer look?
#include "core/files/scan_names.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/table/utf8.h"

namespace metainfo {
namespace {

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// An upper-case letter of ASCII as its lower-case one.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_torrent_file(std::string_view name) {
  constexpr std::string_view kEnding = ".torrent";
  return name.size() >= kEnding.size() &&
         std::equal(kEnding.begin(), kEnding.end(), name.end() - kEnding.size(),
                    [](char ending, char c) { return ending == lower(c); });
}

}  // namespace

bool is_harmless_name(const char* name) {
  const std::string_view text = name;
  const bool is_drive = text.size() == 2 && text[1] == ':' && is_ascii_letter(text[0]);
  return !is_drive && text.find('\\') == std::string_view::npos && is_utf8(text);
}

bool is_plain_name(const char* name) {
  constexpr std::string_view kSystemFiles[] = {".DS_Store", "Icon\r", "Thumbs.db", "desktop.ini"};
  constexpr std::string_view kTemporary = ".metainfo-";
  const std::string_view text = name;
  if (std::find(std::begin(kSystemFiles), std::end(kSystemFiles), text) != std::end(kSystemFiles))
    return false;
  if (text.substr(0, kTemporary.size()) == kTemporary || is_torrent_file(text)) return false;
  return is_harmless_name(name);
}

}  // namespace metainfo
