// doctest with readable byte sequences, and a helper for expected exceptions. Every native test includes it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

// Prints the number of elements and the first ones.
template <typename Range>
doctest::String show_range(const Range& range) {
  constexpr std::ptrdiff_t kShown = 64;
  std::ostringstream out;
  out << range.size() << " elements";
  std::for_each_n(range.begin(), std::min<std::ptrdiff_t>(kShown, range.end() - range.begin()),
                  [&](const auto& element) {
                    if constexpr (sizeof element == 1) {
                      out << ' ' << static_cast<int>(element);
                    } else {
                      out << ' ' << doctest::toString(element);
                    }
                  });
  if (range.end() - range.begin() > kShown) out << " ...";
  return out.str().c_str();
}

namespace doctest {
template <typename T>
struct StringMaker<std::vector<T>> {
  static String convert(const std::vector<T>& range) { return show_range(range); }
};
template <typename T, std::size_t N>
struct StringMaker<std::array<T, N>> {
  static String convert(const std::array<T, N>& range) { return show_range(range); }
};
}  // namespace doctest

// The index of the first element that differs, for messages about ranges that are too long to print.
template <typename Range>
std::ptrdiff_t first_difference(const Range& a, const Range& b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

// Runs `action` and returns what it throws. REQUIRE_THROWS_AS would not return it.
template <typename Thrown, typename Action>
Thrown thrown_by(Action action) {
  try {
    action();
  } catch (Thrown& value) {
    return std::move(value);
  }
  throw std::logic_error("the action threw nothing");
}
