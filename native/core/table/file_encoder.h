// Measures the file list and file tree of a torrent, and encodes them in bencode.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/table/file_columns.h"

namespace metainfo {

// How pad files are named: see PadNames in src/layout/padding.ts.
enum class PadNames { libtorrent, unique, automatic };

// How the pad files of a v1 list are laid out: see PaddingOptions in src/layout/padding.ts.
struct Padding {
  std::uint64_t piece_length = 0;  // 0: no pad files
  bool tail_pad = true;
  PadNames names = PadNames::libtorrent;
};

// The v1 `files` list.
ByteArray encode_file_list(const FileColumns& files, const Padding& padding,
                           const std::atomic<bool>& stopped);

// The v2 `file tree` of files in v2 order. `roots`: 32 bytes per file.
ByteArray encode_file_tree(const FileColumns& files, const std::uint8_t* roots,
                           const std::atomic<bool>& stopped);

// The sizes that readers limit. They are doubles, so that sums beyond 2^53 round as in JavaScript.
struct FileSizes {
  double bytes = 0;             // of content
  double longest = 0;           // bytes of the longest file
  double pieces = 0;            // pieces that the files have one by one
  double layers = 0;            // files longer than a piece
  double layer_bytes = 0;       // of the layers in bencode
  double components = 0;        // most components of a path
  double deepest = -1;          // the first file with more than `max_components`
  double path_units = 0;        // UTF-16 units of all components, and one for each component
  double list_items = 0;        // bencoded values in the entries of the list
  double list_bytes = 0;        // of the list in bencode
  double pads = 0;              // pad files
  double pad_bytes = 0;         // bytes of all pad files
  double shared_pads = 0;       // pad files that share a path with another pad file or with a file
  double first_shared_pad = 0;  // the length of the first one
  double tree_items = 0;
  double tree_bytes = 0;
};
FileSizes measure_files(const FileColumns& files, const Padding& padding, std::uint64_t piece_length,
                        std::size_t max_components, const std::atomic<bool>& stopped);

}  // namespace metainfo
