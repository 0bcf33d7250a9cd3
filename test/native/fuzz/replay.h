// Replays the kept corpus of a fuzz target, also under sanitizers, valgrind and emulators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "scale.h"
#include "test.h"

// If an input fails, find it with `npm run fuzz -- TARGET FILE ...`.
inline void replay(const std::string& target, int (*run)(const std::uint8_t*, std::size_t)) {
  std::size_t count = 0;
  Sample sample;
  for (const char* folder : {"fuzz/corpus/", "fuzz/found/"}) {
    if (!std::filesystem::exists(folder + target)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder + target)) {
      ++count;
      if (!sample.next()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
      run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
  }
  REQUIRE(count > 10);
}
