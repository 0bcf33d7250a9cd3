// Fuzz target: injects faults into system calls while a request is hashed. Harmless faults must not change
// the digests, others must fail the job with the path and the reason, and no descriptor may stay open.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include "random_plan.h"

namespace {

enum class Call { open, fstat, pread };
enum class Act { interrupted, fail, shortened, end, size, mtime, links, fifo };

struct Fault {
  Call call;
  std::uint64_t nth;
  Act act;
  int error;
};

// The failure that an injected fault must cause.
struct ExpectedFailure {
  metainfo::Failure::Code code;
  int error;
  std::string path;
};

constexpr int kMaxDescriptors = 4096;

// The faults to inject, and what was called on the files of the request, from any thread.
struct System {
  std::atomic<bool> active{false};
  std::string folder;
  std::vector<Fault> faults;
  std::array<std::atomic<std::uint64_t>, 3> calls{};
  std::array<std::string, kMaxDescriptors> paths;  // empty: not a file of the request
  std::mutex mutex;                                // guards all members except the flag and the counts
  std::vector<ExpectedFailure> fired;
  int open = 0;
};
System& system_calls() {
  static System all;
  return all;
}

const Fault* fault(Call call) {
  System& all = system_calls();
  const std::uint64_t nth = all.calls[static_cast<std::size_t>(call)]++;
  for (const Fault& one : all.faults) {
    if (one.call == call && one.nth == nth) return &one;
  }
  return nullptr;
}

void fire(metainfo::Failure::Code code, int error, const std::string& path) {
  const std::lock_guard<std::mutex> lock(system_calls().mutex);
  system_calls().fired.push_back({code, error, path});
}

// The path of a descriptor; empty if it is not a file of the request.
std::string path_of(int descriptor) {
  System& all = system_calls();
  if (!all.active || descriptor < 0 || descriptor >= kMaxDescriptors) return {};
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.paths[static_cast<std::size_t>(descriptor)];
}

}  // namespace

extern "C" {
int __real_open(const char* path, int flags, ...);
int __real_close(int descriptor);
int __real_fstat(int descriptor, struct stat* status);
ssize_t __real_pread(int descriptor, void* out, std::size_t size, off_t offset);

int __wrap_open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  System& all = system_calls();
  const bool ours = all.active && std::string(path).compare(0, all.folder.size(), all.folder) == 0;
  if (!ours) return __real_open(path, flags, mode);
  if (const Fault* found = fault(Call::open)) {
    using Code = metainfo::Failure::Code;
    if (found->act != Act::interrupted)
      fire(found->error == ENXIO ? Code::not_a_file : Code::open, found->error, path);
    errno = found->act == Act::interrupted ? EINTR : found->error;
    return -1;
  }
  const int descriptor = __real_open(path, flags, mode);
  if (descriptor < 0) return descriptor;
  if (descriptor >= kMaxDescriptors) std::abort();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.paths[static_cast<std::size_t>(descriptor)] = path;
  ++all.open;
  return descriptor;
}

int __wrap_close(int descriptor) {
  if (!path_of(descriptor).empty()) {
    System& all = system_calls();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.paths[static_cast<std::size_t>(descriptor)].clear();
    --all.open;
  }
  return __real_close(descriptor);
}

int __wrap_fstat(int descriptor, struct stat* status) {
  const std::string path = path_of(descriptor);
  const Fault* found = path.empty() ? nullptr : fault(Call::fstat);
  if (found != nullptr && found->act == Act::interrupted) {
    errno = EINTR;
    return -1;
  }
  using Code = metainfo::Failure::Code;
  if (found != nullptr && found->act == Act::fail) {
    fire(Code::read, found->error, path);
    errno = found->error;
    return -1;
  }
  const int result = __real_fstat(descriptor, status);
  if (found == nullptr || result != 0) return result;
  // A wrong file type is reported only when the file is opened: later, its size has changed.
  if (found->act == Act::fifo) status->st_mode = (status->st_mode & ~static_cast<mode_t>(S_IFMT)) | S_IFIFO;
  if (found->act == Act::size || found->act == Act::fifo) status->st_size += 1;
  if (found->act == Act::mtime) status->st_mtim.tv_sec += 1;
  if (found->act == Act::links) status->st_nlink = 0;
  fire(found->act == Act::fifo ? Code::not_a_file : Code::changed, 0, path);
  return result;
}

