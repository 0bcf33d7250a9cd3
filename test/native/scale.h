// Scales the tests down where every instruction is slow (valgrind, qemu): with METAINFO_TEST_THIN=N, loops
// over many cases take every Nth case only.
#pragma once

#include <cstddef>
#include <cstdlib>

inline std::size_t thin() {
  static const std::size_t value = [] {
    const char* text = std::getenv("METAINFO_TEST_THIN");
    const int number = text == nullptr ? 1 : std::atoi(text);
    return static_cast<std::size_t>(number < 1 ? 1 : number);
  }();
  return value;
}

// Whether a huge allocation throws std::bad_alloc: sanitizers and valgrind end the process instead.
inline bool throws_bad_alloc() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return thin() == 1;
#endif
}

// Selects the cases of a loop: `if (!sample.next()) continue;`. The first case is always taken.
class Sample {
 public:
  bool next() { return count_++ % thin() == 0; }

 private:
  std::size_t count_ = 0;
};
