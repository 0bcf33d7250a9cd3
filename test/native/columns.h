// Columns of files for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/table/file_columns.h"

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
    return {ends_.size(), {column(bytes_.data()), column(ends_.data())}, column(lengths_.data())};
  }

 private:
  template <typename T>
  static metainfo::Column<T> column(const T* data) {
    return metainfo::Column<T>(std::shared_ptr<void>(), data);
  }

  std::string bytes_;
  std::vector<std::uint32_t> ends_;
  std::vector<double> lengths_;
};
