// SHA-1 and SHA-256 with one message per vector lane, for any vector type.
//
// A file that includes this defines LANES (the target attribute of its instruction set) first, and an Isa
// with the vector operations afterwards. Everything is inlined into the functions of that file, and its Isa
// is in an anonymous namespace, so that no code for one instruction set is linked into another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/kernel.h"
#include "kernels/sha_constants.h"

namespace metainfo {

// Stops the compiler from reordering a sum. The newest word must be added last, because each round waits for
// the round before it.
template <class V>
LANES void in_order(V& sum) {
#ifdef __GNUC__
  __asm__("" : "+v"(sum));
#else
  (void)sum;
#endif
}

// Round T of 80. Instead of moving the five words each round, their indexes rotate.
template <class Isa, std::size_t T, bool Zeros>
LANES void sha1_round(typename Isa::V (&s)[5], typename Isa::V (&w)[16]) {
  using V = typename Isa::V;
  V& a = s[(80 - T) % 5];
  V& b = s[(81 - T) % 5];
  V& c = s[(82 - T) % 5];
  V& d = s[(83 - T) % 5];
  V& e = s[(84 - T) % 5];
  V sum = Isa::add(e, Isa::all(kSha1K[T / 20]));
  if constexpr (!Zeros) {
    if constexpr (T >= 16) {
      const V mixed = Isa::parity(w[(T + 13) % 16], w[(T + 8) % 16], w[(T + 2) % 16]);
      w[T % 16] = Isa::template rotate_left<1>(Isa::exclusive(mixed, w[T % 16]));
    }
    sum = Isa::add(sum, w[T % 16]);
  }
  in_order(sum);
  if constexpr (T < 20) {
    sum = Isa::add(sum, Isa::choose(b, c, d));
  } else if constexpr (T >= 40 && T < 60) {
    sum = Isa::add(sum, Isa::majority(b, c, d));
  } else {
    sum = Isa::add(sum, Isa::parity(b, c, d));
  }
  in_order(sum);
  e = Isa::add(sum, Isa::template rotate_left<5>(a));
  b = Isa::template rotate_left<30>(b);
}

template <class Isa, bool Zeros, std::size_t... T>
LANES void sha1_rounds(typename Isa::V (&s)[5], typename Isa::V (&w)[16], std::index_sequence<T...>) {
  (sha1_round<Isa, T, Zeros>(s, w), ...);
}

// Loads states[lane]->h[j] into lane `lane` of s[j]; store_states() does the reverse.
template <class Isa, std::size_t Words, class State>
LANES void load_states(typename Isa::V (&s)[Words], State* const* states) {
  alignas(64) std::uint32_t words[Words][Isa::kLanes];
  METAINFO_UNROLL
  for (std::size_t lane = 0; lane < Isa::kLanes; ++lane) METAINFO_UNROLL
  for (std::size_t j = 0; j < Words; ++j) words[j][lane] = states[lane]->h[j];
  METAINFO_UNROLL
  for (std::size_t j = 0; j < Words; ++j) s[j] = Isa::load_aligned(words[j]);
}

template <class Isa, std::size_t Words, class State>
LANES void store_states(State* const* states, const typename Isa::V (&s)[Words]) {
  alignas(64) std::uint32_t words[Words][Isa::kLanes];
  METAINFO_UNROLL
  for (std::size_t j = 0; j < Words; ++j) Isa::store_aligned(words[j], s[j]);
  METAINFO_UNROLL
  for (std::size_t lane = 0; lane < Isa::kLanes; ++lane) METAINFO_UNROLL
  for (std::size_t j = 0; j < Words; ++j) states[lane]->h[j] = words[j][lane];
}

template <class Isa, bool Zeros>
LANES void sha1_lanes(Sha1State* const* states, const std::uint8_t* const* data, std::size_t blocks) {
  using V = typename Isa::V;
  V s[5];
  load_states<Isa>(s, states);
  for (std::size_t block = 0; block < blocks; ++block) {
    V w[16];
    if constexpr (!Zeros) Isa::load_block(w, data, block * 64);
    const V before[5] = {s[0], s[1], s[2], s[3], s[4]};
    sha1_rounds<Isa, Zeros>(s, w, std::make_index_sequence<80>());
    METAINFO_UNROLL
    for (std::size_t j = 0; j < 5; ++j) s[j] = Isa::add(s[j], before[j]);
  }
  store_states<Isa>(states, s);
}

template <class Isa, std::size_t T>
LANES void sha256_round(typename Isa::V (&s)[8], typename Isa::V wk) {
  using V = typename Isa::V;
  V& a = s[(64 - T) % 8];
  V& b = s[(65 - T) % 8];
  V& c = s[(66 - T) % 8];
  V& d = s[(67 - T) % 8];
  V& e = s[(68 - T) % 8];
  V& f = s[(69 - T) % 8];
  V& g = s[(70 - T) % 8];
  V& h = s[(71 - T) % 8];
  const V sum1 = Isa::parity(Isa::template rotate_right<6>(e), Isa::template rotate_right<11>(e),
                             Isa::template rotate_right<25>(e));
  V t1 = Isa::add(h, wk);
  in_order(t1);
  t1 = Isa::add(t1, Isa::choose(e, f, g));
  in_order(t1);
  t1 = Isa::add(t1, sum1);
  in_order(t1);
  const V sum0 = Isa::parity(Isa::template rotate_right<2>(a), Isa::template rotate_right<13>(a),
                             Isa::template rotate_right<22>(a));
  d = Isa::add(d, t1);
  h = Isa::add(t1, Isa::add(sum0, Isa::majority(a, b, c)));
}

template <class Isa, std::size_t T>
LANES void sha256_scheduled(typename Isa::V (&s)[8], typename Isa::V (&w)[16]) {
  using V = typename Isa::V;
  if constexpr (T >= 16) {
    const V x = w[(T + 1) % 16];
    const V y = w[(T + 14) % 16];
    const V s0 = Isa::parity(Isa::template rotate_right<7>(x), Isa::template rotate_right<18>(x),
                             Isa::template shift_right<3>(x));
    const V s1 = Isa::parity(Isa::template rotate_right<17>(y), Isa::template rotate_right<19>(y),
                             Isa::template shift_right<10>(y));
    w[T % 16] = Isa::add(Isa::add(w[T % 16], s0), Isa::add(w[(T + 9) % 16], s1));
  }
  sha256_round<Isa, T>(s, Isa::add(w[T % 16], Isa::all(kSha256K[T])));
}

template <class Isa, std::size_t... T>
LANES void sha256_block(typename Isa::V (&s)[8], typename Isa::V (&w)[16], std::index_sequence<T...>) {
  using V = typename Isa::V;
  const V before[8] = {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]};
  (sha256_scheduled<Isa, T>(s, w), ...);
  METAINFO_UNROLL
  for (std::size_t j = 0; j < 8; ++j) s[j] = Isa::add(s[j], before[j]);
}

