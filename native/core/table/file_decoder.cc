// Reads usual files in place, and gives up at the first byte that it does not expect.
#include "core/table/file_decoder.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "core/table/path_order.h"
#include "core/table/utf8.h"

namespace metainfo {
namespace {

using std::string_view;

// A length with more digits may not be exact in a double.
constexpr std::size_t kMaxDigits = 15;
// A tree may repeat long folders in the paths of many files. JavaScript reads larger ones, within its limits.
constexpr std::size_t kMaxPathBytes = std::size_t{1} << 27;
// JavaScript refuses deeper trees.
constexpr std::size_t kMaxFolders = 1000;
// Marks a name that was made of bytes that were not UTF-8.
constexpr string_view kReplacement = "\xef\xbf\xbd";

// Thrown for anything unusual.
struct Unusual {};

void require(bool usual) {
  if (!usual) throw Unusual{};
}

class Reader {
 public:
  Reader(string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  std::size_t at() const { return at_; }

  char next() const {
    require(at_ < bytes_.size());
    return bytes_[at_];
  }

  bool skip(string_view expected) {
    if (bytes_.compare(at_, expected.size(), expected) != 0) return false;
    at_ += expected.size();
    return true;
  }

  std::uint64_t number(char end) {
    const std::size_t start = at_;
    std::uint64_t value = 0;
    for (; next() >= '0' && next() <= '9'; ++at_) {
      value = value * 10 + static_cast<std::uint64_t>(next() - '0');
      require(at_ - start < kMaxDigits);
    }
    const std::size_t digits = at_ - start;
    require(digits > 0 && (digits == 1 || bytes_[start] != '0') && next() == end);
    ++at_;
    return value;
  }

  string_view take(std::uint64_t size) {
    require(size <= bytes_.size() - at_);
    const string_view taken = bytes_.substr(at_, static_cast<std::size_t>(size));
    at_ += taken.size();
    return taken;
  }

  string_view text() { return take(number(':')); }

 private:
  const string_view bytes_;
  std::size_t at_;
};

// Takes names that are safe whatever the rules, as unsafeComponent of src/layout/safe-path.ts has them.
void require_safe(string_view name) {
  require(!name.empty() && name != "." && name != ".." &&
          name.substr(0, kBitCometPad.size()) != kBitCometPad);
  bool ascii = true;
  for (const char byte : name) {
    require(byte != '/' && byte != '\\' && byte != ':' && byte != '\0');
    if (static_cast<std::uint8_t>(byte) >= 0x80) ascii = false;
  }
  require(ascii || (is_utf8(name) && name.find(kReplacement) == string_view::npos));
}

// Whether a path has the form of .pad/16383.1, with any number of `_` after .pad.
bool is_numbered_pad(string_view path) {
  const std::size_t folder_end = path.find('\0');
  if (folder_end == string_view::npos || path.substr(0, 4) != ".pad") return false;
  if (path.substr(4, folder_end - 4).find_first_not_of('_') != string_view::npos) return false;
  const string_view name = path.substr(folder_end + 1);
  const std::size_t dot = name.find('.');
  if (dot == string_view::npos || dot == 0 || dot + 1 == name.size()) return false;
  constexpr string_view kDigits = "0123456789";
  return name.find_first_not_of(kDigits) == dot &&
         name.find_first_not_of(kDigits, dot + 1) == string_view::npos;
}

class Decoder {
 public:
  Decoder(string_view bytes, std::size_t at) : reader_(bytes, at) {}

  DecodedFiles list() {
    require(reader_.skip("l"));
    files_.depth = 2;
    while (reader_.next() != 'e') item();
    require(files_.count > 0);
    finish();
    require_different_paths();
    return std::move(files_);
  }

  DecodedFiles tree() {
    require(reader_.skip("d"));
    while (!folders_.empty() || reader_.next() != 'e') entry();
    require(files_.count > 0);
    finish();
    return std::move(files_);
  }

 private:
  // d[4:attrN:..]6:lengthi..e4:pathl..ee
  void item() {
    require(reader_.skip("d"));
    const bool pad = attributes();
    const std::uint64_t length = file_length();
    require(reader_.skip("4:pathl"));
    const std::size_t start = files_.paths.bytes.size();
    do {
      if (files_.paths.bytes.size() > start) files_.paths.bytes.push_back('\0');
      add_name(name());
      files_.items += 1;
    } while (reader_.next() != 'e');
    require(reader_.skip("ee"));
    files_.items += 5;
    files_.count += 1;
    if (pad) {
      require(length > 0);
      const PathArray& paths = files_.paths;
      const string_view path{paths.bytes.data() + start, paths.bytes.size() - start};
      (is_numbered_pad(path) ? files_.numbered_pads : files_.plain_pads) = true;
      files_.paths.bytes.resize(start);
    }
    files_.entry_lengths.push_back(static_cast<double>(length));
    const auto index = static_cast<std::int32_t>(files_.lengths.size());
    files_.entry_files.push_back(pad ? DecodedFiles::kPad : length == 0 ? DecodedFiles::kEmpty : index);
    if (!pad) add_file(length);
  }

