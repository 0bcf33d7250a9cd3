// The kernels' table as tests iterate it.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/kernel.h"

// For every row that this CPU can run, the table from it downwards. METAINFO_KERNEL names the first.
inline const std::vector<metainfo::Kernels>& kernel_lists() {
  static const std::vector<metainfo::Kernels> all = [] {
    metainfo::Kernels kernels;
    if (!metainfo::select_kernels(std::getenv("METAINFO_KERNEL"), kernels))
      throw std::runtime_error("METAINFO_KERNEL names no row that this CPU can run");
    std::vector<metainfo::Kernels> found;
    for (std::size_t first = 0; first < kernels.count; ++first) {
      metainfo::Kernels below{};
      while (first + below.count < kernels.count) {
        below.list[below.count] = kernels.list[first + below.count];
        ++below.count;
      }
      found.push_back(below);
    }
    return found;
  }();
  return all;
}

inline const metainfo::Kernels& best() { return kernel_lists().front(); }

inline std::string name_of(const metainfo::Kernels& kernels) { return kernels.list[0]->name; }

inline metainfo::Kernels only(const metainfo::Kernel& row) {
  metainfo::Kernels kernels{};
  kernels.list[0] = &row;
  kernels.count = 1;
  return kernels;
}
