// The lists of kernels that tests run with.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/kernel.h"

// One list for each kernel that this CPU can run: that kernel and all further down. METAINFO_KERNEL names the
// first kernel.
inline const std::vector<metainfo::Kernels>& kernel_lists() {
  static const std::vector<metainfo::Kernels> all = [] {
    metainfo::Kernels kernels;
    if (!metainfo::select_kernels(std::getenv("METAINFO_KERNEL"), kernels))
      throw std::runtime_error("METAINFO_KERNEL names no kernel that this CPU can run");
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

inline metainfo::Kernels only(const metainfo::Kernel& kernel) {
  metainfo::Kernels kernels{};
  kernels.list[0] = &kernel;
  kernels.count = 1;
  return kernels;
}
