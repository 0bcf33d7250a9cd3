// A table of one row that calls the test before it hashes content or zeros, on the thread that hashes: so a
// test acts in the middle of a job, at a place it knows. Merkle nodes are hashed without. One at a time; it
// must outlive the jobs that use it.
#pragma once

#include <functional>
#include <utility>

#include "kernels/kernel_functions.h"
#include "kernel_lists.h"

class HookKernel {
 public:
  explicit HookKernel(std::function<void()> hook) { current() = std::move(hook); }
  ~HookKernel() { current() = nullptr; }
  HookKernel(const HookKernel&) = delete;
  HookKernel& operator=(const HookKernel&) = delete;

  static metainfo::Kernels kernels() {
    static constexpr metainfo::Kernel kRow = {
        "hook", 0, 1, 1, sha1_many, sha256_many, sha1_zeros, metainfo::openssl_sha256_nodes};
    return only(kRow);
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
