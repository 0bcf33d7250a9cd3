// Times the functions of a kernel in rounds and keeps the best round, and races kernels.
#include "core/hash/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/hash/sha.h"

namespace metainfo {
namespace {

constexpr std::size_t kMessage = 1 << 14;

// The speed of the best round: other load on the machine can only slow a round down.
template <int kRounds = 16, typename Run>
double best_speed(double seconds, std::size_t bytes, Run run) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  double best = 0;
  const auto start = Clock::now();
  do {
    const auto round = Clock::now();
    for (int i = 0; i < kRounds; ++i) run();
    best = std::max(best, static_cast<double>(bytes) * kRounds / since(round));
  } while (since(start) < seconds);
  return best;
}

// Messages for all lanes of a kernel.
struct Lanes {
  Lanes() : memory(kMaxLanes * (kMessage + kLaneGap)) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint8_t>(i * 131 % 251);
    for (std::size_t lane = 0; lane < kMaxLanes; ++lane) {
      sha1[lane] = Sha1::kInitial;
      sha256[lane] = Sha256::kInitial;
      sha1_states[lane] = &sha1[lane];
      sha256_states[lane] = &sha256[lane];
      data[lane] = &memory[lane * (kMessage + kLaneGap)];
    }
  }

  std::vector<std::uint8_t> memory;
  Sha1State sha1[kMaxLanes];
  Sha256State sha256[kMaxLanes];
  Sha1State* sha1_states[kMaxLanes];
  Sha256State* sha256_states[kMaxLanes];
  const std::uint8_t* data[kMaxLanes];
};

constexpr double kRaceSeconds = 2e-3;
// How much faster the second kernel must be: if both are about equal, the first one stays.
constexpr double kMargin = 1.05;

// The index of the kernel with which SHA-256 should start.
std::size_t winner_of_race(const Kernels& kernels) {
  std::size_t contenders[2] = {0, 0};
  std::size_t count = 0;
  for (std::size_t index = 0; index < kernels.count && count < 2; ++index) {
    const Kernel& kernel = *kernels.list[index];
    if (kernel.sha256_many == nullptr) continue;
    if (count == 0 || kernel.needs != kernels.list[contenders[0]]->needs) contenders[count++] = index;
  }
  if (count < 2) return contenders[0];
  Lanes lanes;
  double speeds[2] = {0, 0};
  constexpr int kTurns = 4;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; i < 2; ++i) {
      const Kernel& kernel = *kernels.list[contenders[i]];
      const double speed = best_speed<1>(kRaceSeconds / kTurns / 2, kernel.lanes * kMessage, [&] {
        kernel.sha256_many(lanes.sha256_states, lanes.data, kMessage / kShaBlock);
      });
      speeds[i] = std::max(speeds[i], speed);
    }
  }
  return contenders[speeds[1] > speeds[0] * kMargin ? 1 : 0];
}

}  // namespace

KernelSpeed measure_kernel(const Kernel& kernel, double seconds) {
  Lanes lanes;
  const std::size_t bytes = kernel.lanes * kMessage;
  constexpr std::size_t kBlocks = kMessage / kShaBlock;
  KernelSpeed speed{};
  if (kernel.sha1_many != nullptr)
    speed.sha1 =
        best_speed(seconds, bytes, [&] { kernel.sha1_many(lanes.sha1_states, lanes.data, kBlocks); });
  if (kernel.sha1_zeros != nullptr)
    speed.sha1_zeros = best_speed(seconds, bytes, [&] { kernel.sha1_zeros(lanes.sha1_states, kBlocks); });
  if (kernel.sha256_many != nullptr)
    speed.sha256 =
        best_speed(seconds, bytes, [&] { kernel.sha256_many(lanes.sha256_states, lanes.data, kBlocks); });
  if (kernel.sha256_nodes != nullptr) {
    std::uint8_t out[kMaxLanes * 32];
    speed.sha256_nodes = best_speed(seconds, bytes, [&] {
      for (std::size_t i = 0; i < kBlocks; ++i)
        kernel.sha256_nodes(out, &lanes.memory[i % (kMaxLanes)*kShaBlock * kMaxLanes]);
    });
  }
  return speed;
}

void race_sha256(Kernels& kernels) {
  static const std::size_t winner = winner_of_race(kernels);
  set_first_sha256(winner);
  kernels.first_sha256 = winner;
}

}  // namespace metainfo
