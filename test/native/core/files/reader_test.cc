#include "core/files/reader.h"

#include <sys/stat.h>
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <fcntl.h>
// Some C libraries, such as musl, come without the kernel's headers.
#if defined(__linux__) && __has_include(<linux/seccomp.h>)
#define HAS_FILTERS
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>

#include "files.h"
#include "oracle.h"
#include "test.h"

using metainfo::Failure;
using metainfo::file_status;
using metainfo::FileStatus;
using metainfo::Reader;
using metainfo::RequestedFile;
using oracle::Bytes;

namespace {

constexpr double kUnchecked = std::numeric_limits<double>::quiet_NaN();

Bytes read(const Reader& reader, std::uint64_t offset, std::size_t size) {
  Bytes bytes(size);
  reader.read(offset, bytes.data(), size);
  return bytes;
}

Bytes range_of(const Bytes& bytes, std::size_t offset, std::size_t size) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

// Finds an open descriptor of a file; -1 if there is none.
#ifdef _WIN32
std::intptr_t descriptor_of(const std::string& path) {
  BY_HANDLE_FILE_INFORMATION wanted;
  const HANDLE file = ::CreateFileW(native_path(path).c_str(), FILE_READ_ATTRIBUTES, 7, nullptr,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  const bool is_there = ::GetFileInformationByHandle(file, &wanted) != 0;
  ::CloseHandle(file);
  // Handles are multiples of four.
  for (std::intptr_t handle = 4; is_there && handle < 4096; handle += 4) {
    BY_HANDLE_FILE_INFORMATION found;
    if (::GetFileInformationByHandle(reinterpret_cast<HANDLE>(handle), &found) &&
        found.nFileIndexHigh == wanted.nFileIndexHigh && found.nFileIndexLow == wanted.nFileIndexLow)
      return handle;
  }
  return -1;
}

// The error of the system for a path that goes through a file.
constexpr int kBeneathFile = ENOENT;
#else
int descriptor_of(const std::string& path) {
  struct stat wanted;
  if (::stat(path.c_str(), &wanted) != 0) return -1;
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    struct stat found;
    if (::fstat(descriptor, &found) == 0 && found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino)
      return descriptor;
  }
  return -1;
}

constexpr int kBeneathFile = ENOTDIR;
#endif

// Requires that opening the file fails with its path and leaves no descriptor open.
Failure refused(const RequestedFile& file) {
  Failure failure = thrown_by<Failure>([&] { static_cast<void>(Reader(file)); });
  REQUIRE_EQ(failure.path, file.path);
  REQUIRE_EQ(descriptor_of(file.path), -1);
  return failure;
}

RequestedFile unchecked(const std::string& path) {
  RequestedFile file;
  file.path = path;
  file.mtime_ms = kUnchecked;
  return file;
}

}  // namespace

TEST_CASE("Reader: reads content in memory without a file") {
  const Bytes bytes = oracle::content(100, 1);
  RequestedFile file;
  // On the heap, so that sanitizers detect a write past the end.
  file.data = bytes.data();
  file.offset = 10;
  file.length = 80;
  file.size = bytes.size();
  const Reader reader(file);
  REQUIRE_EQ(read(reader, 0, 80), range_of(bytes, 10, 80));
  REQUIRE_EQ(read(reader, 79, 1), range_of(bytes, 89, 1));
  REQUIRE_EQ(read(reader, 80, 0), Bytes());
  reader.will_need(0, 80);
  reader.check_unchanged();
}

TEST_CASE("Reader: reads the requested range") {
  const TempFolder folder;
  const Bytes bytes = oracle::content(100000, 1);
  const RequestedFile file = folder.add("file", bytes);
  const Reader reader(file);
  for (const std::size_t offset : {0, 1, 16384, 50000, 99999}) {
    for (const std::size_t size : {0, 1, 16383, 16384, 50000, 100000}) {
      if (offset + size > bytes.size()) continue;
      INFO(size, " bytes at ", offset);
      REQUIRE_EQ(read(reader, offset, size), range_of(bytes, offset, size));
    }
  }
  REQUIRE_EQ(read(reader, bytes.size(), 0), Bytes{});
  reader.check_unchanged();
}

