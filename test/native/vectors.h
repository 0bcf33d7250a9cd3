// Test vectors of NIST for SHA-1 and SHA-256.
#pragma once

#include <string>
#include <vector>

namespace vectors {

struct Vector {
  std::string message;
  const char* sha1;  // null: not published for this message
  const char* sha256;
};

inline std::string unhex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
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

// The FIPS 180 examples (0, 24, 448 and 896 bits, and one million times 'a'), then some vectors of the CAVS
// files SHA1ShortMsg.rsp and SHA256ShortMsg.rsp.
inline const std::vector<Vector>& all() {
  static const std::vector<Vector> vectors = {
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
      {unhex("36"), "c1dfd96eea8cc2b62785275bca38ac261256e278", nullptr},
      {unhex("195a"), "0a1c2d555bbe431ad6288af5a54f93e0449c9232", nullptr},
      {unhex("d3"), nullptr, "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
      {unhex("11af"), nullptr, "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98"},
      {unhex("5738c929c4f4ccb6"), nullptr,
       "963bb88f27f512777aab6c8b1a02c70ec0ad651d428f870036e1917120fb48bf"},
  };
  return vectors;
}

}  // namespace vectors
