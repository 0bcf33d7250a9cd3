// How much the tests look at. Where every instruction is slow (valgrind, qemu) METAINFO_TEST_THIN=N has loops
// over many cases take every Nth only.
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

// Whether too little memory is thrown as such: sanitizers and valgrind end the process instead.
inline bool throws_bad_alloc() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return thin() == 1;
#endif
}

// `if (!sample.next()) continue;` at the start of a loop's body. The first case is always taken.
class Sample {
 public:
  bool next() { return count_++ % thin() == 0; }

 private:
  std::size_t count_ = 0;
};
