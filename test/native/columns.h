// Columns of files for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/file_columns.h"

// Columns that own their memory. Paths are written with `/` between their components.
class OwnColumns {
 public:
  explicit OwnColumns(const std::vector<std::pair<std::string, double>>& files) {
    for (const auto& [path, length] : files) {
      bytes_ += path;
      ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
      lengths_.push_back(length);
    }
    std::replace(bytes_.begin(), bytes_.end(), '/', '\0');
  }
  OwnColumns(const OwnColumns&) = delete;
  OwnColumns& operator=(const OwnColumns&) = delete;

  metainfo::FileColumns view() const {
    return {ends_.size(), {bytes_.data(), ends_.data()}, lengths_.data()};
  }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
  std::vector<double> lengths_;
};
