#include "core/sha.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "oracle.h"

using metainfo::Kernel;
using metainfo::Message;
using metainfo::Sha1;
using metainfo::Sha1Digest;
using metainfo::Sha1State;
using metainfo::Sha256;
using metainfo::Sha256State;
using oracle::Bytes;

namespace {

// The rows that a Message can run on.
std::vector<const Kernel*> rows() {
  std::vector<const Kernel*> found;
  for (std::size_t row = 0; const Kernel* kernel = metainfo::runnable_kernel(row); ++row) {
    if (kernel->lanes == 1) found.push_back(kernel);
  }
  return found;
}

// In parts of `part` bytes, the last one shorter.
template <typename Sha>
typename Sha::Digest in_parts(const Kernel& kernel, const std::uint8_t* data, std::size_t size,
                              std::size_t part) {
  Message<Sha> message(kernel);
  for (std::size_t at = 0; at < size; at += part) message.update(data + at, std::min(part, size - at));
  return message.finish();
}

template <typename Sha>
typename Sha::Digest whole(const Kernel& kernel, const std::uint8_t* data, std::size_t size) {
  return in_parts<Sha>(kernel, data, size, size + 1);
}

template <typename Sha>
typename Sha::Digest with_zeros(const Bytes& start, std::uint64_t zeros) {
  Message<Sha> message(*rows().front());
  message.update(start.data(), start.size());
  message.zeros(zeros);
  return message.finish();
}

template <typename Digest>
std::string hex(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

struct Vector {
  std::string message;
  const char* sha1;
  const char* sha256;
};

// NIST's examples for FIPS 180: none, 24, 448 and 896 bits, and a million times 'a'.
const std::vector<Vector>& vectors() {
  static const std::vector<Vector> all = {
      {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d",
       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
       "mnopqrstnopqrstu",
       "a49b2446a02c645bf419f995b67091253a04a259",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(1000000, 'a'), "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  return all;
}

// What a kernel was given, hashed or not: lengths that take long to hash can be checked by their last block.
std::uint64_t blocks_seen;
std::uint8_t last_block[64];

template <typename State>
void watch(State*, const std::uint8_t* const* data, std::size_t blocks) {
  blocks_seen += blocks;
  std::memcpy(last_block, data[0] + (blocks - 1) * 64, 64);
}

}  // namespace

TEST("sha: the vectors of FIPS 180, on every row") {
  for (const Kernel* kernel : rows()) {
    for (const Vector& vector : vectors()) {
      const auto* data = reinterpret_cast<const std::uint8_t*>(vector.message.data());
      const std::size_t size = vector.message.size();
      const check::Case round(std::string(kernel->name) + ", " + std::to_string(size) + " bytes");
      for (const std::size_t part : {size + 1, std::size_t{7}, std::size_t{64}, std::size_t{1009}}) {
        CHECK_EQUAL(hex(in_parts<Sha1>(*kernel, data, size, part)), vector.sha1);
        CHECK_EQUAL(hex(in_parts<Sha256>(*kernel, data, size, part)), vector.sha256);
      }
    }
  }
}

TEST("sha: every length and alignment, on every row, as OpenSSL's one-shot calls") {
  const Bytes memory = oracle::content(17000, 5);
  for (const Kernel* kernel : rows()) {
    for (std::size_t size = 0; size <= 16450; size = size == 300 ? 16320 : size + 1) {
      for (std::size_t shift = 0; shift < 9; ++shift) {
        const check::Case round(std::string(kernel->name) + ", " + std::to_string(size) + " bytes at " +
                                std::to_string(shift));
        const std::uint8_t* data = memory.data() + shift;
        CHECK_EQUAL(whole<Sha1>(*kernel, data, size), oracle::sha1(data, size));
        CHECK_EQUAL(whole<Sha256>(*kernel, data, size), oracle::sha256(data, size));
      }
    }
  }
}

TEST("sha: parts of any size make one message") {
  const Bytes bytes = oracle::content(16385, 6);
  const Kernel& kernel = *rows().front();
  for (const std::size_t size : {63, 64, 65, 127, 128, 129, 300, 16383, 16384, 16385}) {
    const Sha1Digest sha1 = oracle::sha1(bytes.data(), size);
    const metainfo::Sha256Digest sha256 = oracle::sha256(bytes.data(), size);
    for (const std::size_t part : {1, 3, 31, 55, 56, 63, 64, 65, 127, 129, 1000, 16383}) {
      const check::Case round(std::to_string(size) + " bytes by " + std::to_string(part));
      CHECK_EQUAL(in_parts<Sha1>(kernel, bytes.data(), size, part), sha1);
      CHECK_EQUAL(in_parts<Sha256>(kernel, bytes.data(), size, part), sha256);
    }
  }
}

TEST("sha: any two parts, and an empty one between them") {
  const Bytes bytes = oracle::content(200, 7);
  const Sha1Digest expected = oracle::sha1(bytes.data(), bytes.size());
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    const check::Case round("after " + std::to_string(first));
    Message<Sha1> message(*rows().front());
    message.update(bytes.data(), first);
    message.update(bytes.data() + first, 0);
    message.update(bytes.data() + first, bytes.size() - first);
    CHECK_EQUAL(message.finish(), expected);
  }
}

TEST("sha: an empty source may be null") {
  const Bytes bytes = oracle::content(65, 8);
  Message<Sha1> message(*rows().front());
  for (const Bytes& part : {Bytes{}, bytes}) message.update(part.data(), part.size());
  CHECK_EQUAL(message.finish(), oracle::sha1(bytes.data(), bytes.size()));
}

TEST("sha: zeros are zero bytes") {
  const Bytes start = oracle::content(100, 9);
  for (const std::size_t before : {0, 1, 63, 64, 65}) {
    for (const std::size_t size : {0, 1, 62, 63, 64, 65, 16383, 16384, 16385, 40000}) {
      const check::Case round(std::to_string(size) + " zeros after " + std::to_string(before) + " bytes");
      Bytes bytes(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(before));
      const auto sha1 = with_zeros<Sha1>(bytes, size);
      const auto sha256 = with_zeros<Sha256>(bytes, size);
      bytes.resize(before + size);
      CHECK_EQUAL(sha1, oracle::sha1(bytes.data(), bytes.size()));
      CHECK_EQUAL(sha256, oracle::sha256(bytes.data(), bytes.size()));
    }
  }
}

TEST("sha: the length is counted in 64 bits") {
  const Kernel watching = {"watching", 0, 1, watch<Sha1State>, watch<Sha256State>};
  const std::uint64_t size = (std::uint64_t{1} << 33) + 3;
  blocks_seen = 0;
  Message<Sha1> message(watching);
  message.zeros(size);
  message.finish();
  CHECK_EQUAL(blocks_seen, size / 64 + 1);
  const std::vector<int> end(last_block, last_block + 64);
  std::vector<int> expected(64);
  expected[3] = 0x80;
  expected[59] = 0x10;  // 2^36 + 24 bits
  expected[63] = 24;
  CHECK_EQUAL(end, expected);
}
