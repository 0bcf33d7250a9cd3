#include "core/hash/sha.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernel_lists.h"
#include "kernels/kernel_functions.h"
#include "oracle.h"
#include "scale.h"
#include "test.h"
#include "vectors.h"

using metainfo::HashInput;
using metainfo::Kernel;
using metainfo::Kernels;
using metainfo::kMaxLanes;
using metainfo::Messages;
using metainfo::Sha1;
using metainfo::Sha1State;
using metainfo::Sha256;
using metainfo::Sha256State;
using metainfo::Tail;
using oracle::Bytes;

namespace {

template <typename Sha>
typename Sha::Digest expected(const Bytes& message);
template <>
metainfo::Sha1Digest expected<Sha1>(const Bytes& message) {
  return oracle::sha1(message.data(), message.size());
}
template <>
metainfo::Sha256Digest expected<Sha256>(const Bytes& message) {
  return oracle::sha256(message.data(), message.size());
}

template <typename Sha>
typename Sha::Digest digest_of(const typename Sha::State& state) {
  typename Sha::Digest digest;
  metainfo::write_digest(state, digest.data());
  return digest;
}

template <typename Action>
void each_table(Action action) {
  for (const Kernels& kernels : kernel_lists()) {
    INFO(name_of(kernels));
    action(kernels);
  }
}

// Lengths around the boundaries of blocks and padding, and random ones.
std::size_t random_length(std::minstd_rand& random) {
  switch (random() % 5) {
    case 0:
      return 0;
    case 1:
      return random() % 130;
    case 2:
      return 64 * (random() % 40);
    case 3:
      return 16384 - 70 + random() % 140;
    default:
      return random() % 5000;
  }
}

template <typename Sha>
void check_messages(const Kernels& kernels, Messages<Sha>& messages, const std::vector<Bytes>& contents,
                    std::size_t gap) {
  constexpr std::size_t kDigest = sizeof(typename Sha::Digest);
  Bytes out(contents.size() * (kDigest + gap) + gap, 0xc5);
  for (std::size_t i = 0; i < contents.size(); ++i)
    messages.add(contents[i].data(), contents[i].size(), &out[gap + i * (kDigest + gap)]);
  messages.run(kernels);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    INFO(contents.size(), " messages, ", i, " of ", contents[i].size(), " bytes");
    typename Sha::Digest digest;
    std::copy_n(out.begin() + static_cast<std::ptrdiff_t>(gap + i * (kDigest + gap)), kDigest,
                digest.begin());
    REQUIRE_EQ(digest, expected<Sha>(contents[i]));
  }
  for (std::size_t i = 0; i <= contents.size(); ++i) {
    for (std::size_t at = i * (kDigest + gap); at < i * (kDigest + gap) + gap; ++at)
      REQUIRE_EQ(out[at], 0xc5);
  }
}

// Hashes messages in several inputs of any number of blocks, continuing from the state before.
template <typename Sha>
void check_inputs(const Kernels& kernels, std::size_t count, std::minstd_rand& random) {
  std::vector<Bytes> contents;
  std::vector<Bytes> padded;
  std::vector<std::size_t> done(count);
  std::vector<typename Sha::State> states(count, Sha::kInitial);
  for (std::size_t i = 0; i < count; ++i) {
    contents.push_back(oracle::content(random_length(random), i));
    padded.push_back(oracle::padded(contents.back()));
  }
  for (bool more = true; more;) {
    more = false;
    std::vector<HashInput<Sha>> inputs;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t left = padded[i].size() / 64 - done[i];
      const std::size_t blocks = random() % 3 == 0 ? 0 : std::min<std::size_t>(left, random() % 70);
      inputs.push_back({&states[i], blocks == 0 ? nullptr : &padded[i][done[i] * 64], blocks});
      done[i] += blocks;
      more = more || blocks != left;
    }
    std::shuffle(inputs.begin(), inputs.end(), random);
    metainfo::advance_all<Sha>(kernels, inputs.data(), inputs.size());
  }
  for (std::size_t i = 0; i < count; ++i) REQUIRE_EQ(digest_of<Sha>(states[i]), expected<Sha>(contents[i]));
}

template <typename Sha>
void check_advance(const Kernels& kernels, std::size_t count, std::size_t blocks) {
  std::vector<Bytes> contents;
  std::vector<Bytes> padded;
  // One more state than is advanced: it must not change.
  std::vector<typename Sha::State> states(count + 1, Sha::kInitial);
  std::vector<typename Sha::State*> pointers;
  std::vector<const std::uint8_t*> data;
  for (std::size_t i = 0; i < count; ++i) {
    contents.push_back(oracle::content(blocks * 64 - 9, i + blocks));
    padded.push_back(oracle::padded(contents.back()));
    pointers.push_back(&states[i]);
  }
  for (const Bytes& bytes : padded) data.push_back(bytes.data());
  metainfo::advance<Sha>(kernels, pointers.data(), data.data(), count, blocks);
  for (std::size_t i = 0; i < count; ++i) REQUIRE_EQ(digest_of<Sha>(states[i]), expected<Sha>(contents[i]));
  REQUIRE(std::memcmp(&states[count], &Sha::kInitial, sizeof states[count]) == 0);
}

