// Unnamed files (O_TMPFILE), one syncfs, links, one fsync of the folder.
#include "core/files/write_group.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#ifdef __linux__
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#endif

namespace metainfo {

std::uint64_t dirty_kib(const char* meminfo) {
  const char* line = std::strstr(meminfo, "\nDirty:");
  return line == nullptr ? 0 : std::strtoull(line + std::strlen("\nDirty:"), nullptr, 10);
}

#ifdef __linux__
namespace {

// syncfs also writes what other programs have left dirty. With more than this, it may take a second.
constexpr std::uint64_t kMaxDirtyKib = std::uint64_t{128} << 10;
constexpr std::chrono::seconds kSlow{1};
// The groups that sync file by file after a slow syncfs.
constexpr unsigned kGroupsAfterSlow = 64;

std::atomic<unsigned> groups_file_by_file{0};

class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

int write_all(int descriptor, const std::uint8_t* bytes, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = ::write(descriptor, bytes + done, size - done);
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return 0;
}

int fill(int descriptor, const NewFile& file) {
  // First the permissions: a torrent may hold a passkey. Only root may give a file away.
  if (file.owner) {
    const int ignored = ::fchown(descriptor, file.owner->user, file.owner->group);
    static_cast<void>(ignored);
    if (::fchmod(descriptor, file.owner->mode) != 0) return errno;
  }
  if (const int error = write_all(descriptor, file.bytes, file.size)) return error;
  if (!file.mtime) return 0;
  timespec time{};
  const double seconds = std::floor(*file.mtime / 1e3);
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>((*file.mtime - seconds * 1e3) * 1e6);
  const std::array<timespec, 2> times{time, time};
  return ::futimens(descriptor, times.data()) == 0 ? 0 : errno;
}

// File systems by their numbers in <linux/magic.h>, which not every C library has.
enum : std::uint32_t {
  kBtrfs = 0x9123683e,
  kExt4 = 0xef53,
  kF2fs = 0xf2f52010,
  kOverlay = 0x794c7630,
  kTmpfs = 0x01021994,
  kXfs = 0x58465342
};

// Whether syncfs writes the content of all files. FUSE and network file systems may do nothing.
bool syncs_all(int folder) {
  constexpr std::array<std::uint32_t, 6> kLocal{kBtrfs, kExt4, kF2fs, kOverlay, kTmpfs, kXfs};
  struct statfs facts;
  return ::fstatfs(folder, &facts) == 0 && std::any_of(kLocal.begin(), kLocal.end(), [&](auto magic) {
           return static_cast<std::uint32_t>(facts.f_type) == magic;
         });
}

bool may_sync_all() {
  unsigned left = groups_file_by_file;
  while (left != 0)
    if (groups_file_by_file.compare_exchange_weak(left, left - 1)) return false;
  const Descriptor meminfo(::open("/proc/meminfo", O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  if (meminfo.get() < 0 || ::read(meminfo.get(), text.data(), text.size() - 1) <= 0) return false;
  return dirty_kib(text.data()) <= kMaxDirtyKib;
}

// Syncs the whole file system at once; false if the files must be synced one by one.
bool sync_all(int folder) {
  const auto begin = std::chrono::steady_clock::now();
  const bool synced = ::syncfs(folder) == 0;
  if (std::chrono::steady_clock::now() - begin > kSlow) groups_file_by_file = kGroupsAfterSlow;
  return synced;
}

// Before Linux 5.8, syncfs does not tell that content could not be written: sync_file_range does, at no cost.
int sync_file(int descriptor, bool all_synced) {
  const int result =
      all_synced ? ::sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE) : ::fsync(descriptor);
  return result == 0 ? 0 : errno;
}

int link_file(int descriptor, int folder, const NewFile& file) {
  const bool replaces = !file.temporary.empty();
  const char* name = (replaces ? file.temporary : file.name).c_str();
  std::array<char, 32> held{};
  static_cast<void>(std::snprintf(held.data(), held.size(), "/proc/self/fd/%d", descriptor));
  if (::linkat(AT_FDCWD, held.data(), folder, name, AT_SYMLINK_FOLLOW) != 0) return errno;
  // linkat replaces nothing: only between these two calls can a killed process leave the temporary name.
  if (!replaces || ::renameat(folder, name, folder, file.name.c_str()) == 0) return 0;
  const int error = errno;
  ::unlinkat(folder, name, 0);
  return error;
}

// Not every file system can sync a folder; the files are safe without it.
int sync_folder(int folder) {
  if (::fsync(folder) == 0) return 0;
  return errno == EINVAL || errno == ENOTSUP || errno == ENOSYS ? 0 : errno;
}

// Takes the name of a file away again after an error, unless the file has replaced another one, which is
// lost.
void give_up(NewFile& file, int folder, int error) {
  if (error == 0) return;
  file.error = file.temporary.empty() ? error : -error;
  if (file.temporary.empty()) ::unlinkat(folder, file.name.c_str(), 0);
}

void write_files(const char* folder_path, std::vector<NewFile>& files) {
  const Descriptor folder(::open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::vector<Descriptor> unnamed;
  unnamed.reserve(files.size());
  for (NewFile& file : files) {
    unnamed.emplace_back(file.descriptor >= 0
                             ? ::fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
                             : ::openat(folder.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    const int descriptor = unnamed.back().get();
    file.error = descriptor < 0 ? errno : fill(descriptor, file);
  }
  const bool all_synced =
      files.size() > 1 && syncs_all(folder.get()) && may_sync_all() && sync_all(folder.get());
  for (std::size_t i = 0; i < files.size(); ++i)
    if (files[i].error == 0) files[i].error = sync_file(unnamed[i].get(), all_synced);
  bool any_linked = false;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].error != 0) continue;
    files[i].error = link_file(unnamed[i].get(), folder.get(), files[i]);
    if (files[i].error != 0) continue;
    any_linked = true;
    // Btrfs did not log files without a name for a long time. Elsewhere, the sync of the folder then has
    // little to do.
    if (!all_synced) give_up(files[i], folder.get(), sync_file(unnamed[i].get(), false));
  }
  const int error = any_linked ? sync_folder(folder.get()) : 0;
  for (NewFile& file : files)
    if (file.error == 0) give_up(file, folder.get(), error);
}

}  // namespace
#endif

void write_group(const char* folder, std::vector<NewFile>& files) noexcept {
#ifdef __linux__
  try {
    write_files(folder, files);
  } catch (const std::bad_alloc&) {
    // Only for the descriptors, before the first file.
    for (NewFile& file : files) file.error = ENOMEM;
  }
#else
  static_cast<void>(folder);
  for (NewFile& file : files) file.error = EOPNOTSUPP;
#endif
}

}  // namespace metainfo
