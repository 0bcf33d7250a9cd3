// Fuzz target: hashes random messages with every list of kernels and compares them with OpenSSL.
#include <cstring>
#include <vector>

#include "bytes.h"
#include "core/hash/sha.h"
#include "kernel_lists.h"
#include "oracle.h"
#include "test.h"

using metainfo::Kernels;
using metainfo::Sha1;
using metainfo::Sha256;

namespace {

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
    // Exactly this size, so that the sanitizer detects a read past the end.
    message.memory = input.content(message.offset + message.size);
    sha1.add(message.memory.data() + message.offset, message.size, message.sha1.data());
    sha256.add(message.memory.data() + message.offset, message.size, message.sha256.data());
  }
  sha1.run(kernels);
  sha256.run(kernels);
  for (const Message& message : all) {
    const std::uint8_t* data = message.memory.data() + message.offset;
    REQUIRE(message.sha1 == oracle::sha1(data, message.size));
    REQUIRE(message.sha256 == oracle::sha256(data, message.size));
  }
}

void zeros(fuzz::Input& input, const Kernels& kernels) {
  const std::size_t lanes = 1 + input.below(metainfo::kMaxLanes);
  const std::size_t size = input.below(100000);
  std::vector<metainfo::Sha1State> states(lanes, Sha1::kInitial);
  std::vector<metainfo::Sha1State*> pointers;
  std::vector<oracle::Bytes> starts;
  std::vector<metainfo::HashInput<Sha1>> inputs;
  for (metainfo::Sha1State& state : states) {
    starts.push_back(input.content(64 * input.below(20)));
    inputs.push_back({&state, starts.back().data(), starts.back().size() / 64});
    pointers.push_back(&state);
  }
  metainfo::advance_all<Sha1>(kernels, inputs.data(), lanes);
  metainfo::advance_zeros(kernels, pointers.data(), lanes, size / 64);
  for (std::size_t i = 0; i < lanes; ++i) {
    metainfo::Tail tail;
    tail.set_zeros(starts[i].size() + size);
    inputs[i] = {&states[i], tail.data(), tail.blocks()};
    metainfo::advance_all<Sha1>(kernels, &inputs[i], 1);
    metainfo::Sha1Digest digest;
    metainfo::write_digest(states[i], digest.data());
    starts[i].resize(starts[i].size() + size);
    REQUIRE(digest == oracle::sha1(starts[i].data(), starts[i].size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const Kernels& kernels = kernel_lists()[input.below(kernel_lists().size())];
  INFO("kernels from ", name_of(kernels), " on");
  if (input.below(2) == 0)
    messages(input, kernels);
  else
    zeros(input, kernels);
  return 0;
}
