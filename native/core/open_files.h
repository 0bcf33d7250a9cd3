// The files that one worker has open: few, however many the plan has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/reader.h"
#include "core/work.h"

namespace metainfo {

class OpenFiles {
 public:
  explicit OpenFiles(Work& work, Seat* seat = nullptr) : work_(work), seat_(seat) {}

  // Null when the file is missing and that is to be marked. Stays until the next call. Throws Failure.
  const Reader* get(std::size_t file);

  // Closes it. These throw a Failure when a file is no longer what was planned.
  void close(std::size_t file);
  void close_all();

 private:
  struct Entry {
    bool used = false;
    std::size_t file = 0;
    std::uint64_t last_use = 0;
    std::optional<Reader> reader;  // none: the file is missing
  };

  void close(Entry& entry);

  // A file for each lane, when lanes are in different ones.
  static constexpr std::size_t kMost = kMostLanes;

  Work& work_;
  Seat* seat_;
  std::array<Entry, kMost> entries_;
  Entry* latest_ = nullptr;
  std::uint64_t uses_ = 0;
};

}  // namespace metainfo