ssize_t __wrap_pread(int descriptor, void* out, std::size_t size, off_t offset) {
  const std::string path = path_of(descriptor);
  const Fault* found = path.empty() ? nullptr : fault(Call::pread);
  if (found == nullptr) return __real_pread(descriptor, out, size, offset);
  switch (found->act) {
    case Act::interrupted:
      errno = EINTR;
      return -1;
    case Act::shortened:
      return __real_pread(descriptor, out, 1 + found->nth * 7919 % size, offset);
    case Act::end:
      fire(metainfo::Failure::Code::changed, 0, path);
      return 0;
    default:
      fire(metainfo::Failure::Code::read, found->error, path);
      errno = found->error;
      return -1;
  }
}
}

namespace {

Fault random_fault(fuzz::Input& input) {
  constexpr int kOpen[] = {EMFILE, EACCES, ENXIO, EIO};
  constexpr int kRead[] = {EIO, ESTALE, EBADF};
  constexpr Act kStatus[] = {Act::fail, Act::size, Act::mtime, Act::links, Act::fifo};
  constexpr Act kPread[] = {Act::fail, Act::shortened, Act::shortened, Act::end};
  const auto call = static_cast<Call>(input.below(3));
  const std::uint64_t nth = input.below(call == Call::pread ? 60 : 12);
  if (input.below(3) == 0) return {call, nth, Act::interrupted, EINTR};
  if (call == Call::open) return {call, nth, Act::fail, kOpen[input.below(4)]};
  const Act act = call == Call::fstat ? kStatus[input.below(5)] : kPread[input.below(4)];
  return {call, nth, act, kRead[input.below(3)]};
}

void check_run(metainfo::HashRequest request, const requests::Setting& setting,
               const requests::Expected& expected) {
  System& all = system_calls();
  request.threads = setting.threads;
  request.read_size = setting.read_size;
  request.memory_limit = setting.threads * setting.read_size * setting.reads;
  all.fired.clear();
  for (std::atomic<std::uint64_t>& count : all.calls) count = 0;
  all.active = true;
  const requests::Result result = setting.as_job ? requests::run_as_job(request, *setting.kernels)
                                                 : requests::run_as_workers(request, *setting.kernels);
  all.active = false;
  REQUIRE_EQ(all.open, 0);
  if (all.fired.empty()) {
    requests::check_result(result, expected);
    return;
  }
  REQUIRE(result.failure);
  const metainfo::Failure& failure = *result.failure;
  INFO(failure.path, ", ", failure.error, ", ", failure.detail);
  REQUIRE(std::any_of(all.fired.begin(), all.fired.end(), [&](const ExpectedFailure& expected) {
    // When a file is closed, only its size and times are checked, not its type.
    const bool same =
        expected.code == failure.code || (expected.code == metainfo::Failure::Code::not_a_file &&
                                          failure.code == metainfo::Failure::Code::changed);
    return same && expected.error == failure.error && expected.path == failure.path;
  }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  System& all = system_calls();
  fuzz::Input input(data, size);
  all.folder = folder.path();
  all.faults.resize(input.below(6));
  for (Fault& one : all.faults) one = random_fault(input);
  metainfo::HashRequest request = fuzz::random_request(input, folder);
  const requests::Expected expected = requests::expect(request);
  for (metainfo::RequestedFile& file : request.files) {
    if (!file.pad) file.mtime_ms = metainfo::file_status(file.path.c_str()).mtime_ms;
  }
  check_run(request, fuzz::random_setting(input), expected);
  return 0;
}
