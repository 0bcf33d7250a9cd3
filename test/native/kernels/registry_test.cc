#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "kernel_lists.h"
#include "kernels/cpu.h"
#include "kernels/kernel_functions.h"
#include "test.h"

using metainfo::cpu_features;
using metainfo::Kernel;
using metainfo::Kernels;
using metainfo::runnable_kernel;
using metainfo::select_kernels;

namespace {

std::size_t runnable_kernels() {
  std::size_t count = 0;
  while (runnable_kernel(count) != nullptr) ++count;
  return count;
}

bool runnable(const std::string& name) {
  for (std::size_t index = 0; const Kernel* kernel = runnable_kernel(index); ++index) {
    if (name == kernel->name) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("kernel registry: kernels have different names and a valid number of lanes") {
  std::set<std::string> names;
  std::size_t index = 0;
  for (; const Kernel* kernel = runnable_kernel(index); ++index) {
    INFO(std::string(kernel->name));
    REQUIRE(*kernel->name != '\0');
    REQUIRE(names.insert(kernel->name).second);
    REQUIRE((kernel->lanes >= 1 && kernel->lanes <= metainfo::kMaxLanes));
    REQUIRE((kernel->min_messages >= 1 && kernel->min_messages <= kernel->lanes));
    REQUIRE((kernel->sha1_many != nullptr || kernel->sha256_many != nullptr ||
             kernel->sha1_zeros != nullptr || kernel->sha256_nodes != nullptr));
  }
  REQUIRE((index >= 1 && index <= metainfo::kMaxKernels));
  REQUIRE(runnable_kernel(index + 1) == nullptr);
  REQUIRE(runnable_kernel(SIZE_MAX) == nullptr);
}

TEST_CASE("kernel registry: the last kernel runs everywhere, takes one message and has all functions") {
  const Kernel& last = *runnable_kernel(runnable_kernels() - 1);
  REQUIRE_EQ(std::string(last.name), "openssl");
  REQUIRE_EQ(last.needs, 0U);
  REQUIRE_EQ(last.lanes, 1U);
  REQUIRE_EQ(last.min_messages, 1U);
  REQUIRE((last.sha1_many == metainfo::openssl_sha1_many && last.sha1_zeros == metainfo::openssl_sha1_zeros));
  REQUIRE((last.sha256_many == metainfo::openssl_sha256_many &&
           last.sha256_nodes == metainfo::openssl_sha256_nodes));
}

TEST_CASE("kernel registry: selects all kernels, or those from the named one on") {
  const std::size_t count = runnable_kernels();
  const auto selects = [&](const char* name, std::size_t first) {
    Kernels kernels;
    REQUIRE(select_kernels(name, kernels));
    REQUIRE_EQ(kernels.count, count - first);
    for (std::size_t i = 0; i < kernels.count; ++i) REQUIRE(kernels.list[i] == runnable_kernel(first + i));
  };
  selects(nullptr, 0);
  selects("", 0);
  for (std::size_t index = 0; index < count; ++index) selects(runnable_kernel(index)->name, index);
}

TEST_CASE("kernel registry: SHA-256 starts with the winner of the race, unless a kernel is forced") {
  const std::size_t last = runnable_kernels() - 1;
  Kernels kernels;
  REQUIRE(select_kernels(nullptr, kernels));
  REQUIRE((kernels.race_sha256 && kernels.first_sha256 == 0));
  metainfo::set_first_sha256(last);
  REQUIRE(select_kernels("", kernels));
  REQUIRE((!kernels.race_sha256 && kernels.first_sha256 == last));
  REQUIRE(select_kernels("openssl", kernels));
  REQUIRE((!kernels.race_sha256 && kernels.first_sha256 == 0));
  metainfo::set_first_sha256(SIZE_MAX);
  REQUIRE(select_kernels("openssl", kernels));
  REQUIRE((!kernels.race_sha256 && kernels.first_sha256 == 0));
}

TEST_CASE("kernel registry: an unknown name selects no kernel") {
  for (const char* name : {"unknown", "openss", "openssl2", "OpenSSL", "openssl ", " ", "avx512", "x16"}) {
    INFO(std::string(name));
    Kernels kernels;
    REQUIRE(!select_kernels(name, kernels));
    REQUIRE_EQ(kernels.count, 0U);
  }
}

TEST_CASE("kernel registry: a kernel is runnable if the CPU has its features") {
  const std::uint32_t features = cpu_features();
  REQUIRE_EQ(cpu_features(), features);
  for (std::size_t index = 0; const Kernel* kernel = runnable_kernel(index); ++index) {
    REQUIRE_EQ(kernel->needs & ~features, 0U);
    REQUIRE_EQ(kernel->lacks & features, 0U);
  }
  const auto has = [features](std::uint32_t feature) { return (features & feature) != 0; };
  REQUIRE_EQ(runnable("avx512-x16"), has(metainfo::kAvx512));
  REQUIRE_EQ(runnable("avx512-x8"), has(metainfo::kAvx512));
  REQUIRE_EQ(runnable("avx2-x8"), has(metainfo::kAvx2));
  for (const char* name : {"sha-ni-x4", "sha-ni-x2", "sha-ni-x1"})
    REQUIRE_EQ(runnable(name), has(metainfo::kShaNi));
  for (const char* name : {"sha-ce-x4", "sha-ce-x2"}) REQUIRE_EQ(runnable(name), has(metainfo::kArmSha));
  if (has(metainfo::kAvx512)) REQUIRE(has(metainfo::kAvx2));
}

#ifdef METAINFO_X86
TEST_CASE("kernel registry: the compiler's runtime detects the same vector extensions") {
  const auto has = [](std::uint32_t feature) { return (cpu_features() & feature) != 0; };
  __builtin_cpu_init();
  REQUIRE_EQ(has(metainfo::kAvx2), __builtin_cpu_supports("avx2") != 0);
  REQUIRE_EQ(has(metainfo::kAvx512),
             __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
  REQUIRE(!has(metainfo::kArmSha));
}

TEST_CASE("kernel registry: the operating system reports the SHA extensions that we detect") {
  std::ifstream source("/proc/cpuinfo");
  std::string line;
  while (std::getline(source, line) && line.rfind("flags", 0) != 0) continue;
  if (line.empty()) return;
  std::istringstream words(line);
  std::set<std::string> flags;
  for (std::string word; words >> word;) flags.insert(word);
  // Not in the other direction: valgrind and virtual machines may hide features from programs.
  if ((cpu_features() & metainfo::kShaNi) != 0) REQUIRE_EQ(flags.count("sha_ni"), 1U);
}
#endif