TEST_CASE("Reader: content may start inside the file") {
  const TempFolder folder;
  const Bytes bytes = oracle::content(5000, 2);
  RequestedFile file = folder.add("file", bytes);
  file.offset = 1234;
  file.length = 1000;
  const Reader reader(file);
  REQUIRE_EQ(read(reader, 0, 1000), range_of(bytes, 1234, 1000));
  REQUIRE_EQ(read(reader, 999, 1), range_of(bytes, 2233, 1));
}

#ifndef _WIN32  // Windows follows links
namespace {

// Checks how Reader treats symbolic links. Returns a description of the first mistake, or an empty string.
std::string wrong_with_links() {
  const TempFolder folder;
  const Bytes bytes = oracle::content(100, 5);
  std::filesystem::create_directories(folder.path("a/b"));
  const RequestedFile file = folder.add("a/b/file", bytes);
  if (read(Reader(file), 0, bytes.size()) != bytes) return "it reads something else";
  std::filesystem::create_symlink("file", folder.path("a/b/link"));
  std::filesystem::create_symlink("b", folder.path("a/to-folder"));
  std::filesystem::create_symlink("loop", folder.path("a/loop"));
  for (const char* name :
       {"a/b/link", "a/loop", "a/to-folder/file", "a/b/absent", "absent/file", "a/b/file/x"}) {
    RequestedFile other = file;
    other.path = folder.path(name);
    try {
      const Reader reader(other);
      return std::string("it opens ") + name;
    } catch (const Failure& failure) {
      if (failure.path != other.path) return std::string("it names another path than ") + name;
      const bool gone = failure.error == ENOENT || failure.error == ENOTDIR;
      const bool link = std::filesystem::is_symlink(std::filesystem::symlink_status(other.path));
      if (link ? failure.code != Failure::Code::changed : failure.code != Failure::Code::changed && !gone)
        return std::string("another failure of ") + name;
    }
  }
  return {};
}

#ifdef HAS_FILTERS
// Installs a filter that hides openat2 from this process, as on Linux before 5.6.
bool forget_openat2() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 437, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof code / sizeof *code, code};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, 2, &program) != 0)
    return false;
  return ::syscall(437, 0, nullptr, nullptr, 0) == -1 && errno == ENOSYS;
}
#endif

}  // namespace

TEST_CASE("Reader: follows no symbolic link in any component of a path") {
  REQUIRE_EQ(wrong_with_links(), std::string());
}
#endif

#ifdef HAS_FILTERS
TEST_CASE("Reader: follows no symbolic link where the system has no call for that") {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    // Emulators do not support filters: then there is nothing to test.
    const std::string wrong = forget_openat2() ? wrong_with_links() : std::string();
    std::fprintf(stderr, "%s", wrong.c_str());
    // A signal instead of an exit code: valgrind would replace the code, because it reports the memory of
    // threads that do not exist in the child as lost.
    ::kill(::getpid(), wrong.empty() ? SIGKILL : SIGTERM);
  }
  int status = 0;
  REQUIRE_EQ(::waitpid(child, &status, 0), child);
  REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
}
#endif

TEST_CASE("Reader: reads beyond 4 GiB") {
  const TempFolder folder;
  constexpr std::uint64_t kFar = (std::uint64_t{5} << 30) + 7;
  const Bytes bytes = oracle::content(100, 3);
  RequestedFile file = folder.add("sparse", {});
  std::filesystem::resize_file(file.path, kFar);
  write_file(file.path, bytes, std::ios::app);
  file.size = file.length = kFar + bytes.size();
  file.mtime_ms = kUnchecked;
  REQUIRE_EQ(read(Reader(file), kFar, bytes.size()), bytes);
  file.offset = kFar - 5;
  REQUIRE_EQ(read(Reader(file), 15, 90), range_of(bytes, 10, 90));
}

