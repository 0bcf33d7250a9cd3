// The portable kernel: OpenSSL.
//
// As long as the context holds no partial block, SHA1_Update and SHA256_Update pass whole blocks to OpenSSL's
// assembly without a copy. So a context that is made from a state is enough. OpenSSL 3 deprecates these
// functions, but they add only 100 kB to the addon; EVP would add the whole library.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <cstring>

#include "kernels/kernel_functions.h"
#include "kernels/sha_constants.h"

namespace metainfo {

void openssl_sha1_many(Sha1State* const* states, const std::uint8_t* const* data, std::size_t blocks) {
  Sha1State& state = **states;
  SHA_CTX context{};
  context.h0 = state.h[0];
  context.h1 = state.h[1];
  context.h2 = state.h[2];
  context.h3 = state.h[3];
  context.h4 = state.h[4];
  SHA1_Update(&context, data[0], blocks * 64);
  state.h[0] = context.h0;
  state.h[1] = context.h1;
  state.h[2] = context.h2;
  state.h[3] = context.h3;
  state.h[4] = context.h4;
}

void openssl_sha256_many(Sha256State* const* states, const std::uint8_t* const* data, std::size_t blocks) {
  Sha256State& state = **states;
  SHA256_CTX context{};
  static_assert(sizeof context.h == sizeof state.h, "eight words of 32 bits on every platform");
  std::memcpy(context.h, state.h, sizeof context.h);
  context.md_len = SHA256_DIGEST_LENGTH;
  SHA256_Update(&context, data[0], blocks * 64);
  std::memcpy(state.h, context.h, sizeof context.h);
}

void openssl_sha1_zeros(Sha1State* const* states, std::size_t blocks) {
  static constexpr std::uint8_t kZeros[1 << 14] = {};
  constexpr std::size_t kMaxBlocks = sizeof kZeros / 64;
  const std::uint8_t* const data = kZeros;
  for (; blocks > kMaxBlocks; blocks -= kMaxBlocks) openssl_sha1_many(states, &data, kMaxBlocks);
  openssl_sha1_many(states, &data, blocks);
}

void openssl_sha256_nodes(std::uint8_t* out, const std::uint8_t* pairs) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, pairs, 64);
  SHA256_Final(out, &context);
}

}  // namespace metainfo
