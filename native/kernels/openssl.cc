// The portable row. SHA1_Update and SHA256_Update hand whole blocks straight to OpenSSL's assembly, without
// a copy, as long as the context holds no partial block; so a context made from a state is all that is
// needed. The low-level calls are deprecated in OpenSSL 3 but keep the library's size at 100 kB (EVP pulls in
// all of it).
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <cstring>

#include "kernels/kernel.h"

namespace metainfo {

void openssl_sha1_many(Sha1State* states, const std::uint8_t* const* data, std::size_t blocks) {
  SHA_CTX context{};
  context.h0 = states->h[0];
  context.h1 = states->h[1];
  context.h2 = states->h[2];
  context.h3 = states->h[3];
  context.h4 = states->h[4];
  SHA1_Update(&context, data[0], blocks * 64);
  states->h[0] = context.h0;
  states->h[1] = context.h1;
  states->h[2] = context.h2;
  states->h[3] = context.h3;
  states->h[4] = context.h4;
}

void openssl_sha256_many(Sha256State* states, const std::uint8_t* const* data, std::size_t blocks) {
  SHA256_CTX context{};
  static_assert(sizeof context.h == sizeof states->h, "eight words of 32 bits on every platform");
  std::memcpy(context.h, states->h, sizeof context.h);
  context.md_len = SHA256_DIGEST_LENGTH;
  SHA256_Update(&context, data[0], blocks * 64);
  std::memcpy(states->h, context.h, sizeof context.h);
}

}  // namespace metainfo