// A recorded call: the kernel and its first message.
struct Call {
  std::string kernel;
  std::size_t first;
  bool operator==(const Call& other) const { return kernel == other.kernel && first == other.first; }
};

std::ostream& operator<<(std::ostream& out, const Call& call) {
  return out << call.kernel << '@' << call.first;
}

constexpr auto kSomeSha1 = metainfo::openssl_sha1_many;
constexpr auto kSomeSha256 = metainfo::openssl_sha256_many;

// The first kernel has no SHA-256, the second only SHA-256, the third no function.
const Kernel kMade[] = {
    {"x8", 0, 0, 8, 6, kSomeSha1, nullptr, nullptr, nullptr},
    {"x4", 0, 0, 4, 3, nullptr, kSomeSha256, nullptr, nullptr},
    {"none", 0, 0, 4, 1, nullptr, nullptr, nullptr, nullptr},
    {"x2", 0, 0, 2, 2, kSomeSha1, kSomeSha256, nullptr, nullptr},
    {"x1", 0, 0, 1, 1, kSomeSha1, kSomeSha256, nullptr, nullptr},
};

template <typename Sha>
std::vector<Call> calls(std::size_t count, std::size_t first_sha256 = 0) {
  Kernels kernels{};
  kernels.first_sha256 = first_sha256;
  for (const Kernel& kernel : kMade) kernels.list[kernels.count++] = &kernel;
  std::vector<Call> found;
  metainfo::distribute(
      kernels, count, [](const Kernel& kernel) { return Sha::many(kernel) != nullptr; },
      [&](const Kernel& kernel, std::size_t first) {
        found.push_back({kernel.name, first});
      },
      Sha::first(kernels));
  return found;
}

// The functions of a kernel of four lanes that only records its arguments.
std::vector<const void*> noted_states;
std::vector<const std::uint8_t*> noted_data;
void note_sha1(Sha1State* const* states, const std::uint8_t* const* data, std::size_t) {
  noted_states.assign(states, states + 4);
  noted_data.assign(data, data + 4);
}
void note_sha256(Sha256State* const* states, const std::uint8_t* const* data, std::size_t) {
  noted_states.assign(states, states + 4);
  noted_data.assign(data, data + 4);
}
void note_zeros(Sha1State* const* states, std::size_t) { noted_states.assign(states, states + 4); }

Bytes bytes_of(const Tail& tail) { return {tail.data(), tail.data() + tail.blocks() * 64}; }

}  // namespace

TEST_CASE("Messages: give the NIST test vectors, alone and among others") {
  each_table([](const Kernels& kernels) {
    Messages<Sha1> sha1;
    Messages<Sha256> sha256;
    for (const std::size_t copies : {1, 3}) {
      std::vector<metainfo::Sha1Digest> found1(vectors::all().size() * copies);
      std::vector<metainfo::Sha256Digest> found256(found1.size());
      for (std::size_t i = 0; i < found1.size(); ++i) {
        const std::string& message = vectors::all()[i % vectors::all().size()].message;
        const auto* data = reinterpret_cast<const std::uint8_t*>(message.data());
        sha1.add(data, message.size(), found1[i].data());
        sha256.add(data, message.size(), found256[i].data());
        // Also hash each message on its own.
        if (copies == 1) {
          sha1.run(kernels);
          sha256.run(kernels);
        }
      }
      sha1.run(kernels);
      sha256.run(kernels);
      for (std::size_t i = 0; i < found1.size(); ++i) {
        const vectors::Vector& vector = vectors::all()[i % vectors::all().size()];
        if (vector.sha1 != nullptr) REQUIRE_EQ(vectors::hex(found1[i]), vector.sha1);
        if (vector.sha256 != nullptr) REQUIRE_EQ(vectors::hex(found256[i]), vector.sha256);
      }
    }
  });
}

TEST_CASE("Messages: hashes any number of messages of any lengths") {
  each_table([](const Kernels& kernels) {
    std::minstd_rand random(1);
    // The objects are reused, to check that one run leaves nothing for the next.
    Messages<Sha1> sha1;
    Messages<Sha256> sha256;
    Sample sample;
    for (std::size_t count = 0; count <= 40; ++count) {
      for (unsigned round = 0; round < 3; ++round) {
        std::vector<Bytes> contents;
        for (std::size_t i = 0; i < count; ++i) contents.push_back(oracle::content(random_length(random), i));
        if (!sample.next()) continue;
        check_messages(kernels, sha1, contents, count % 5);
        check_messages(kernels, sha256, contents, count % 5);
      }
    }
  });
}

