#include "core/hash/measure.h"

#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "kernel_lists.h"
#include "kernels/kernel_functions.h"
#include "test.h"

using metainfo::Kernel;
using metainfo::Kernels;
using metainfo::KernelSpeed;

namespace {

void check_speed(const Kernel& kernel) {
  INFO(std::string(kernel.name));
  const KernelSpeed speed = metainfo::measure_kernel(kernel, 0);
  REQUIRE_EQ(speed.sha1 > 0, kernel.sha1_many != nullptr);
  REQUIRE_EQ(speed.sha1_zeros > 0, kernel.sha1_zeros != nullptr);
  REQUIRE_EQ(speed.sha256 > 0, kernel.sha256_many != nullptr);
  REQUIRE_EQ(speed.sha256_nodes > 0, kernel.sha256_nodes != nullptr);
  for (const double value : {speed.sha1, speed.sha1_zeros, speed.sha256, speed.sha256_nodes})
    REQUIRE((std::isfinite(value) && value >= 0));
}

}  // namespace

TEST_CASE("measure_kernel: gives a speed for exactly the functions of the kernel") {
  for (const Kernels& kernels : kernel_lists()) check_speed(*kernels.list[0]);
  check_speed({"no hash", 0, 0, 1, 1, nullptr, nullptr, nullptr, nullptr});
  check_speed({"nodes", 0, 0, 1, 1, nullptr, nullptr, nullptr, metainfo::openssl_sha256_nodes});
  check_speed({"SHA-1", 0, 0, 1, 1, metainfo::openssl_sha1_many, nullptr, nullptr, nullptr});
}

TEST_CASE("race_sha256: threads agree on one kernel that has SHA-256, and later jobs start with it") {
  metainfo::set_first_sha256(SIZE_MAX);
  std::vector<Kernels> raced(4);
  std::vector<std::thread> threads;
  for (Kernels& kernels : raced) {
    REQUIRE(metainfo::select_kernels(nullptr, kernels));
    threads.emplace_back([&kernels] { metainfo::race_sha256(kernels); });
  }
  for (std::thread& thread : threads) thread.join();
  Kernels later;
  REQUIRE(metainfo::select_kernels(nullptr, later));
  REQUIRE(!later.race_sha256);
  for (const Kernels& kernels : raced) REQUIRE_EQ(kernels.first_sha256, later.first_sha256);
  REQUIRE((later.list[later.first_sha256]->sha256_many != nullptr));
  metainfo::set_first_sha256(SIZE_MAX);
}
