#include "core/files/scan_names.h"

#include <cstdint>
#include <string>

#include "scale.h"
#include "test.h"

using metainfo::is_harmless_name;
using metainfo::is_plain_name;

namespace {

// Encodes a character as RFC 3629 does.
std::string encoded(std::uint32_t code) {
  std::string bytes;
  const auto add = [&bytes](std::uint32_t byte) { bytes.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
  return bytes;
}

bool is_utf8(const std::string& name) { return is_harmless_name(name.c_str()); }

}  // namespace

TEST_CASE("scan names: every character is valid except surrogates and those that do not exist") {
  Sample sample;
  for (std::uint32_t code = 1; code < 0x200000; ++code) {
    if (code == '\\' || !sample.next()) continue;
    const bool valid = code < 0xd800 || (code > 0xdfff && code < 0x110000);
    const std::string bytes = encoded(code);
    if (is_utf8(bytes) != valid) FAIL("U+", code);
    // The same among others, and without its last byte.
    if (is_utf8("a" + bytes + "b") != valid) FAIL("U+", code, " among others");
    if (bytes.size() > 1 && is_utf8("a" + bytes.substr(0, bytes.size() - 1))) FAIL("part of U+", code);
    if (bytes.size() > 1 && is_utf8(bytes.substr(0, bytes.size() - 1) + "b")) FAIL("part of U+", code);
  }
}

// All sequences of one to three bytes, decoded by trial: each character must be one that the encoder gives.
TEST_CASE("scan names: a sequence is valid exactly if the encoder gives it") {
  const auto decoded = [](const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
      const auto first = static_cast<unsigned char>(text[at]);
      const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
      if (at + size > text.size()) return false;
      std::uint32_t code = size == 1 ? first : first & (0x7fU >> size);
      for (std::size_t i = 1; i < size; ++i)
        code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
      if (encoded(code) != text.substr(at, size) || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
        return false;
      at += size;
    }
    return true;
  };
  Sample sample;
  for (std::uint32_t bytes = 1; bytes < 0x1000000; ++bytes) {
    if (!sample.next()) continue;
    std::string text;
    for (std::uint32_t rest = bytes; rest != 0; rest >>= 8) text.push_back(static_cast<char>(rest & 0xff));
    if (text.find('\0') != std::string::npos || text.find('\\') != std::string::npos) continue;
    if (text.size() == 2 && text[1] == ':') continue;
    if (is_utf8(text) != decoded(text)) FAIL("bytes ", bytes);
  }
}

TEST_CASE("scan names: names that need a closer look") {
  for (const char* name : {"C:", "z:", "a\\b", "\\", "\xff"}) {
    INFO(name);
    CHECK_FALSE(is_harmless_name(name));
    CHECK_FALSE(is_plain_name(name));
  }
  for (const char* name : {".DS_Store", "Thumbs.db", "desktop.ini", ".metainfo-", ".metainfo-0a.tmp",
                           ".torrent", "a.torrent", "a.b.ToRRent", "a.TORRENT"}) {
    INFO(name);
    CHECK(is_harmless_name(name));
    CHECK_FALSE(is_plain_name(name));
  }
  for (const char* name :
       {"C", ":", "1:", "C:x", "[:", "@:", "`:", "{:", ".DS_Stor", ".DS_Store2", "thumbs.db", ".metainfo",
        "a.metainfo-", "caf\xc3\xa9", "torrent", "a.torrent2", "a.torren", "a_torrent", "a.torrent.part"}) {
    INFO(name);
    CHECK(is_harmless_name(name));
    CHECK(is_plain_name(name));
  }
}
