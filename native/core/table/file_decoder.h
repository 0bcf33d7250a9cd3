// Reads the file list and file tree of a torrent into columns: the inverse of file_encoder.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/table/file_columns.h"

namespace metainfo {

// The files of a `files` list or of a `file tree`, in its order.
struct DecodedFiles {
  std::size_t end = 0;         // where the value ends in the bytes
  std::size_t count = 0;       // files, pad files included
  std::size_t items = 0;       // bencoded values and keys within the value
  std::size_t longest = 32;    // bytes of the longest string, and at least those of a pieces root
  std::size_t depth = 0;       // levels of lists and dictionaries below the value
  std::size_t path_units = 0;  // UTF-16 units of all components, and one for each component
  bool attributes = false;     // whether any file but a pad file has attributes
  // Whether the name of any pad file ends with a number of its own, and whether any does not.
  bool numbered_pads = false;
  bool plain_pads = false;
  // Without pad files.
  PathArray paths;
  std::vector<double> lengths;
  // List: each entry, and its index among the files or one of these.
  static constexpr std::int32_t kPad = -1;
  static constexpr std::int32_t kEmpty = -2;
  std::vector<double> entry_lengths;
  std::vector<std::int32_t> entry_files;
  // Tree: the pieces root of each file, 32 bytes; zeros for an empty one.
  std::vector<std::uint8_t> roots;
};

// Reads the value at `at`: a list or a tree. Nothing, if it is not canonical bencode of the usual form, or if
// a file of it breaks a rule: only JavaScript reports that. Usual are files without links and unknown keys,
// with safe names in UTF-8 and different paths, and a pieces root in the tree for each file with content.
std::optional<DecodedFiles> decode_files(std::string_view bytes, std::size_t at);

}  // namespace metainfo
