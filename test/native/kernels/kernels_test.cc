// Tests the functions of every kernel directly, against OpenSSL.
#include "kernels/kernel_functions.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/hash/sha.h"
#include "kernel_lists.h"
#include "oracle.h"
#include "scale.h"
#include "test.h"
#include "vectors.h"

using metainfo::Kernel;
using metainfo::Kernels;
using metainfo::kMaxLanes;
using metainfo::Sha1;
using metainfo::Sha1State;
using metainfo::Sha256;
using metainfo::Sha256State;
using oracle::Bytes;

namespace {

constexpr std::uint8_t kCanary = 0xc5;

// Calls `action` for every kernel.
template <typename Action>
void each_row(Action action) {
  for (const Kernels& kernels : kernel_lists()) {
    INFO(name_of(kernels));
    action(*kernels.list[0]);
  }
}

template <typename State>
Bytes digest_of(const State& state) {
  Bytes digest(sizeof state.h);
  metainfo::write_digest(state, digest.data());
  return digest;
}

template <typename Digest>
Bytes bytes_of(const Digest& digest) {
  return {digest.begin(), digest.end()};
}

Bytes expected(Sha1, const Bytes& message) { return bytes_of(oracle::sha1(message.data(), message.size())); }
Bytes expected(Sha256, const Bytes& message) {
  return bytes_of(oracle::sha256(message.data(), message.size()));
}

// Padded messages for the lanes of a kernel, each in memory of its own.
template <typename Sha>
struct Lanes {
  Lanes(const std::vector<Bytes>& messages, std::size_t shift) : states(messages.size(), Sha::kInitial) {
    for (std::size_t lane = 0; lane < messages.size(); ++lane) {
      const Bytes whole = oracle::padded(messages[lane]);
      const std::size_t gap = (lane * 5 + shift) % 67;
      memory.emplace_back(gap);
      memory.back().insert(memory.back().end(), whole.begin(), whole.end());
      data.push_back(memory.back().data() + gap);
      blocks = whole.size() / 64;
    }
    for (typename Sha::State& state : states) pointers.push_back(&state);
  }

  // Hashes in two calls, so that the second continues from the states of the first.
  void run(const Kernel& kernel, std::size_t first) {
    Sha::many(kernel)(pointers.data(), data.data(), first);
    for (const std::uint8_t*& from : data) from += first * 64;
    Sha::many(kernel)(pointers.data(), data.data(), blocks - first);
  }

