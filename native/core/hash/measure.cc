// Times the functions of a kernel in rounds and keeps the best round.
#include "core/hash/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/hash/sha.h"

namespace metainfo {
namespace {

constexpr std::size_t kMessage = 1 << 14;
constexpr std::size_t kGap = 192;  // the same gap as between the lanes of a PieceWorker

// The speed of the best round: other load on the machine can only slow a round down.
template <typename Run>
double best_speed(double seconds, std::size_t bytes, Run run) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  constexpr int kRounds = 16;
  double best = 0;
  const auto start = Clock::now();
  do {
    const auto round = Clock::now();
    for (int i = 0; i < kRounds; ++i) run();
    best = std::max(best, static_cast<double>(bytes) * kRounds / since(round));
  } while (since(start) < seconds);
  return best;
}

}  // namespace

KernelSpeed measure_kernel(const Kernel& kernel, double seconds) {
  std::vector<std::uint8_t> memory(kMaxLanes * (kMessage + kGap));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint8_t>(i * 131 % 251);
  Sha1State sha1[kMaxLanes];
  Sha256State sha256[kMaxLanes];
  Sha1State* sha1_states[kMaxLanes];
  Sha256State* sha256_states[kMaxLanes];
  const std::uint8_t* data[kMaxLanes];
  for (std::size_t lane = 0; lane < kMaxLanes; ++lane) {
    sha1[lane] = Sha1::kInitial;
    sha256[lane] = Sha256::kInitial;
    sha1_states[lane] = &sha1[lane];
    sha256_states[lane] = &sha256[lane];
    data[lane] = &memory[lane * (kMessage + kGap)];
  }
  const std::size_t bytes = kernel.lanes * kMessage;
  constexpr std::size_t kBlocks = kMessage / kShaBlock;
  KernelSpeed speed{};
  if (kernel.sha1_many != nullptr)
    speed.sha1 = best_speed(seconds, bytes, [&] { kernel.sha1_many(sha1_states, data, kBlocks); });
  if (kernel.sha1_zeros != nullptr)
    speed.sha1_zeros = best_speed(seconds, bytes, [&] { kernel.sha1_zeros(sha1_states, kBlocks); });
  if (kernel.sha256_many != nullptr)
    speed.sha256 = best_speed(seconds, bytes, [&] { kernel.sha256_many(sha256_states, data, kBlocks); });
  if (kernel.sha256_nodes != nullptr) {
    std::uint8_t out[kMaxLanes * 32];
    speed.sha256_nodes = best_speed(seconds, bytes, [&] {
      for (std::size_t i = 0; i < kBlocks; ++i)
        kernel.sha256_nodes(out, &memory[i % (kMaxLanes)*kShaBlock * kMaxLanes]);
    });
  }
  return speed;
}

}  // namespace metainfo
