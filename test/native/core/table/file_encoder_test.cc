#include "core/table/file_encoder.h"

#include <atomic>
#include <string>
#include <vector>

#include "columns.h"
#include "core/table/file_decoder.h"
#include "test.h"

using metainfo::ByteArray;
using metainfo::FileSizes;
using metainfo::Padding;
using metainfo::PadNames;

namespace {

const std::atomic<bool> kGoOn{false};

std::string text(const ByteArray& bytes) {
  return {reinterpret_cast<const char*>(bytes.data.get()), bytes.size};
}

std::string list_of(const OwnColumns& files, const Padding& padding = {}) {
  return text(metainfo::encode_file_list(files.view(), padding, kGoOn));
}

}  // namespace

TEST_CASE("file encoder: writes lists of files and pad files") {
  const OwnColumns files({{"a", 5}, {"b/c", 0}, {"b/\xc3\xa9", 16384}, {"d", 16385}});
  const std::string a = "d6:lengthi5e4:pathl1:aee";
  const std::string c = "d6:lengthi0e4:pathl1:b1:cee";
  const std::string e =
      "d6:lengthi16384e4:pathl1:b2:\xc3\xa9"
      "ee";
  const std::string d = "d6:lengthi16385e4:pathl1:dee";
  const auto pad = [](const std::string& length, const std::string& name) {
    return "d4:attr1:p6:lengthi" + length + "e4:pathl4:.pad" + name + "ee";
  };
  CHECK_EQ(list_of(files), "l" + a + c + e + d + "e");
  CHECK_EQ(list_of(files, {16384, true, PadNames::libtorrent}),
           "l" + a + pad("16379", "5:16379") + c + e + d + pad("16383", "5:16383") + "e");
  CHECK_EQ(list_of(files, {16384, false, PadNames::libtorrent}),
           "l" + a + c + pad("16379", "5:16379") + e + d + "e");
  CHECK_EQ(list_of(files, {16384, true, PadNames::unique}),
           "l" + a + pad("16379", "7:16379.1") + c + e + d + pad("16383", "7:16383.1") + "e");
  CHECK_EQ(list_of(OwnColumns({})), "le");
}

TEST_CASE("file encoder: unique names of pad files use a folder of their own") {
  const OwnColumns files({{".pad", 1}, {".pad_/x", 1}, {".padx", 16384}});
  const std::string list = list_of(files, {16384, true, PadNames::unique});
  CHECK_NE(list.find("l6:.pad__7:16383.1ee"), std::string::npos);
  CHECK_NE(list.find("l6:.pad__7:16383.2ee"), std::string::npos);
}

TEST_CASE("file encoder: adds a number where a name of a pad file repeats") {
  const OwnColumns files({{"a", 1}, {"b", 2}, {"c", 1}, {"d", 1}, {".pad_", 16384}});
  const std::string list = list_of(files, {16384, true, PadNames::automatic});
  const auto has = [&](const char* name) {
    return list.find(std::string("l4:.pad") + name + "ee") != std::string::npos;
  };
  CHECK(has("5:16383"));
  CHECK(has("5:16382"));
  CHECK(has("7:16383.1"));
  CHECK(has("7:16383.2"));
  CHECK_FALSE(has("7:16382.1"));
  const auto decoded = metainfo::decode_files(list, 0);
  REQUIRE(decoded);
  CHECK(decoded->numbered_pads);
  CHECK(decoded->plain_pads);
  const FileSizes sizes =
      metainfo::measure_files(files.view(), {16384, true, PadNames::automatic}, 16384, 2, kGoOn);
  CHECK_EQ(sizes.shared_pads, 0);
}

TEST_CASE("file encoder: writes the tree of folders") {
  const OwnColumns files({{"a/b/x", 1}, {"a/b/y", 0}, {"a/bc/x", 2}, {"a-b", 3}});
  std::vector<std::uint8_t> roots(4 * 32);
  for (std::size_t i = 0; i < roots.size(); ++i) roots[i] = static_cast<std::uint8_t>('A' + i / 32);
  const auto root = [](char letter) { return "11:pieces root32:" + std::string(32, letter); };
  CHECK_EQ(text(metainfo::encode_file_tree(files.view(), roots.data(), kGoOn)),
           "d1:ad1:bd1:xd0:d6:lengthi1e" + root('A') + "ee1:yd0:d6:lengthi0eeee2:bcd1:xd0:d6:lengthi2e" +
               root('C') + "eeee3:a-bd0:d6:lengthi3e" + root('D') + "eee");
}

TEST_CASE("file encoder: measures what it writes") {
  const OwnColumns files({{".pad/16383", 1}, {"a/\xf0\x9f\x98\x80", 40000}, {"a/b/c", 0}, {"d", 16383}});
  const Padding padding = {16384, true, PadNames::libtorrent};
  const FileSizes sizes = metainfo::measure_files(files.view(), padding, 16384, 2, kGoOn);
  CHECK_EQ(sizes.list_bytes, list_of(files, padding).size());
  const std::vector<std::uint8_t> roots(4 * 32);
  CHECK_EQ(sizes.tree_bytes, metainfo::encode_file_tree(files.view(), roots.data(), kGoOn).size);
  CHECK_EQ(sizes.bytes, 56384);
  CHECK_EQ(sizes.longest, 40000);
  CHECK_EQ(sizes.pieces, 5);
  CHECK_EQ(sizes.layers, 1);
  CHECK_EQ(sizes.layer_bytes, 35 + 3 + 96);
  CHECK_EQ(sizes.components, 3);
  CHECK_EQ(sizes.deepest, 2);
  CHECK_EQ(sizes.path_units, 5 + 6 + 2 + 3 + 6 + 2);
  CHECK_EQ(sizes.pads, 3);
  CHECK_EQ(sizes.pad_bytes, 16383 + 9152 + 1);
  CHECK_EQ(sizes.shared_pads, 1);
  CHECK_EQ(sizes.first_shared_pad, 16383);
}

TEST_CASE("file encoder: stops when it is told to") {
  const OwnColumns files({{"a", 5}});
  const std::atomic<bool> stopped{true};
  CHECK_EQ(metainfo::encode_file_list(files.view(), {}, stopped).size, 2);
  CHECK_EQ(metainfo::encode_file_tree(files.view(), nullptr, stopped).size, 1);
}
