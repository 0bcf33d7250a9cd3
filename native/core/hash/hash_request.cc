// Makes single files from the columns of a request.
#include "core/hash/hash_request.h"

namespace metainfo {

std::string HashRequest::path(std::size_t i) const {
  return columns ? disk_path(columns->root, columns->files.paths.at(i)) : files[i].path;
}

RequestedFile HashRequest::file(std::size_t i) const {
  if (!columns) return files[i];
  RequestedFile file;
  file.path = path(i);
  const std::size_t below = columns->files.paths.at(i).size();
  if (below != 0) file.below_root = file.path.size() - below;
  file.length = file.size = length(i);
  file.mtime_ms = columns->mtimes_ms.get()[i];
  return file;
}

}  // namespace metainfo
