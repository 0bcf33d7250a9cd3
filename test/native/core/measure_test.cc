#include "core/measure.h"

#include <cmath>

#include "check.h"
#include "kernels/rows.h"
#include "rows.h"

using metainfo::Kernel;
using metainfo::Kernels;
using metainfo::KernelSpeed;

namespace {

void check_speed(const Kernel& kernel) {
  const check::Case round(kernel.name);
  const KernelSpeed speed = metainfo::measure_kernel(kernel, 0);
  CHECK_EQUAL(speed.sha1 > 0, kernel.sha1_many != nullptr);
  CHECK_EQUAL(speed.sha1_zeros > 0, kernel.sha1_zeros != nullptr);
  CHECK_EQUAL(speed.sha256 > 0, kernel.sha256_many != nullptr);
  CHECK_EQUAL(speed.sha256_nodes > 0, kernel.sha256_nodes != nullptr);
  for (const double value : {speed.sha1, speed.sha1_zeros, speed.sha256, speed.sha256_nodes})
    CHECK(std::isfinite(value) && value >= 0);
}

}  // namespace

TEST("measure: a row has a speed for just what it does") {
  for (const Kernels& kernels : tables()) check_speed(*kernels.rows[0]);
  check_speed({"no hash", 0, 1, 1, nullptr, nullptr, nullptr, nullptr});
  check_speed({"nodes", 0, 1, 1, nullptr, nullptr, nullptr, metainfo::openssl_sha256_nodes});
  check_speed({"SHA-1", 0, 1, 1, metainfo::openssl_sha1_many, nullptr, nullptr, nullptr});
}