TEST_CASE("Messages: hashes every length, and lengths around powers of two") {
  each_table([](const Kernels& kernels) {
    Messages<Sha1> sha1;
    Messages<Sha256> sha256;
    Sample sample;
    for (std::size_t first = 0; first < 320; first += 20) {
      if (!sample.next()) continue;
      std::vector<Bytes> contents;
      for (std::size_t length = first; length < first + 20; ++length)
        contents.push_back(oracle::content(length, length));
      check_messages(kernels, sha1, contents, 1);
      check_messages(kernels, sha256, contents, 1);
    }
    for (const std::size_t border : {1 << 14, 1 << 16, 1 << 17}) {
      if (!sample.next()) continue;
      std::vector<Bytes> contents;
      for (const int near : {-64, -1, 0, 1, 64})
        contents.push_back(oracle::content(border + static_cast<std::size_t>(near), border));
      check_messages(kernels, sha1, contents, 1);
      check_messages(kernels, sha256, contents, 1);
    }
  });
}

TEST_CASE("Messages: an empty message may be null") {
  each_table([](const Kernels& kernels) {
    for (std::size_t count = 1; count <= 17; ++count) {
      Messages<Sha256> messages;
      std::vector<metainfo::Sha256Digest> digests(count);
      for (metainfo::Sha256Digest& digest : digests) messages.add(nullptr, 0, digest.data());
      messages.run(kernels);
      for (const metainfo::Sha256Digest& digest : digests) REQUIRE_EQ(digest, expected<Sha256>({}));
    }
  });
}

TEST_CASE("advance_all: inputs of any number of blocks, also of none") {
  each_table([](const Kernels& kernels) {
    std::minstd_rand random(2);
    Sample sample;
    for (std::size_t count = 1; count <= 40; ++count) {
      if (!sample.next()) continue;
      INFO(count, " messages");
      check_inputs<Sha1>(kernels, count, random);
      check_inputs<Sha256>(kernels, count, random);
    }
  });
}

TEST_CASE("advance: advances any number of lanes, and nothing else") {
  each_table([](const Kernels& kernels) {
    Sample sample;
    for (std::size_t count = 1; count <= kMaxLanes; ++count) {
      for (const std::size_t blocks : {1, 2, 5, 256}) {
        if (!sample.next()) continue;
        INFO(count, " lanes, ", blocks, " blocks");
        check_advance<Sha1>(kernels, count, blocks);
        check_advance<Sha256>(kernels, count, blocks);
      }
    }
    metainfo::advance<Sha1>(kernels, nullptr, nullptr, 0, 5);
    metainfo::advance_all<Sha256>(kernels, nullptr, 0);
  });
}

TEST_CASE("advance_zeros: equals hashing zero bytes after any whole blocks, in any number of lanes") {
  each_table([](const Kernels& kernels) {
    Sample sample;
    for (std::size_t count = 0; count <= kMaxLanes; ++count) {
      for (const std::size_t size : {0, 1, 55, 56, 63, 64, 65, 16383, 16384, 16385, 40000}) {
        if (!sample.next()) continue;
        INFO(size, " zeros in ", count, " lanes");
        std::vector<Sha1State> states(count + 1, Sha1::kInitial);
        std::vector<Sha1State*> pointers;
        std::vector<Bytes> contents;
        std::vector<HashInput<Sha1>> inputs;
        for (std::size_t i = 0; i < count; ++i) {
          contents.push_back(oracle::content(64 * i, i));
          pointers.push_back(&states[i]);
        }
        for (std::size_t i = 0; i < count; ++i) inputs.push_back({&states[i], contents[i].data(), i});
        metainfo::advance_all<Sha1>(kernels, inputs.data(), count);
        metainfo::advance_zeros(kernels, pointers.data(), count, size / 64);
        std::vector<Tail> tails(count);
        for (std::size_t i = 0; i < count; ++i) {
          tails[i].set_zeros(64 * i + size);
          inputs[i] = {&states[i], tails[i].data(), tails[i].blocks()};
        }
        metainfo::advance_all<Sha1>(kernels, inputs.data(), count);
        for (std::size_t i = 0; i < count; ++i) {
          contents[i].resize(64 * i + size);
          REQUIRE_EQ(digest_of<Sha1>(states[i]), expected<Sha1>(contents[i]));
        }
        REQUIRE(std::memcmp(&states[count], &Sha1::kInitial, sizeof(Sha1State)) == 0);
      }
    }
  });
}