template <class Isa, std::size_t... T>
LANES void sha256_node_padding(typename Isa::V (&s)[8], std::index_sequence<T...>) {
  using V = typename Isa::V;
  const V before[8] = {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]};
  (sha256_round<Isa, T>(s, Isa::all(kNodePadding.words[T])), ...);
  METAINFO_UNROLL
  for (std::size_t j = 0; j < 8; ++j) s[j] = Isa::add(s[j], before[j]);
}

template <class Isa>
LANES void sha256_lanes(Sha256State* const* states, const std::uint8_t* const* data, std::size_t blocks) {
  typename Isa::V s[8];
  load_states<Isa>(s, states);
  for (std::size_t block = 0; block < blocks; ++block) {
    typename Isa::V w[16];
    Isa::load_block(w, data, block * 64);
    sha256_block<Isa>(s, w, std::make_index_sequence<64>());
  }
  store_states<Isa>(states, s);
}

template <class Isa>
LANES void sha256_node_lanes(std::uint8_t* out, const std::uint8_t* pairs) {
  typename Isa::V s[8];
  typename Isa::V w[16];
  const std::uint8_t* data[Isa::kLanes];
  METAINFO_UNROLL
  for (std::size_t lane = 0; lane < Isa::kLanes; ++lane) data[lane] = pairs + 64 * lane;
  METAINFO_UNROLL
  for (std::size_t j = 0; j < 8; ++j) s[j] = Isa::all(kSha256Initial[j]);
  Isa::load_block(w, data, 0);
  sha256_block<Isa>(s, w, std::make_index_sequence<64>());
  sha256_node_padding<Isa>(s, std::make_index_sequence<64>());
  alignas(64) std::uint32_t words[8][Isa::kLanes];
  METAINFO_UNROLL
  for (std::size_t j = 0; j < 8; ++j) Isa::store_aligned(words[j], Isa::swap_bytes(s[j]));
  METAINFO_UNROLL
  for (std::size_t lane = 0; lane < Isa::kLanes; ++lane) METAINFO_UNROLL
  for (std::size_t j = 0; j < 8; ++j) std::memcpy(out + 32 * lane + 4 * j, &words[j][lane], 4);
}

}  // namespace metainfo

// Defines the four functions of a kernel. They end with vzeroupper: dirty upper halves of registers would
// make SHA-NI code up to 3.6 times slower.
#define METAINFO_LANES_KERNEL(prefix, isa, target)                                              \
  target void prefix##_sha1_many(Sha1State* const* states, const std::uint8_t* const* data,     \
                                 std::size_t blocks) {                                          \
    sha1_lanes<isa, false>(states, data, blocks);                                               \
    _mm256_zeroupper();                                                                         \
  }                                                                                             \
  target void prefix##_sha1_zeros(Sha1State* const* states, std::size_t blocks) {               \
    sha1_lanes<isa, true>(states, nullptr, blocks);                                             \
    _mm256_zeroupper();                                                                         \
  }                                                                                             \
  target void prefix##_sha256_many(Sha256State* const* states, const std::uint8_t* const* data, \
                                   std::size_t blocks) {                                        \
    sha256_lanes<isa>(states, data, blocks);                                                    \
    _mm256_zeroupper();                                                                         \
  }                                                                                             \
  target void prefix##_sha256_nodes(std::uint8_t* out, const std::uint8_t* pairs) {             \
    sha256_node_lanes<isa>(out, pairs);                                                         \
    _mm256_zeroupper();                                                                         \
  }
