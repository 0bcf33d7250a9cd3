// Draws small random requests of every version, and ways to hash them.
#pragma once

#include <filesystem>
#include <random>
#include <string>

#include "bytes.h"
#include "files.h"
#include "kernel_lists.h"
#include "plans.h"

namespace fuzz {

// A temporary folder, on a file system in memory if there is one.
class Folder {
 public:
  Folder() {
    std::filesystem::path base = std::filesystem::temp_directory_path();
#ifndef _WIN32
    if (std::filesystem::is_directory("/dev/shm")) base = "/dev/shm";
#endif
    do path_ = (base / ("metainfo-fuzz-" + std::to_string(std::random_device()()))).string();
    while (!std::filesystem::create_directory(path_));
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string path(std::size_t i) const { return path_ + "/" + std::to_string(i); }

 private:
  std::string path_;
};

inline std::uint64_t length(Input& input, std::uint64_t piece) {
  switch (input.below(6)) {
    case 0:
      return 0;
    case 1:
      return input.below(200);
    case 2:
      return piece * input.below(4) + input.below(3);
    case 3:
      return piece * (1 + input.below(3)) - input.below(2);
    case 4:
      return requests::kBlock * input.below(5) + input.below(3);
    default:
      return input.below(100000);
  }
}

// Some files of the request do not exist: it marks missing files.
inline metainfo::HashRequest random_request(Input& input, const Folder& folder) {
  using requests::kBlock;
  metainfo::HashRequest request;
  request.version = requests::kVersions[input.below(3)];
  request.piece_length = kBlock << input.below(8);
  if (request.version == metainfo::Version::v1 && input.below(2) == 0)
    request.piece_length = 20 + input.below(30000);
  request.mark_missing = true;
  std::uint64_t end = 0;
  for (std::size_t i = input.below(20); i != 0 && end < (4 << 20); --i) {
    if (input.below(5) == 0) {
      request.files.push_back(requests::pad(length(input, request.piece_length)));
      end += request.files.back().length;
      continue;
    }
    const std::uint64_t gap =
        end % request.piece_length == 0 ? 0 : request.piece_length - end % request.piece_length;
    if (gap != 0 && (request.version == metainfo::Version::hybrid || input.below(3) == 0)) {
      request.files.push_back(requests::pad(gap));
      end += gap;
    }
    const std::uint64_t before = input.below(4) == 0 ? input.below(5000) : 0;
    const std::uint64_t bytes = length(input, request.piece_length);
    const std::uint64_t after = input.below(4) == 0 ? input.below(5000) : 0;
    metainfo::RequestedFile file =
        requests::unchecked(folder.path(request.files.size()), before + bytes + after);
    file.offset = before;
    file.length = bytes;
    if (input.below(8) != 0)
      write_file(file.path, input.content(file.size));
    else
      std::filesystem::remove(file.path);
    request.files.push_back(file);
    end += bytes;
  }
  return request;
}

inline requests::Setting random_setting(Input& input) {
  requests::Setting setting;
  setting.threads = 1 + static_cast<unsigned>(input.below(4));
  setting.read_size = requests::kBlock * (1 + input.below(80));
  setting.reads = 1 + input.below(20);
  setting.kernels = &kernel_lists()[input.below(kernel_lists().size())];
  setting.as_job = input.below(2) == 0;
  return setting;
}

}  // namespace fuzz