  // A name with a folder, a file or the end of a folder.
  void entry() {
    if (reader_.next() == 'e') {
      require(!folders_.back().last.empty() && reader_.skip("e"));
      path_.resize(folders_.back().start);
      folders_.pop_back();
      return;
    }
    const string_view own = name();
    string_view& last = folders_.empty() ? last_ : folders_.back().last;
    require(last.data() == nullptr || last < own);
    last = own;
    files_.items += 2;
    if (reader_.skip("d0:d")) {
      files_.depth = std::max(files_.depth, folders_.size() + 2);
      append(path_);
      add_name(own);
      leaf();
      return;
    }
    require(reader_.skip("d") && folders_.size() < kMaxFolders);
    folders_.push_back({path_.size(), {}});
    path_.append(own);
    path_ += '\0';
    files_.depth = std::max(files_.depth, folders_.size());
  }

  // The rest of d0:d[4:attrN:..]6:lengthi..e[11:pieces root32:..]ee
  void leaf() {
    require(!attributes());
    const std::uint64_t length = file_length();
    const std::size_t start = files_.roots.size();
    files_.roots.resize(start + kRootBytes);
    if (length > 0) {
      require(reader_.skip("11:pieces root32:"));
      const string_view root = reader_.take(kRootBytes);
      require(std::any_of(root.begin(), root.end(), [](char byte) { return byte != 0; }));
      std::memcpy(files_.roots.data() + start, root.data(), kRootBytes);
      files_.items += 2;
    }
    require(reader_.skip("ee"));
    files_.items += 4;
    files_.count += 1;
    add_file(length);
  }

  // Whether the file is a pad file.
  bool attributes() {
    if (!reader_.skip("4:attr")) return false;
    const string_view flags = reader_.text();
    require(flags.find('l') == string_view::npos);
    files_.longest = std::max(files_.longest, flags.size());
    files_.items += 2;
    const bool pad = flags.find('p') != string_view::npos;
    files_.attributes |= !pad;
    return pad;
  }

  std::uint64_t file_length() {
    require(reader_.skip("6:lengthi"));
    return reader_.number('e');
  }

  string_view name() {
    const string_view name = reader_.text();
    require_safe(name);
    files_.longest = std::max(files_.longest, name.size());
    return name;
  }

  void append(string_view text) {
    files_.paths.bytes.insert(files_.paths.bytes.end(), text.begin(), text.end());
  }

  void add_name(string_view name) {
    append(name);
    require(files_.paths.bytes.size() < kMaxPathBytes);
  }

  // Adds a file whose path has been added.
  void add_file(std::uint64_t length) {
    files_.paths.ends.push_back(static_cast<std::uint32_t>(files_.paths.bytes.size()));
    files_.lengths.push_back(static_cast<double>(length));
  }

  void finish() {
    require(reader_.skip("e"));
    files_.end = reader_.at();
    const PathArray& paths = files_.paths;
    // A zero byte between two components counts for the first one.
    files_.path_units = utf16_units({paths.bytes.data(), paths.bytes.size()}) + paths.ends.size();
  }

  // No two paths are equal, and none leads through a file.
  void require_different_paths() const {
    const std::size_t count = files_.paths.ends.size();
    const PathColumn paths = {{Column<char>(), files_.paths.bytes.data()},
                              {Column<std::uint32_t>(), files_.paths.ends.data()}};
    const std::atomic<bool> stopped{false};
    bool ordered = true;
    for (std::size_t i = 1; ordered && i < count; ++i) ordered = paths.at(i - 1) < paths.at(i);
    std::vector<std::uint32_t> order;
    if (!ordered) order = v2_order(paths, count, stopped);
    for (std::size_t i = order.size(); i < count; ++i) order.push_back(static_cast<std::uint32_t>(i));
    require(first_collision(paths, order) == count);
  }

  struct Folder {
    std::size_t start;  // where its name begins in `path_`
    string_view last;   // the name that was read last
  };

  Reader reader_;
  DecodedFiles files_;
  std::vector<Folder> folders_;
  std::string path_;  // of the innermost folder, with a zero byte after each component
  string_view last_;
};

}  // namespace

std::optional<DecodedFiles> decode_files(string_view bytes, std::size_t at) {
  if (at >= bytes.size()) return std::nullopt;
  try {
    Decoder decoder(bytes, at);
    return bytes[at] == 'l' ? decoder.list() : decoder.tree();
  } catch (const Unusual&) {
    return std::nullopt;
  }
}

}  // namespace metainfo
