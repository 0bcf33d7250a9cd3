#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "check.h"
#include "core/sha.h"
#include "kernels/kernel.h"
#include "oracle.h"

using metainfo::Kernel;
using metainfo::runnable_kernel;
using metainfo::select_kernel;
using metainfo::Sha1;
using metainfo::Sha256;
using oracle::Bytes;

namespace {

// FIPS 180-4, 5.1.1: a one, zeros, and the length in bits as 8 bytes.
Bytes padded(Bytes message) {
  const std::uint64_t bits = message.size() * 8;
  message.push_back(0x80);
  while (message.size() % 64 != 56) message.push_back(0);
  for (int shift = 56; shift >= 0; shift -= 8) message.push_back(static_cast<std::uint8_t>(bits >> shift));
  return message;
}

// Hashes as many different messages of one length as the row has lanes, each at an odd place in memory, in
// two calls; answers whether every lane has its own digest.
template <typename Sha, typename Oracle>
bool lanes_agree(const Kernel& kernel, std::size_t length, Oracle expected) {
  const std::vector<typename Sha::State> initial(kernel.lanes, Sha::kInitial);
  std::vector<typename Sha::State> states = initial;
  std::vector<Bytes> messages;
  std::vector<Bytes> memory;
  std::vector<const std::uint8_t*> data;
  std::size_t blocks = 0;
  for (std::size_t lane = 0; lane < kernel.lanes; ++lane) {
    messages.push_back(oracle::content(length, lane + 1));
    const Bytes whole = padded(messages.back());
    const std::size_t gap = (length + lane) % 17;
    memory.emplace_back(gap + whole.size());
    std::copy(whole.begin(), whole.end(), memory.back().begin() + static_cast<std::ptrdiff_t>(gap));
    data.push_back(memory.back().data() + gap);
    blocks = whole.size() / 64;
  }
  const std::size_t first = length % (blocks + 1);
  Sha::many(kernel, states.data(), data.data(), first);
  for (const std::uint8_t*& lane : data) lane += first * 64;
  Sha::many(kernel, states.data(), data.data(), blocks - first);
  for (std::size_t lane = 0; lane < kernel.lanes; ++lane) {
    const auto digest = expected(messages[lane].data(), length);
    for (std::size_t i = 0; i < digest.size(); ++i) {
      if (static_cast<std::uint8_t>(states[lane].h[i / 4] >> (24 - 8 * (i % 4))) != digest[i]) return false;
    }
  }
  return true;
}

}  // namespace

TEST("registry: rows are whole, of different names, and end") {
  std::set<std::string> names;
  std::size_t row = 0;
  for (; const Kernel* kernel = runnable_kernel(row); ++row) {
    CHECK(*kernel->name != '\0');
    CHECK(names.insert(kernel->name).second);
    CHECK(kernel->lanes >= 1);
    CHECK(kernel->sha1_many != nullptr && kernel->sha256_many != nullptr);
  }
  CHECK(row >= 1);
  CHECK(runnable_kernel(row + 1) == nullptr);
  CHECK(runnable_kernel(SIZE_MAX) == nullptr);
  CHECK_EQUAL(names.count("openssl"), 1U);
}

TEST("registry: the best row is used unless one is named") {
  CHECK(select_kernel(nullptr) == runnable_kernel(0));
  CHECK(select_kernel("") == runnable_kernel(0));
  for (std::size_t row = 0; const Kernel* kernel = runnable_kernel(row); ++row)
    CHECK(select_kernel(kernel->name) == kernel);
}

TEST("registry: a name that no row has gives no row") {
  for (const char* name : {"unknown", "openss", "openssl2", "OpenSSL", "openssl ", " "}) {
    const check::Case round(name);
    CHECK(select_kernel(name) == nullptr);
  }
}

TEST("registry: every row hashes every lane as OpenSSL does") {
  for (std::size_t row = 0; const Kernel* kernel = runnable_kernel(row); ++row) {
    for (std::size_t length = 0; length <= 16500; length = length == 300 ? 16320 : length + 1) {
      const check::Case round(std::string(kernel->name) + ", " + std::to_string(length) + " bytes");
      CHECK(lanes_agree<Sha1>(*kernel, length, oracle::sha1));
      CHECK(lanes_agree<Sha256>(*kernel, length, oracle::sha256));
    }
  }
}