TEST_CASE("Reader: a file that ends too early has changed") {
  const TempFolder folder;
  const RequestedFile file = folder.add("file", oracle::content(100, 4));
  const Reader reader(file);
  Bytes bytes(101);
  REQUIRE(thrown_by<Failure>([&] { static_cast<void>(reader.read(0, bytes.data(), 101)); }).code ==
          Failure::Code::changed);
  REQUIRE(thrown_by<Failure>([&] { static_cast<void>(reader.read(100, bytes.data(), 1)); }).code ==
          Failure::Code::changed);
  std::filesystem::resize_file(file.path, 40);
  const Failure failure = thrown_by<Failure>([&] { static_cast<void>(reader.read(10, bytes.data(), 50)); });
  REQUIRE(failure.code == Failure::Code::changed);
  REQUIRE_EQ(failure.path, file.path);
  REQUIRE_EQ(failure.detail, "it ended at byte 40 of 100");
}

TEST_CASE("Reader: fails to open a file that does not exist") {
  const TempFolder folder;
  const RequestedFile file = folder.add("file", oracle::content(10, 5));
  const Failure missing = refused(unchecked(folder.path("missing")));
  REQUIRE(missing.code == Failure::Code::open);
  REQUIRE_EQ(missing.error, ENOENT);
  const Failure beneath = refused(unchecked(file.path + "/beneath"));
  REQUIRE(beneath.code == Failure::Code::open);
  REQUIRE_EQ(beneath.error, kBeneathFile);
}

TEST_CASE("Reader: rejects everything but regular files without blocking") {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path("folder"));
#ifdef _WIN32
  const std::string fifo = "\\\\.\\pipe\\metainfo-reader-test";
  const std::string device = "\\\\.\\NUL";
  const HANDLE pipe =
      ::CreateNamedPipeA(fifo.c_str(), PIPE_ACCESS_OUTBOUND, PIPE_TYPE_BYTE, 1, 0, 0, 0, nullptr);
  REQUIRE(pipe != INVALID_HANDLE_VALUE);
#else
  const std::string fifo = folder.path("fifo");
  const std::string device = "/dev/zero";
  REQUIRE_EQ(::mkfifo(fifo.c_str(), 0600), 0);
#endif
  for (const std::string& path : {fifo, folder.path("folder"), device}) {
    INFO(path);
    const Failure failure = thrown_by<Failure>([&] { static_cast<void>(Reader(unchecked(path))); });
    REQUIRE(failure.code == Failure::Code::not_a_file);
    REQUIRE_EQ(failure.path, path);
    REQUIRE_EQ(descriptor_of(path), -1);
  }
#ifdef _WIN32
  ::CloseHandle(pipe);
#endif
}

TEST_CASE("Reader: accepts any characters, and paths longer than 260 characters") {
  const TempFolder folder;
  std::string deep = "\xc3\xa4 \xf0\x9f\x8e\xb5";
  for (int i = 0; i < 3; ++i) {
    deep += "/" + std::string(100, static_cast<char>('a' + i));
    std::filesystem::create_directories(native_path(folder.path(deep)));
  }
  // Without the prefix for long paths, Windows would take these for a file without the dot and for a device.
  for (const std::string name : {"\xd0\xb6.bin", "ends with a dot.", "nul"}) {
    INFO(name);
    const Bytes bytes = oracle::content(100, name.size());
    const RequestedFile file = folder.add(deep + "/" + name, bytes);
    REQUIRE_EQ(read(Reader(file), 0, 100), bytes);
    REQUIRE_EQ(file_status(file.path.c_str()).mtime_ms, TempFolder::kMtimeMs);
  }
}

TEST_CASE("Reader: a different size is a change") {
  const TempFolder folder;
  RequestedFile file = folder.add("file", oracle::content(100, 7));
  file.mtime_ms = kUnchecked;
  for (const std::uint64_t size : {0, 99, 101}) {
    INFO(size);
    file.size = size;
    const Failure failure = refused(file);
    REQUIRE(failure.code == Failure::Code::changed);
    REQUIRE_EQ(failure.detail, "its size went from " + std::to_string(size) + " to 100 bytes");
  }
}

TEST_CASE("Reader: a different mtime is a change, unless the request has none") {
  const TempFolder folder;
  RequestedFile file = folder.add("file", oracle::content(100, 8));
  REQUIRE_EQ(read(Reader(file), 0, 1).size(), 1U);
  // At this date, a double has a resolution of about a quarter of a microsecond.
  for (const long nanoseconds : {TempFolder::kNanoseconds - 1000, TempFolder::kNanoseconds + 1000}) {
    set_mtime(file.path, TempFolder::kSeconds, nanoseconds);
    REQUIRE(refused(file).code == Failure::Code::changed);
  }
  set_mtime(file.path, TempFolder::kSeconds + 1, TempFolder::kNanoseconds);
  REQUIRE(refused(file).code == Failure::Code::changed);
  file.mtime_ms = kUnchecked;
  Reader(file).check_unchanged();
}

