// Sorts paths by eight bytes at a time, because integers compare much faster than strings.
#include "core/table/path_order.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace metainfo {
namespace {

constexpr std::size_t kKeyBytes = sizeof(std::uint64_t);

// How each byte of a path counts in an order.
using ByteMap = std::array<std::uint8_t, 256>;

constexpr ByteMap byte_map(bool slashes, bool lower) {
  ByteMap map{};
  for (std::size_t byte = 0; byte < map.size(); ++byte) {
    const bool is_upper = byte >= 'A' && byte <= 'Z';
    map[byte] = static_cast<std::uint8_t>(lower && is_upper ? byte + ('a' - 'A') : byte);
  }
  if (slashes) map[0] = '/';
  return map;
}

constexpr ByteMap kBytes = byte_map(false, false);
constexpr ByteMap kBytesWithSlashes = byte_map(true, false);
constexpr ByteMap kLowerWithSlashes = byte_map(true, true);

// A path, and eight of its bytes.
struct Entry {
  std::uint64_t key;
  std::uint32_t index;
};

// Entries whose paths agree in the first `depth` bytes.
struct Range {
  std::size_t first;
  std::size_t last;  // exclusive
  std::size_t depth;
};

// The bytes from `depth` on as a number that compares like them. The path is filled up with zeros, which are
// less than any byte that a longer path has there.
std::uint64_t key_at(std::string_view path, std::size_t depth, const ByteMap& map) {
  std::uint64_t key = 0;
  const std::size_t size = path.size() > depth ? std::min(path.size() - depth, kKeyBytes) : 0;
  for (std::size_t i = 0; i < size; ++i) key = key << 8 | map[static_cast<std::uint8_t>(path[depth + i])];
  return size == 0 ? 0 : key << 8 * (kKeyBytes - size);
}

class Sorter {
 public:
  Sorter(std::size_t count, const std::atomic<bool>& stopped) : entries_(count), stopped_(stopped) {
    for (std::size_t i = 0; i < count; ++i) entries_[i] = {0, static_cast<std::uint32_t>(i)};
  }

  // Moves the paths of one component to the front. Returns how many they are.
  std::size_t partition_nested(const PathColumn& paths) {
    const auto middle = std::stable_partition(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return paths.at(entry.index).find('\0') == std::string_view::npos;
    });
    return static_cast<std::size_t>(middle - entries_.begin());
  }

  // Sorts each range on its own. Returns the ranges of equal paths, which keep their order.
  std::vector<Range> sort(std::vector<Range> ranges, const PathColumn& paths, const ByteMap& map) {
    std::vector<Range> equal;
    while (!ranges.empty() && !stopped_.load(std::memory_order_relaxed)) {
      const Range range = ranges.back();
      ranges.pop_back();
      if (range.last - range.first < 2) continue;
      bool differ = false;
      for (std::size_t i = range.first; i < range.last; ++i) {
        entries_[i].key = key_at(paths.at(entries_[i].index), range.depth, map);
        differ |= entries_[i].key != entries_[range.first].key;
      }
      if (differ) sort_by_key(range);
      add_runs(range, paths, ranges, equal);
    }
    return equal;
  }

  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> result;
    result.reserve(entries_.size());
    for (const Entry& entry : entries_) result.push_back(entry.index);
    return result;
  }

 private:
  void sort_by_key(const Range& range) {
    std::sort(at(range.first), at(range.last), [](const Entry& a, const Entry& b) {
      return a.key != b.key ? a.key < b.key : a.index < b.index;
    });
  }

  // Adds each run of equal keys: to `ranges` if a path goes on, to `equal` if all of them have ended.
  void add_runs(const Range& range, const PathColumn& paths, std::vector<Range>& ranges,
                std::vector<Range>& equal) {
    for (std::size_t first = range.first; first < range.last;) {
      std::size_t last = first;
      std::size_t longest = 0;
      for (; last < range.last && entries_[last].key == entries_[first].key; ++last)
        longest = std::max(longest, paths.at(entries_[last].index).size());
      const std::size_t depth = range.depth + kKeyBytes;
      if (last - first > 1) (longest > depth ? ranges : equal).push_back({first, last, depth});
      first = last;
    }
  }

  std::vector<Entry>::iterator at(std::size_t index) {
    return entries_.begin() + static_cast<std::ptrdiff_t>(index);
  }

  std::vector<Entry> entries_;
  const std::atomic<bool>& stopped_;
};

}  // namespace

std::vector<std::uint32_t> v2_order(const PathColumn& paths, std::size_t count,
                                    const std::atomic<bool>& stopped) {
  Sorter sorter(count, stopped);
  sorter.sort({{0, count, 0}}, paths, kBytes);
  return sorter.order();
}

std::vector<std::uint32_t> v1_order(const PathColumn& paths, const PathColumn* lower, std::size_t count,
                                    const std::atomic<bool>& stopped) {
  Sorter sorter(count, stopped);
  const std::size_t flat = sorter.partition_nested(paths);
  std::vector<Range> equal =
      sorter.sort({{0, flat, 0}, {flat, count, 0}}, lower != nullptr ? *lower : paths, kLowerWithSlashes);
  for (Range& range : equal) range.depth = 0;
  sorter.sort(std::move(equal), paths, kBytesWithSlashes);
  return sorter.order();
}

std::size_t first_collision(const PathColumn& paths, const std::vector<std::uint32_t>& order) {
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::string_view before = paths.at(order[i - 1]);
    const std::string_view path = paths.at(order[i]);
    const bool begins = path.substr(0, before.size()) == before;
    if (begins && (path.size() == before.size() || path[before.size()] == '\0')) return i;
  }
  return order.size();
}

std::vector<std::uint32_t> match_paths(const PathColumn& paths, std::size_t count, const PathColumn& others,
                                       std::size_t other_count, const std::atomic<bool>& stopped) {
  std::vector<std::uint32_t> matches(count, kNoPath);
  const std::vector<std::uint32_t> order = v2_order(paths, count, stopped);
  const std::vector<std::uint32_t> other_order = v2_order(others, other_count, stopped);
  std::size_t next = 0;
  for (const std::uint32_t index : order) {
    if (stopped.load(std::memory_order_relaxed)) break;
    const std::string_view path = paths.at(index);
    while (next < other_count && others.at(other_order[next]) < path) ++next;
    if (next < other_count && others.at(other_order[next]) == path) matches[index] = other_order[next];
  }
  return matches;
}

}  // namespace metainfo
