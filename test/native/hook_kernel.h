// A kernel that calls the test on the hashing thread before it hashes content or zeros, so that a test can
// act at a known moment of a job. Merkle nodes are hashed without a call.
//
// Only one may exist at a time, and it must outlive the jobs that use it.
#pragma once

#include <functional>
#include <utility>

#include "kernel_lists.h"
#include "kernels/kernel_functions.h"

class HookKernel {
 public:
  explicit HookKernel(std::function<void()> hook) { current() = std::move(hook); }
  ~HookKernel() { current() = nullptr; }
  HookKernel(const HookKernel&) = delete;
  HookKernel& operator=(const HookKernel&) = delete;

  static metainfo::Kernels kernels() {
    static constexpr metainfo::Kernel kKernel = {
        "hook", 0, 0, 1, 1, sha1_many, sha256_many, sha1_zeros, metainfo::openssl_sha256_nodes};
    return only(kKernel);
  }

 private:
  static std::function<void()>& current() {
    static std::function<void()> hook;
    return hook;
  }

  static void sha1_many(metainfo::Sha1State* const* states, const std::uint8_t* const* data,
                        std::size_t blocks) {
    current()();
    metainfo::openssl_sha1_many(states, data, blocks);
  }

  static void sha256_many(metainfo::Sha256State* const* states, const std::uint8_t* const* data,
                          std::size_t blocks) {
    current()();
    metainfo::openssl_sha256_many(states, data, blocks);
  }

  static void sha1_zeros(metainfo::Sha1State* const* states, std::size_t blocks) {
    current()();
    metainfo::openssl_sha1_zeros(states, blocks);
  }
};