TEST_CASE("Reader: detects changes of an open file") {
  const TempFolder folder;
  const auto changed = [](const Reader& reader) {
    const Failure failure = thrown_by<Failure>([&] { static_cast<void>(reader.check_unchanged()); });
    return failure.code == Failure::Code::changed;
  };
  RequestedFile file = folder.add("grown", oracle::content(100, 9));
  file.mtime_ms = kUnchecked;
  const Reader grown(file);
  grown.check_unchanged();
  write_file(file.path, {1}, std::ios::app);
  REQUIRE(changed(grown));
  std::filesystem::resize_file(file.path, 99);
  REQUIRE(changed(grown));
  std::filesystem::resize_file(file.path, 100);
  grown.check_unchanged();

  const RequestedFile touched_file = folder.add("touched", oracle::content(100, 9));
  const Reader touched(touched_file);
  set_mtime(touched_file.path, TempFolder::kSeconds, 0);
  REQUIRE(changed(touched));

  if (!deletion_is_told()) return;
  const RequestedFile deleted_file = folder.add("deleted", oracle::content(100, 9));
  const Reader deleted(deleted_file);
  std::filesystem::remove(deleted_file.path);
  REQUIRE(changed(deleted));

#ifndef _WIN32  // Windows does not let an open file be replaced
  const RequestedFile replaced_file = folder.add("replaced", oracle::content(100, 9));
  const Reader replaced(replaced_file);
  const RequestedFile other = folder.add("other", oracle::content(100, 9));
  std::filesystem::rename(other.path, replaced_file.path);
  REQUIRE(changed(replaced));
#endif
}

TEST_CASE("Reader: deleting one of two hard links is no change") {
  const TempFolder folder;
  const RequestedFile file = folder.add("file", oracle::content(100, 10));
  std::filesystem::create_hard_link(file.path, folder.path("second"));
  const Reader reader(file);
  std::filesystem::remove(file.path);
  reader.check_unchanged();
}

TEST_CASE("Reader: prefetching any range has no visible effect") {
  const TempFolder folder;
  const Bytes bytes = oracle::content(100000, 12);
  const RequestedFile file = folder.add("file", bytes);
  const Reader reader(file);
  for (const std::uint64_t offset : {0, 1, 99999, 100000, 500000}) {
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 20})
      reader.will_need(offset, size);
  }
  REQUIRE_EQ(read(reader, 5, 90000), range_of(bytes, 5, 90000));
  reader.check_unchanged();
}

TEST_CASE("file_status: returns the values of Node's fs.Stats") {
  const TempFolder folder;
  const RequestedFile file = folder.add("file", oracle::content(1234, 13));
  const FileStatus status = file_status(file.path.c_str());
  REQUIRE_EQ(status.error, 0);
  REQUIRE_EQ(static_cast<unsigned>(status.mode) & S_IFMT, static_cast<unsigned>(S_IFREG));
  REQUIRE_EQ(status.size, 1234);
  REQUIRE_EQ(status.mtime_ms, TempFolder::kMtimeMs);
  // A request with this mtime accepts the file.
  RequestedFile requested = file;
  requested.mtime_ms = status.mtime_ms;
  Reader(requested).check_unchanged();
  REQUIRE_EQ(static_cast<unsigned>(file_status(folder.path("").c_str()).mode) & S_IFMT,
             static_cast<unsigned>(S_IFDIR));
  REQUIRE_EQ(file_status(folder.path("missing").c_str()).error, ENOENT);
  REQUIRE_EQ(file_status((file.path + "/beneath").c_str()).error, kBeneathFile);
  REQUIRE_EQ(file_status("").error, ENOENT);
#ifdef _WIN32
  // On Windows, Node stores seconds in 32 bits without a sign.
  set_mtime(file.path, (std::int64_t{1} << 32) + 5, 250000000);
  REQUIRE_EQ(file_status(file.path.c_str()).mtime_ms, 5250.0);
  ::SetFileAttributesA(file.path.c_str(), FILE_ATTRIBUTE_READONLY);
  REQUIRE_EQ(file_status(file.path.c_str()).mode, S_IFREG | 0444);
  ::SetFileAttributesA(file.path.c_str(), FILE_ATTRIBUTE_NORMAL);
  REQUIRE_EQ(static_cast<unsigned>(file_status("\\\\.\\NUL").mode) & S_IFMT, static_cast<unsigned>(S_IFCHR));
#else
  set_mtime(file.path, -5, 250000000);
  REQUIRE_EQ(file_status(file.path.c_str()).mtime_ms, -4750.0);
#endif
}

