// Makes single files from the columns of a request.
#include "core/hash/hash_request.h"

namespace metainfo {

std::string HashRequest::path(std::size_t i) const { return columns ? file(i).path : files[i].path; }

RequestedFile HashRequest::file(std::size_t i) const {
  if (!columns) return files[i];
  RequestedFile file;
  file.length = length(i);
  file.pad = is_pad(i);
  if (file.pad) return file;
  std::size_t row = i;
  if (columns->ranges) {
    row = columns->ranges->files.get()[i];
    file.offset = static_cast<std::uint64_t>(columns->ranges->offsets.get()[i]);
  }
  const std::string_view below = columns->files.paths.at(row);
  file.path = disk_path(columns->root, below);
  if (!below.empty()) file.below_root = file.path.size() - below.size();
  file.size = static_cast<std::uint64_t>(columns->files.lengths.get()[row]);
  file.mtime_ms = columns->mtimes_ms.get()[row];
  return file;
}

}  // namespace metainfo
