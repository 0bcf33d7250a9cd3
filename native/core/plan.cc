// Makes single files from the columns of a plan.
#include "core/plan.h"

#include <algorithm>

namespace metainfo {
namespace {

#ifdef _WIN32
constexpr char kSeparator = '\\';
#else
constexpr char kSeparator = '/';
#endif

}  // namespace

std::string Plan::path(std::size_t i) const {
  if (!columns) return files[i].path;
  const std::string_view below = columns->files.paths.at(i);
  std::string path = columns->root;
  if (below.empty()) return path;
  if (path.empty() || path.back() != kSeparator) path += kSeparator;
  const auto start = static_cast<std::ptrdiff_t>(path.size());
  path += below;
  std::replace(path.begin() + start, path.end(), '\0', kSeparator);
  return path;
}

PlanFile Plan::file(std::size_t i) const {
  if (!columns) return files[i];
  PlanFile file;
  file.path = path(i);
  const std::size_t below = columns->files.paths.at(i).size();
  if (below != 0) file.below_root = file.path.size() - below;
  file.length = file.size = length(i);
  file.mtime_ms = columns->mtimes_ms[i];
  return file;
}

}  // namespace metainfo
