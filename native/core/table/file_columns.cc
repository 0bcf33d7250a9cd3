// Copies columns in another order, makes the paths of the system, and finds out what all files have in
// common.
#include "core/table/file_columns.h"

#include <algorithm>
#include <cmath>

namespace metainfo {
namespace {

#ifdef _WIN32
constexpr char kSeparator = '\\';
#else
constexpr char kSeparator = '/';
#endif

}  // namespace

std::string disk_path(const std::string& root, std::string_view path) {
  std::string joined = root;
  if (path.empty()) return joined;
  if (joined.empty() || joined.back() != kSeparator) joined += kSeparator;
  const auto start = static_cast<std::ptrdiff_t>(joined.size());
  joined += path;
  std::replace(joined.begin() + start, joined.end(), '\0', kSeparator);
  return joined;
}

PathArray reordered(const PathColumn& paths, const std::vector<std::uint32_t>& order) {
  PathArray result;
  std::size_t size = 0;
  for (const std::uint32_t index : order) size += paths.at(index).size();
  result.bytes.reserve(size);
  result.ends.reserve(order.size());
  for (const std::uint32_t index : order) {
    const std::string_view path = paths.at(index);
    result.bytes.insert(result.bytes.end(), path.begin(), path.end());
    result.ends.push_back(static_cast<std::uint32_t>(result.bytes.size()));
  }
  return result;
}

std::vector<double> reordered(const Column<double>& numbers, const std::vector<std::uint32_t>& order) {
  std::vector<double> result;
  result.reserve(order.size());
  for (const std::uint32_t index : order) result.push_back(numbers[index]);
  return result;
}

FileFacts facts_of(const FileColumns& files) {
  FileFacts facts;
  for (std::size_t i = 0; i < files.count; ++i) {
    if (!std::isnan(files.lengths.get()[i])) facts.total_length += files.lengths.get()[i];
  }
  const std::size_t size = files.count == 0 ? 0 : files.paths.ends.get()[files.count - 1];
  facts.names_like_pads =
      std::string_view(files.paths.bytes.get(), size).find(kBitCometPad) != std::string_view::npos;
  return facts;
}

}  // namespace metainfo
