// Copies columns in another order.
#include "core/file_columns.h"

namespace metainfo {

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

std::vector<double> reordered(const double* numbers, const std::vector<std::uint32_t>& order) {
  std::vector<double> result;
  result.reserve(order.size());
  for (const std::uint32_t index : order) result.push_back(numbers[index]);
  return result;
}

}  // namespace metainfo
