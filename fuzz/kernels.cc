// Kernels, messages and trees beside OpenSSL's one-shot calls, from every row of the table downwards.
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

#include "bytes.h"
#include "core/merkle.h"
#include "core/sha.h"
#include "oracle.h"
#include "rows.h"

using metainfo::Kernels;
using metainfo::Sha1;
using metainfo::Sha256;

namespace {

void require(bool condition, const char* what, const Kernels& kernels) {
  if (condition) return;
  std::cerr << what << " differs, from row " << name_of(kernels) << " on\n";
  std::abort();
}

std::size_t length(fuzz::Input& input) {
  switch (input.below(4)) {
    case 0:
      return input.below(200);
    case 1:
      return input.below(64) * 64;
    case 2:
      return 16384 - 100 + input.below(200);
    default:
      return input.below(40000);
  }
}

void messages(fuzz::Input& input, const Kernels& kernels) {
  struct Message {
    std::vector<std::uint8_t> memory;
    std::size_t offset;
    std::size_t size;
    metainfo::Sha1Digest sha1;
    metainfo::Sha256Digest sha256;
  };
  std::vector<Message> all(input.below(40));
  metainfo::Messages<Sha1> sha1;
  metainfo::Messages<Sha256> sha256;
  for (Message& message : all) {
    message.offset = input.below(70);
    message.size = length(input);
    // Of just this size, so that a byte read past it is noticed.
    message.memory = input.content(message.offset + message.size);
    sha1.add(message.memory.data() + message.offset, message.size, message.sha1.data());
    sha256.add(message.memory.data() + message.offset, message.size, message.sha256.data());
  }
  sha1.run(kernels);
  sha256.run(kernels);
  for (const Message& message : all) {
    const std::uint8_t* data = message.memory.data() + message.offset;
    require(message.sha1 == oracle::sha1(data, message.size), "SHA-1", kernels);
    require(message.sha256 == oracle::sha256(data, message.size), "SHA-256", kernels);
  }
}

void zeros(fuzz::Input& input, const Kernels& kernels) {
  const std::size_t lanes = 1 + input.below(metainfo::kMostLanes);
  const std::size_t size = input.below(100000);
  std::vector<metainfo::Sha1State> states(lanes, Sha1::kInitial);
  std::vector<metainfo::Sha1State*> pointers;
  std::vector<oracle::Bytes> starts;
  std::vector<metainfo::Stretch<Sha1>> stretches;
  for (metainfo::Sha1State& state : states) {
    starts.push_back(input.content(64 * input.below(20)));
    stretches.push_back({&state, starts.back().data(), starts.back().size() / 64});
    pointers.push_back(&state);
  }
  metainfo::advance_all<Sha1>(kernels, stretches.data(), lanes);
  metainfo::advance_zeros(kernels, pointers.data(), lanes, size / 64);
  for (std::size_t i = 0; i < lanes; ++i) {
    metainfo::Tail tail;
    tail.set_zeros(starts[i].size() + size);
    stretches[i] = {&states[i], tail.data(), tail.blocks()};
    metainfo::advance_all<Sha1>(kernels, &stretches[i], 1);
    metainfo::Sha1Digest digest;
    metainfo::write_digest(states[i], digest.data());
    starts[i].resize(starts[i].size() + size);
    require(digest == oracle::sha1(starts[i].data(), starts[i].size()), "SHA-1 of zeros", kernels);
  }
}

void trees(fuzz::Input& input, const Kernels& kernels) {
  const metainfo::Trees trees(kernels);
  const std::size_t count = 1 + (input.below(8) == 0 ? input.below(5000) : input.below(300));
  const auto base = static_cast<unsigned>(input.below(20));
  const unsigned height = metainfo::ceil_log2(count) + static_cast<unsigned>(input.below(30));
  const oracle::Bytes bytes = input.content(count * 32);
  oracle::Hashes hashes(count);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(hashes[i].data(), &bytes[i * 32], 32);
  const metainfo::Sha256Digest wanted = oracle::tree(hashes, base, height);
  require(trees.root(bytes.data(), count, base, height) == wanted, "a root", kernels);
  oracle::Bytes layer = bytes;
  layer.resize(layer.size() + 32);
  trees.reduce(layer.data(), count, base, height);
  require(std::memcmp(layer.data(), wanted.data(), 32) == 0, "a reduced layer", kernels);
  metainfo::GrowingTree tree(trees);
  for (const metainfo::Sha256Digest& hash : hashes) {
    std::memcpy(tree.next(), hash.data(), 32);
    tree.pushed();
  }
  require(tree.root(height) == oracle::tree(hashes, 0, height), "a tree that grew", kernels);
  oracle::Bytes nodes(count / 2 * 32);
  metainfo::merkle_nodes(kernels, nodes.data(), bytes.data(), count / 2);
  for (std::size_t i = 0; i < count / 2; ++i) {
    const metainfo::Sha256Digest node = oracle::node(hashes[2 * i], hashes[2 * i + 1]);
    require(std::memcmp(&nodes[i * 32], node.data(), 32) == 0, "a node", kernels);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const Kernels& kernels = tables()[input.below(tables().size())];
  switch (input.below(3)) {
    case 0:
      messages(input, kernels);
      break;
    case 1:
      zeros(input, kernels);
      break;
    default:
      trees(input, kernels);
  }
  return 0;
}
