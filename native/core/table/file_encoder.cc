// Writes the file list and file tree of a torrent to a counter, which measures them, or to memory.
#include "core/table/file_encoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/table/utf8.h"

namespace metainfo {
namespace {

using std::string_view;

// Stopping is looked for once in so many files.
constexpr std::size_t kFilesPerCheck = 4096;

std::size_t digits(std::uint64_t number) {
  std::size_t count = 1;
  for (; number >= 10; number /= 10) ++count;
  return count;
}

// Counts what is written.
struct Counter {
  std::uint64_t bytes = 0;
  std::uint64_t texts = 0;

  void raw(string_view value) { bytes += value.size(); }
  void number(std::uint64_t value) { bytes += digits(value); }
  void text(string_view value) {
    bytes += digits(value.size()) + 1 + value.size();
    ++texts;
  }
};

// Writes to memory that has room for everything.
struct Memory {
  std::uint8_t* at;

  void raw(string_view value) {
    std::memcpy(at, value.data(), value.size());
    at += value.size();
  }
  void number(std::uint64_t value) {
    std::uint8_t* const end = at + digits(value);
    for (std::uint8_t* digit = end; digit != at; value /= 10)
      *--digit = static_cast<std::uint8_t>('0' + value % 10);
    at = end;
  }
  void text(string_view value) {
    number(value.size());
    raw(":");
    raw(value);
  }
};

// Calls `take` for each component.
template <typename Take>
void components_of(string_view path, Take take) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('\0'), path.size());
    take(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
}

bool stopped_at(std::size_t file, const std::atomic<bool>& stopped) {
  return file % kFilesPerCheck == 0 && stopped.load(std::memory_order_relaxed);
}

// Whether a path is that of a pad file as libtorrent names it, or is the folder of pad files.
bool is_like_pad(string_view path) {
  constexpr string_view kFolder{".pad\0", 5};
  return path == ".pad" || path.substr(0, kFolder.size()) == kFolder;
}

// Names pad files.
class PadNamer {
 public:
  PadNamer(const FileColumns& files, PadNames names) : names_(names) {
    if (names == PadNames::libtorrent) return;
    std::unordered_set<string_view> taken;
    for (std::size_t i = 0; i < files.count; ++i) {
      const string_view path = files.paths.at(i);
      const string_view first = path.substr(0, std::min(path.find('\0'), path.size()));
      if (first.substr(0, folder_.size()) == folder_) taken.insert(first);
    }
    while (taken.count(folder_) != 0) folder_ += '_';
  }

  const std::string& folder() const { return folder_; }

  std::string next(std::uint64_t length) {
    std::string name = std::to_string(length);
    if (names_ == PadNames::libtorrent) return name;
    const std::uint64_t before = counts_[length]++;
    const std::uint64_t number = names_ == PadNames::unique ? before + 1 : before;
    return number == 0 ? name : name + "." + std::to_string(number);
  }