TEST_CASE("Reader: does not leak its descriptor to child processes") {
  const TempFolder folder;
  const RequestedFile file = folder.add("file", oracle::content(100, 11));
  {
    const Reader reader(file);
    const auto descriptor = descriptor_of(file.path);
    REQUIRE(descriptor >= 0);
#ifdef _WIN32
    DWORD flags;
    REQUIRE(::GetHandleInformation(reinterpret_cast<HANDLE>(descriptor), &flags) != 0);
    REQUIRE((flags & HANDLE_FLAG_INHERIT) == 0);
#else
    REQUIRE((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
#endif
  }
  REQUIRE_EQ(descriptor_of(file.path), -1);
}

#ifdef _WIN32
TEST_CASE("Reader: reports EBUSY for a file that another program has locked") {
  const TempFolder folder;
  const RequestedFile file = folder.add("file", oracle::content(100, 14));
  const HANDLE kept = ::CreateFileA(file.path.c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr);
  const Failure failure = thrown_by<Failure>([&] { static_cast<void>(Reader(file)); });
  REQUIRE(failure.code == Failure::Code::open);
  REQUIRE_EQ(failure.error, EBUSY);
  REQUIRE_EQ(file_status(file.path.c_str()).size, 100);
  ::CloseHandle(kept);
  Reader(file).check_unchanged();
}

TEST_CASE("Reader: an open file can be written, renamed and deleted by others") {
  const TempFolder folder;
  const Bytes bytes = oracle::content(100, 15);
  const RequestedFile file = folder.add("file", bytes);
  const Reader reader(file);
  const HANDLE writer =
      ::CreateFileA(file.path.c_str(), GENERIC_WRITE, FILE_SHARE_READ, nullptr, OPEN_EXISTING, 0, nullptr);
  REQUIRE(writer != INVALID_HANDLE_VALUE);
  REQUIRE_EQ(read(reader, 45, 10), range_of(bytes, 45, 10));
  ::CloseHandle(writer);
  std::filesystem::rename(file.path, folder.path("other"));
  REQUIRE_EQ(read(reader, 0, 100), bytes);
}

TEST_CASE("Reader: fails to open a path that is not UTF-8 (Windows)") {
  const std::string path = "C:\\windows\xff";
  REQUIRE_EQ(thrown_by<Failure>([&] { static_cast<void>(Reader(unchecked(path))); }).error, ENOENT);
  REQUIRE_EQ(file_status(path.c_str()).error, ENOENT);
}
#endif

#ifdef __linux__
TEST_CASE("Reader: rejects a socket") {
  const TempFolder folder;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  folder.path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const int bound = ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::close(listener);
  REQUIRE_EQ(bound, 0);
  REQUIRE(refused(unchecked(folder.path("socket"))).code == Failure::Code::not_a_file);
}

TEST_CASE("Reader: reports the errno of a disk error") {
  // Reading /proc/self/mem at 0 fails, because the first page is never mapped.
  const RequestedFile file = unchecked(std::filesystem::canonical("/proc/self").string() + "/mem");
  const Reader reader(file);
  std::uint8_t byte;
  const Failure failure = thrown_by<Failure>([&] { static_cast<void>(reader.read(0, &byte, 1)); });
  REQUIRE(failure.code == Failure::Code::read);
  REQUIRE_EQ(failure.error, EIO);
  REQUIRE_EQ(failure.path, file.path);
}
#endif