  std::vector<typename Sha::State> states;
  std::vector<typename Sha::State*> pointers;
  std::vector<Bytes> memory;
  std::vector<const std::uint8_t*> data;
  std::size_t blocks = 0;
};

template <typename Sha>
void check_length(const Kernel& kernel, std::size_t length) {
  if (Sha::many(kernel) == nullptr) return;
  std::vector<Bytes> messages;
  for (std::size_t lane = 0; lane < kernel.lanes; ++lane)
    messages.push_back(oracle::content(length, lane + 1));
  Lanes<Sha> lanes(messages, length);
  const std::vector<Bytes> memory = lanes.memory;
  lanes.run(kernel, length % (lanes.blocks + 1));
  for (std::size_t lane = 0; lane < kernel.lanes; ++lane) {
    INFO(length, " bytes, lane ", lane);
    REQUIRE_EQ(digest_of(lanes.states[lane]), expected(Sha(), messages[lane]));
  }
  REQUIRE(lanes.memory == memory);
}

// Puts the message into each lane in turn, and others into the other lanes.
template <typename Sha>
void check_vector(const Kernel& kernel, const std::string& text, const char* digest) {
  if (Sha::many(kernel) == nullptr || digest == nullptr) return;
  const bool large = text.size() > 1000;
  for (std::size_t lane = 0; lane < kernel.lanes; ++lane) {
    if (large && lane != 0 && lane + 1 != kernel.lanes) continue;
    std::vector<Bytes> messages(kernel.lanes, oracle::content(text.size(), lane));
    messages[lane].assign(text.begin(), text.end());
    Lanes<Sha> lanes(messages, lane);
    lanes.run(kernel, lanes.blocks / 2);
    INFO(text.size(), " bytes in lane ", lane);
    REQUIRE_EQ(vectors::hex(digest_of(lanes.states[lane])), digest);
  }
}

template <typename State>
State random_state(std::minstd_rand& random) {
  State state;
  for (std::uint32_t& word : state.h) {
    word = static_cast<std::uint32_t>(random()) << 16 ^ static_cast<std::uint32_t>(random());
    if (random() % 8 == 0) word = 0xffffffff;
    if (random() % 8 == 0) word = 0;
  }
  return state;
}

template <typename State>
bool same(const State& a, const State& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Lanes share states and data, as spare lanes do: lane i has message i % used.
template <typename Sha>
void check_repeated(const Kernel& kernel, std::size_t used) {
  if (Sha::many(kernel) == nullptr) return;
  std::vector<Bytes> messages;
  for (std::size_t i = 0; i < used; ++i) messages.push_back(oracle::content(1000, i + 3));
  Lanes<Sha> lanes(messages, used);
  for (std::size_t lane = used; lane < kernel.lanes; ++lane) {
    // Repeat the last message, or all in turn.
    const std::size_t source = used % 2 != 0 ? used - 1 : lane % used;
    lanes.pointers.push_back(lanes.pointers[source]);
    lanes.data.push_back(lanes.data[source]);
  }
  lanes.run(kernel, 3);
  for (std::size_t i = 0; i < used; ++i) {
    INFO(used, " messages, ", i);
    REQUIRE_EQ(digest_of(lanes.states[i]), expected(Sha(), messages[i]));
  }
}

// Compares random states, which no test message reaches, with OpenSSL's compression function.
template <typename Sha>
void check_states(const Kernel& kernel, std::size_t blocks, std::minstd_rand& random) {
  if (Sha::many(kernel) == nullptr) return;
  std::vector<typename Sha::State> states;
  for (std::size_t lane = 0; lane < kernel.lanes; ++lane)
    states.push_back(random_state<typename Sha::State>(random));
  std::vector<typename Sha::State> wanted = states;
  Bytes memory(kernel.lanes * (blocks * 64 + 1) + 64);
  for (std::uint8_t& byte : memory) byte = static_cast<std::uint8_t>(random() >> 8);
  std::vector<typename Sha::State*> pointers;
  std::vector<const std::uint8_t*> data;
  const Kernel& plain = *kernel_lists().back().list[0];
  for (std::size_t lane = 0; lane < kernel.lanes; ++lane) {
    pointers.push_back(&states[lane]);
    data.push_back(&memory[lane * (blocks * 64 + 1)]);
    typename Sha::State* const state = &wanted[lane];
    Sha::many(plain)(&state, &data[lane], blocks);
  }
  Sha::many(kernel)(pointers.data(), data.data(), blocks);
  for (std::size_t lane = 0; lane < kernel.lanes; ++lane) REQUIRE(same(states[lane], wanted[lane]));
}

// Memory that is followed by a page without read access.
class Guarded {
 public:
#ifdef _WIN32
  explicit Guarded(std::size_t size) : size_(size), page_(4096) {
    length_ = (size + page_ - 1) / page_ * page_ + page_;
    memory_ = static_cast<std::uint8_t*>(
        ::VirtualAlloc(nullptr, length_, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
    DWORD before;
    ::VirtualProtect(memory_ + length_ - page_, page_, PAGE_NOACCESS, &before);
  }
  ~Guarded() { ::VirtualFree(memory_, 0, MEM_RELEASE); }
#else
  explicit Guarded(std::size_t size) : size_(size), page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    length_ = (size + page_ - 1) / page_ * page_ + page_;
    memory_ = static_cast<std::uint8_t*>(
        ::mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(memory_ + length_ - page_, page_, PROT_NONE);
  }
  ~Guarded() { ::munmap(memory_, length_); }
#endif
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  std::uint8_t* data() const { return memory_ + length_ - page_ - size_; }

 private:
  std::size_t size_;
  std::size_t page_;
  std::size_t length_;
  std::uint8_t* memory_;
};

}  // namespace

TEST_CASE("kernels: agree with OpenSSL for every length in every lane, at odd addresses") {
  each_row([](const Kernel& kernel) {
    Sample sample;
    const auto check = [&](std::size_t length) {
      if (!sample.next()) return;
      check_length<Sha1>(kernel, length);
      check_length<Sha256>(kernel, length);
    };
    for (std::size_t length = 0; length <= 300; ++length) check(length);
    for (const std::size_t border : {1 << 14, 1 << 16, 1 << 17}) {
      for (const int away : {-65, -64, -63, -9, -8, -1, 0, 1, 63, 64, 65})
        check(border + static_cast<std::size_t>(away));
    }
  });
}

TEST_CASE("kernels: give the NIST test vectors in every lane") {
  each_row([](const Kernel& kernel) {
    for (const vectors::Vector& vector : vectors::all()) {
      check_vector<Sha1>(kernel, vector.message, vector.sha1);
      check_vector<Sha256>(kernel, vector.message, vector.sha256);
    }
  });
}

TEST_CASE("kernels: lanes may share a message") {
  each_row([](const Kernel& kernel) {
    for (std::size_t used = 1; used <= kernel.lanes; ++used) {
      check_repeated<Sha1>(kernel, used);
      check_repeated<Sha256>(kernel, used);
    }
  });
}

TEST_CASE("kernels: advance random states by random blocks") {
  each_row([](const Kernel& kernel) {
    std::minstd_rand random(7);
    Sample sample;
    for (std::size_t round = 0; round < 60; ++round) {
      if (!sample.next()) continue;
      check_states<Sha1>(kernel, round % 7, random);
      check_states<Sha256>(kernel, round % 7, random);
    }
  });
}

TEST_CASE("kernels: sha1_zeros equals hashing blocks of zeros from any state") {
  each_row([](const Kernel& kernel) {
    if (kernel.sha1_zeros == nullptr) return;
    std::minstd_rand random(11);
    Sample sample;
    for (const std::size_t blocks : {0, 1, 2, 3, 15, 16, 17, 255, 256, 257, 511, 512, 513, 1000}) {
      if (!sample.next()) continue;
      for (std::size_t used = 1; used <= kernel.lanes; ++used) {
        INFO(blocks, " blocks, ", used, " messages");
        std::vector<Sha1State> states;
        for (std::size_t i = 0; i < used; ++i) states.push_back(random_state<Sha1State>(random));
        std::vector<Sha1State> wanted = states;
        const Bytes zeros(blocks * 64 + 1);
        const std::uint8_t* const data = zeros.data() + 1;
        for (Sha1State& state : wanted) {
          Sha1State* const pointer = &state;
          metainfo::openssl_sha1_many(&pointer, &data, blocks);
        }
        std::vector<Sha1State*> pointers;
        for (std::size_t lane = 0; lane < kernel.lanes; ++lane)
          pointers.push_back(&states[std::min(lane, used - 1)]);
        kernel.sha1_zeros(pointers.data(), blocks);
        for (std::size_t i = 0; i < used; ++i) REQUIRE(same(states[i], wanted[i]));
      }
    }
  });
}

TEST_CASE("kernels: hash nodes in place or not, and write nothing else") {
  each_row([](const Kernel& kernel) {
    if (kernel.sha256_nodes == nullptr) return;
    for (std::size_t shift = 0; shift < 20; ++shift) {
      INFO("at ", shift);
      const std::size_t size = kernel.lanes * 64;
      const Bytes pairs = oracle::content(size, shift + 1);
      Bytes wanted;
      for (std::size_t i = 0; i < kernel.lanes; ++i) {
        const auto hash = oracle::sha256(&pairs[i * 64], 64);
        wanted.insert(wanted.end(), hash.begin(), hash.end());
      }
      const auto check = [&](const Bytes& memory, std::size_t at) {
        const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = begin + static_cast<std::ptrdiff_t>(wanted.size());
        REQUIRE_EQ(Bytes(begin, end), wanted);
        REQUIRE(std::all_of(memory.begin(), begin, [](std::uint8_t byte) { return byte == kCanary; }));
        return end;
      };
      Bytes in(shift);
      in.insert(in.end(), pairs.begin(), pairs.end());
      const Bytes before = in;
      Bytes out(100 + shift + wanted.size() + 100, kCanary);
      kernel.sha256_nodes(&out[100 + shift], &in[shift]);
      REQUIRE(in == before);
      const auto after = check(out, 100 + shift);
      REQUIRE(std::all_of(after, out.cend(), [](std::uint8_t byte) { return byte == kCanary; }));

      Bytes place(64 + shift, kCanary);
      place.insert(place.end(), pairs.begin(), pairs.end());
      place.insert(place.end(), 64, kCanary);
      kernel.sha256_nodes(&place[64 + shift], &place[64 + shift]);
      const auto rest = check(place, 64 + shift);
      // The bytes around the output have not changed.
      REQUIRE(
          std::equal(rest, place.cend() - 64, pairs.begin() + static_cast<std::ptrdiff_t>(wanted.size())));
      REQUIRE(
          std::all_of(place.cend() - 64, place.cend(), [](std::uint8_t byte) { return byte == kCanary; }));
    }
  });
}

TEST_CASE("kernels: read no byte past the last block") {
  each_row([](const Kernel& kernel) {
    const Guarded guarded(kernel.lanes * 64 * 3);
    std::memset(guarded.data(), 1, kernel.lanes * 64 * 3);
    std::vector<Sha1State> sha1(kernel.lanes, Sha1::kInitial);
    std::vector<Sha256State> sha256(kernel.lanes, Sha256::kInitial);
    std::vector<Sha1State*> sha1_pointers;
    std::vector<Sha256State*> sha256_pointers;
    // The data of every lane ends at the end of the memory.
    const std::vector<const std::uint8_t*> data(kernel.lanes, guarded.data() + kernel.lanes * 64 * 3 - 128);
    for (std::size_t lane = 0; lane < kernel.lanes; ++lane) {
      sha1_pointers.push_back(&sha1[lane]);
      sha256_pointers.push_back(&sha256[lane]);
    }
    if (kernel.sha1_many != nullptr) kernel.sha1_many(sha1_pointers.data(), data.data(), 2);
    if (kernel.sha256_many != nullptr) kernel.sha256_many(sha256_pointers.data(), data.data(), 2);
    Bytes out(kernel.lanes * 32);
    if (kernel.sha256_nodes != nullptr)
      kernel.sha256_nodes(out.data(), guarded.data() + kernel.lanes * 64 * 2);
    const Bytes ones(64, 1);
    if (kernel.sha256_nodes != nullptr) {
      const auto hash = oracle::sha256(ones.data(), 64);
      REQUIRE(std::equal(hash.begin(), hash.end(), out.end() - 32));
    }
  });
}