 private:
  const PadNames names_;
  std::string folder_ = ".pad";
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;
};

// Calls `on_file` with the index and `on_pad` with the length of each entry of the padded list, in order.
template <typename OnFile, typename OnPad>
void lay_out(const FileColumns& files, const Padding& padding, const std::atomic<bool>& stopped,
             OnFile on_file, OnPad on_pad) {
  std::uint64_t missing = 0;
  const auto pad = [&] {
    if (missing != 0) on_pad(missing);
    missing = 0;
  };
  for (std::size_t i = 0; i < files.count; ++i) {
    if (stopped_at(i, stopped)) return;
    const auto length = static_cast<std::uint64_t>(files.lengths.get()[i]);
    if (length != 0) pad();
    on_file(i, length);
    if (padding.piece_length == 0 || length == 0) continue;
    missing = (padding.piece_length - length % padding.piece_length) % padding.piece_length;
    if (padding.tail_pad) pad();
  }
}

template <typename Out>
void write_list(const FileColumns& files, const Padding& padding, const std::atomic<bool>& stopped,
                Out& out) {
  PadNamer names(files, padding.names);
  const auto on_file = [&](std::size_t file, std::uint64_t length) {
    out.raw("d6:lengthi");
    out.number(length);
    out.raw("e4:pathl");
    components_of(files.paths.at(file), [&](string_view name) { out.text(name); });
    out.raw("ee");
  };
  const auto on_pad = [&](std::uint64_t length) {
    out.raw("d4:attr1:p6:lengthi");
    out.number(length);
    out.raw("e4:pathl");
    out.text(names.folder());
    out.text(names.next(length));
    out.raw("ee");
  };
  out.raw("l");
  lay_out(files, padding, stopped, on_file, on_pad);
  out.raw("e");
}

// Where the last component of a path starts.
std::size_t name_start(string_view path) {
  const std::size_t separator = path.rfind('\0');
  return separator == string_view::npos ? 0 : separator + 1;
}

// The folders, each with the zero byte after it, that two paths have in common.
string_view shared_folders(string_view before, string_view path) {
  const std::size_t most = std::min(name_start(before), name_start(path));
  std::size_t equal = 0;
  while (equal < most && before[equal] == path[equal]) ++equal;
  return path.substr(0, name_start(path.substr(0, equal)));
}

template <typename Out>
void write_tree(const FileColumns& files, const std::uint8_t* roots, const std::atomic<bool>& stopped,
                Out& out) {
  constexpr char kNoRoot[kRootBytes] = {};
  const auto close = [&](string_view folders) {
    for (const char byte : folders) {
      if (byte == '\0') out.raw("e");
    }
  };
  string_view before;
  out.raw("d");
  for (std::size_t i = 0; i < files.count; ++i) {
    if (stopped_at(i, stopped)) return;
    const string_view path = files.paths.at(i);
    const std::size_t shared = shared_folders(before, path).size();
    close(before.substr(shared, name_start(before) - shared));
    components_of(path.substr(shared), [&](string_view name) {
      out.text(name);
      out.raw("d");
    });
    const auto length = static_cast<std::uint64_t>(files.lengths.get()[i]);
    out.raw("0:d6:lengthi");
    out.number(length);
    out.raw("e");
    if (length != 0) {
      out.raw("11:pieces root32:");
      out.raw(
          {roots == nullptr ? kNoRoot : reinterpret_cast<const char*>(roots) + i * kRootBytes, kRootBytes});
    }
    out.raw("ee");
    before = path;
  }
  close(before.substr(0, name_start(before)));
  out.raw("e");
}

// Writes twice: to a counter, which tells the size, and to memory of that size.
template <typename Write>
ByteArray encoded(Write write) {
  Counter counter;
  write(counter);
  ByteArray bytes(counter.bytes);
  Memory memory{bytes.data.get()};
  write(memory);
  return bytes;
}

// Pad files whose path is also that of another pad file or of a file, or leads through a file.
void measure_shared_pads(const FileColumns& files, const Padding& padding, const std::atomic<bool>& stopped,
                         FileSizes& sizes) {
  std::unordered_set<string_view> taken;
  for (std::size_t i = 0; i < files.count; ++i) {
    if (is_like_pad(files.paths.at(i))) taken.insert(files.paths.at(i));
  }
  const bool has_file = taken.count(".pad") != 0;
  std::unordered_set<std::uint64_t> lengths;
  const auto on_pad = [&](std::uint64_t length) {
    const std::string name = std::string(".pad\0", 5) + std::to_string(length);
    const bool is_new = lengths.insert(length).second;
    if (is_new && !has_file && taken.count(name) == 0) return;
    if (sizes.shared_pads == 0) sizes.first_shared_pad = static_cast<double>(length);
    ++sizes.shared_pads;
  };
  lay_out(
      files, padding, stopped, [](std::size_t, std::uint64_t) {}, on_pad);
}

void measure_list(const FileColumns& files, const Padding& padding, const std::atomic<bool>& stopped,
                  FileSizes& sizes) {
  Counter list;
  write_list(files, padding, stopped, list);
  const auto count_pad = [&](std::uint64_t length) {
    ++sizes.pads;
    sizes.pad_bytes += static_cast<double>(length);
  };
  lay_out(
      files, padding, stopped, [](std::size_t, std::uint64_t) {}, count_pad);
  sizes.list_bytes = static_cast<double>(list.bytes);
  // An entry is a dictionary with two keys and values, one of them a list; a pad file has `attr` too.
  sizes.list_items =
      5 * (static_cast<double>(files.count) + sizes.pads) + static_cast<double>(list.texts) + 2 * sizes.pads;
  if (padding.names == PadNames::libtorrent && sizes.pads != 0)
    measure_shared_pads(files, padding, stopped, sizes);
}

void measure_file(string_view path, double length, double piece_length, FileSizes& sizes) {
  sizes.bytes += length;
  sizes.longest = std::max(sizes.longest, length);
  const double pieces = std::ceil(length / piece_length);
  sizes.pieces += pieces;
  if (length > piece_length) {
    const auto bytes = static_cast<std::uint64_t>(32 * pieces);
    ++sizes.layers;
    sizes.layer_bytes += static_cast<double>(kRootBytes + 3 + digits(bytes) + 1 + bytes);
  }
  const auto components = static_cast<double>(std::count(path.begin(), path.end(), '\0') + !path.empty());
  sizes.components = std::max(sizes.components, components);
  // A separator counts as a unit, and stands for the one of its component.
  sizes.path_units += static_cast<double>(utf16_units(path) + !path.empty());
  sizes.tree_items += length > 0 ? 6 : 4;
}

}  // namespace

ByteArray encode_file_list(const FileColumns& files, const Padding& padding,
                           const std::atomic<bool>& stopped) {
  return encoded([&](auto& out) { write_list(files, padding, stopped, out); });
}

ByteArray encode_file_tree(const FileColumns& files, const std::uint8_t* roots,
                           const std::atomic<bool>& stopped) {
  return encoded([&](auto& out) { write_tree(files, roots, stopped, out); });
}

FileSizes measure_files(const FileColumns& files, const Padding& padding, std::uint64_t piece_length,
                        std::size_t max_components, const std::atomic<bool>& stopped) {
  FileSizes sizes;
  for (std::size_t i = 0; i < files.count && !stopped_at(i, stopped); ++i) {
    measure_file(files.paths.at(i), files.lengths.get()[i], static_cast<double>(piece_length), sizes);
    const bool is_deep = sizes.components > static_cast<double>(max_components);
    if (is_deep && sizes.deepest < 0) sizes.deepest = static_cast<double>(i);
  }
  measure_list(files, padding, stopped, sizes);
  Counter tree;
  write_tree(files, nullptr, stopped, tree);
  sizes.tree_bytes = static_cast<double>(tree.bytes);
  sizes.tree_items += 2 * static_cast<double>(tree.texts);
  return sizes;
}

}  // namespace metainfo
