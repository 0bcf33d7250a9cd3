// Reads the input of a fuzzer as a sequence of choices, followed by content.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  bool empty() const { return at_ == size_; }

  // A choice below `limit`; 0 when the input is used up.
  std::uint64_t below(std::uint64_t limit) {
    std::uint64_t value = 0;
    for (std::uint64_t most = limit - 1; most != 0; most >>= 8) value = value << 8 | next();
    return value % limit;
  }

  // Bytes that depend on the input and on their position.
  std::vector<std::uint8_t> content(std::size_t size) {
    const std::uint8_t seed = next();
    const std::uint8_t step = next();
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<std::uint8_t>((seed + i * (step | 1u)) % 251);
    // The rest of the input appears unchanged at the start.
    const std::size_t raw = std::min({size, size_ - at_, std::size_t{256}});
    std::copy_n(data_ + at_, raw, bytes.begin());
    at_ += std::min<std::size_t>(raw, 8);
    return bytes;
  }

 private:
  std::uint8_t next() { return at_ == size_ ? std::uint8_t{0} : data_[at_++]; }

  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

}  // namespace fuzz
