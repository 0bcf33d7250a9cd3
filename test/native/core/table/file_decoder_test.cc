#include "core/table/file_decoder.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "columns.h"
#include "core/table/file_encoder.h"
#include "core/table/utf8.h"
#include "test.h"

namespace {

using metainfo::ByteArray;
using metainfo::decode_files;
using metainfo::DecodedFiles;
using metainfo::Padding;
using namespace std::string_literals;

const std::atomic<bool> kGoOn{false};

std::string text_of(const ByteArray& bytes) {
  return {reinterpret_cast<const char*>(bytes.data.get()), bytes.size};
}

std::string text(const std::string& value) { return std::to_string(value.size()) + ":" + value; }

std::string item(const std::vector<std::string>& path, const std::string& length = "5",
                 const std::string& attributes = {}) {
  std::string names;
  for (const std::string& name : path) names += text(name);
  return "d" + attributes + "6:lengthi" + length + "e4:pathl" + names + "ee";
}

std::string leaf(const std::string& name, const std::string& rest) {
  return text(name) + "d0:d" + rest + "ee";
}

const std::string kRoot = "11:pieces root32:" + std::string(32, 'r');
const std::string kFile = "6:lengthi5e" + kRoot;

void require_paths(const DecodedFiles& files, const std::string& bytes) {
  CHECK(std::string(files.paths.bytes.data(), files.paths.bytes.size()) == bytes);
}

}  // namespace

TEST_CASE("decodes the lists and trees that the encoder writes") {
  const OwnColumns files({{"a/b", 5}, {"a/empty", 0}, {"c", 40000}, {"d\xc3\xa9", 1}});
  const std::vector<std::uint8_t> roots(4 * 32, 7);
  using metainfo::PadNames;
  for (const bool pads : {false, true}) {
    Padding padding;
    padding.piece_length = pads ? 16384 : 0;
    padding.names = PadNames::unique;
    const std::string list = text_of(metainfo::encode_file_list(files.view(), padding, kGoOn));
    const auto decoded = decode_files("xx" + list + "tail", 2);
    REQUIRE(decoded);
    CHECK(decoded->end == 2 + list.size());
    require_paths(*decoded, "a\0ba\0emptycd\xc3\xa9"s);
    CHECK(decoded->lengths == std::vector<double>{5, 0, 40000, 1});
    CHECK(decoded->count == (pads ? 7 : 4));
    CHECK(decoded->numbered_pads == pads);
    CHECK(!decoded->plain_pads);
    CHECK(decoded->entry_files == (pads ? std::vector<std::int32_t>{0, -1, -2, 2, -1, 3, -1}
                                        : std::vector<std::int32_t>{0, -2, 2, 3}));
    CHECK(decoded->depth == 2);
  }
  const std::string tree = text_of(metainfo::encode_file_tree(files.view(), roots.data(), kGoOn));
  const auto decoded = decode_files(tree, 0);
  REQUIRE(decoded);
  CHECK(decoded->end == tree.size());
  require_paths(*decoded, "a\0ba\0emptycd\xc3\xa9"s);
  CHECK(decoded->lengths == std::vector<double>{5, 0, 40000, 1});
  CHECK(decoded->roots[32] == 0);
  CHECK(decoded->roots[64] == 7);
  CHECK(decoded->depth == 3);
  // a: 2; each file: 6, and 2 for a root.
  CHECK(decoded->items == 2 + 4 * 6 + 3 * 2);
  // Components and one for each: b, empty and a twice, c, dé.
  CHECK(decoded->path_units == 2 + 2 + 2 + 6 + 2 + 3);
}

TEST_CASE("takes paths in any order, but no two that are equal or lead through a file") {
  CHECK(decode_files("l" + item({"b"}) + item({"a"}) + "e", 0));
  CHECK(!decode_files("l" + item({"b"}) + item({"a"}) + item({"b"}) + "e", 0));
  CHECK(!decode_files("l" + item({"b", "c"}) + item({"b"}) + "e", 0));
  CHECK(!decode_files("l" + item({"b"}) + item({"b", "c"}) + "e", 0));
  CHECK(decode_files("l" + item({"p", "5"}, "5", "4:attr1:p") + item({"p", "5"}, "5", "4:attr1:p") + "e", 0));
}

TEST_CASE("leaves everything unusual to JavaScript") {
  CHECK(decode_files("d" + leaf("a", kFile) + "e", 0));
  const std::vector<std::string> trees = {
      "de",
      "d" + leaf("b", kFile) + leaf("a", kFile) + "e",
      "d" + leaf("a", kFile) + leaf("a", kFile) + "e",
      "d1:adee",
      "d1:ade" + leaf("b", kFile) + "e",
      "d1:ad0:d" + kFile + "e1:bdeee",
      "d" + leaf("a", "6:lengthi0e" + kRoot) + "e",
      "d" + leaf("a", "6:lengthi5e") + "e",
      "d" + leaf("a", "6:lengthi5e11:pieces root32:" + std::string(32, '\0')) + "e",
      "d" + leaf("a", "4:attr1:p" + kFile) + "e",
      "d" + leaf("a", "4:attr1:l" + kFile) + "e",
      "d" + leaf("a", "6:lengthi05e" + kRoot) + "e",
      "d" + leaf("a", "6:lengthi-5e" + kRoot) + "e",
      "d" + leaf("a", "6:lengthi1000000000000000e" + kRoot) + "e",
      "d" + leaf("a", kFile + "1:x1:y") + "e",
      "d01:ad0:d" + kFile + "eee",
  };
  for (const std::string& tree : trees) {
    CAPTURE(tree);
    CHECK(!decode_files(tree, 0));
  }
  for (const std::string& name : {""s, "."s, ".."s, "a/b"s, "a\\b"s, "C:"s, "a\0b"s, "\xff"s, "\xed\xa0\x80"s,
                                  "\xef\xbf\xbd"s, "_____padding_file_0"s}) {
    CAPTURE(name);
    CHECK(!decode_files("d" + leaf(name, kFile) + "e", 0));
    CHECK(!decode_files("l" + item({name}) + "e", 0));
  }
  CHECK(!decode_files("le", 0));
  CHECK(!decode_files("l" + item({}) + "e", 0));
  CHECK(!decode_files("l" + item({"a"}, "0", "4:attr1:p") + "e", 0));
  CHECK(!decode_files("i5e", 0));
  CHECK(!decode_files("", 0));
  CHECK(!decode_files("l", 1));
}

TEST_CASE("reads no byte beyond the end, wherever it is") {
  const std::string list = "l" + item({"folder", "name"}, "12345", "4:attr1:x") + "e";
  const std::string tree = "d4:fold" + ("d" + leaf("name", "4:attr1:x" + kFile) + "e") + "e";
  for (const std::string& whole : {list, tree}) {
    REQUIRE(decode_files(whole, 0));
    CHECK(decode_files(whole, 0)->attributes);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::vector<char> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK(!decode_files({part.data(), part.size()}, 0));
    }
  }
}

TEST_CASE("gives up where paths would take too much memory") {
  // A long folder name, repeated for each of many files.
  std::string tree = "d" + text(std::string(1 << 20, 'n')) + "d";
  for (int i = 1000; i < 1300; ++i) tree += leaf(std::to_string(i), kFile);
  CHECK(!decode_files(tree + "ee", 0));
}
