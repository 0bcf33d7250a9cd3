// Replays the stored inputs of a fuzz target, also under sanitizers, valgrind and emulators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "scale.h"
#include "test.h"

// Each line of fuzz/inputs/TARGET.txt is an input: see scripts/fuzz-inputs.mjs. If one fails, find it with
// `npm run fuzz -- TARGET NAME ...`.
inline void replay(const std::string& target, int (*run)(const std::uint8_t*, std::size_t)) {
  std::size_t count = 0;
  Sample sample;
  std::ifstream file("fuzz/inputs/" + target + ".txt", std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    ++count;
    if (!sample.next()) continue;
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = line.find(' ') + 1; i < line.size(); ++i) {
      const bool escaped = line[i] == '%';
      bytes.push_back(escaped ? std::stoi(line.substr(i + 1, 2), nullptr, 16) : line[i]);
      if (escaped) i += 2;
    }
    run(bytes.data(), bytes.size());
  }
  REQUIRE(count > 10);
}