TEST_CASE("Tail: holds the rest of a message and its padding") {
  Tail tail;
  for (std::size_t size = 0; size <= 200; ++size) {
    INFO(size, " bytes");
    const Bytes message = oracle::content(size, 4);
    const Bytes padded = oracle::padded(message);
    const auto whole = static_cast<std::ptrdiff_t>(size / 64 * 64);
    tail.set(message.data() + whole, size);
    REQUIRE_EQ(bytes_of(tail), Bytes(padded.begin() + whole, padded.end()));
    const Bytes zeros = oracle::padded(Bytes(size));
    tail.set_zeros(size);
    REQUIRE_EQ(bytes_of(tail), Bytes(zeros.begin() + whole, zeros.end()));
  }
}

TEST_CASE("Tail: stores the length in 64 bits") {
  for (const std::uint64_t size : {std::uint64_t{1} << 29, (std::uint64_t{1} << 33) + 3,
                                   (std::uint64_t{1} << 61) - 1, std::uint64_t{60}}) {
    INFO(size);
    const Bytes rest = oracle::content(size % 64, 5);
    Bytes expected = rest;
    expected.push_back(0x80);
    while (expected.size() % 64 != 56) expected.push_back(0);
    for (int shift = 56; shift >= 0; shift -= 8)
      expected.push_back(static_cast<std::uint8_t>(size * 8 >> shift));
    Tail tail;
    tail.set(rest.data(), size);
    REQUIRE_EQ(bytes_of(tail), expected);
    std::fill_n(expected.begin(), size % 64, std::uint8_t{0});
    tail.set_zeros(size);
    REQUIRE_EQ(bytes_of(tail), expected);
  }
}

TEST_CASE("distribute: uses kernels in order and skips those without the function") {
  using Calls = std::vector<Call>;
  REQUIRE_EQ(calls<Sha1>(0), Calls{});
  REQUIRE_EQ(calls<Sha1>(1), Calls({{"x1", 0}}));
  REQUIRE_EQ(calls<Sha1>(2), Calls({{"x2", 0}}));
  REQUIRE_EQ(calls<Sha1>(5), Calls({{"x2", 0}, {"x2", 2}, {"x1", 4}}));
  // Six messages are enough for a kernel of eight lanes.
  REQUIRE_EQ(calls<Sha1>(6), Calls({{"x8", 0}}));
  REQUIRE_EQ(calls<Sha1>(8), Calls({{"x8", 0}}));
  REQUIRE_EQ(calls<Sha1>(9), Calls({{"x8", 0}, {"x1", 8}}));
  REQUIRE_EQ(calls<Sha1>(14), Calls({{"x8", 0}, {"x8", 8}}));
  REQUIRE_EQ(calls<Sha1>(19), Calls({{"x8", 0}, {"x8", 8}, {"x2", 16}, {"x1", 18}}));
  REQUIRE_EQ(calls<Sha256>(9), Calls({{"x4", 0}, {"x4", 4}, {"x1", 8}}));
  REQUIRE_EQ(calls<Sha256>(7), Calls({{"x4", 0}, {"x4", 4}}));
  REQUIRE_EQ(calls<Sha256>(6), Calls({{"x4", 0}, {"x2", 4}}));
  // SHA-256 may start further down.
  REQUIRE_EQ(calls<Sha256>(3, 3), Calls({{"x2", 0}, {"x1", 2}}));
  REQUIRE_EQ(calls<Sha1>(6, 3), Calls({{"x8", 0}}));
}

TEST_CASE("advance: spare lanes hash the last message again") {
  const Kernel kernel = {"notes", 0, 0, 4, 1, note_sha1, note_sha256, note_zeros, nullptr};
  const Kernels kernels = only(kernel);
  Sha1State sha1[4];
  Sha256State sha256[4];
  Sha1State* const states1[] = {&sha1[0], &sha1[1], &sha1[2], &sha1[3]};
  Sha256State* const states256[] = {&sha256[0], &sha256[1], &sha256[2], &sha256[3]};
  const Bytes bytes(256);
  const std::uint8_t* const data[] = {&bytes[0], &bytes[64], &bytes[128], &bytes[192]};
  for (std::size_t count = 1; count <= 4; ++count) {
    INFO(count);
    const auto repeated = [count](const auto& noted, const auto& given) {
      for (std::size_t lane = 0; lane < 4; ++lane) {
        if (noted[lane] != given[std::min(lane, count - 1)]) return false;
      }
      return true;
    };
    metainfo::advance<Sha1>(kernels, states1, data, count, 1);
    REQUIRE((repeated(noted_states, states1) && repeated(noted_data, data)));
    metainfo::advance<Sha256>(kernels, states256, data, count, 1);
    REQUIRE((repeated(noted_states, states256) && repeated(noted_data, data)));
    metainfo::advance_zeros(kernels, states1, count, 1);
    REQUIRE(repeated(noted_states, states1));
  }
}
