#include "core/files/write_group.h"

#ifndef _WIN32
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "files.h"
#include "test.h"

using metainfo::NewFile;

namespace {

NewFile file_of(const std::string& name, std::string_view text) {
  NewFile file;
  file.name = name;
  file.bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  file.size = text.size();
  return file;
}

}  // namespace

TEST_CASE("dirty_kib: reads the line of /proc/meminfo") {
  CHECK_EQ(metainfo::dirty_kib("MemFree: 7 kB\nDirty:              1234 kB\nWriteback: 5 kB\n"), 1234);
  CHECK_EQ(metainfo::dirty_kib("MemFree: 7 kB\n"), 0);
}

#ifdef __linux__

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Whether the temporary folder is on a file system that has unnamed files.
bool has_unnamed(const std::string& folder) {
  std::vector<NewFile> files{file_of("probe", "")};
  metainfo::write_group(folder.c_str(), files);
  std::filesystem::remove(folder + "/probe");
  return files[0].error == 0;
}

std::size_t entries_of(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("write_group: writes files with their times and permissions, and replaces only where it may") {
  const TempFolder folder;
  const std::string path = folder.path("");
  if (!has_unnamed(path)) return;
  const std::string text(100'000, 'x');
  for (const std::size_t count : {1, 2, 5}) {
    std::vector<NewFile> files;
    for (std::size_t i = 0; i < count; ++i)
      files.push_back(file_of(std::to_string(count) + "-" + std::to_string(i), text));
    files[0].mtime = 1e12 + 500;
    metainfo::write_group(path.c_str(), files);
    for (const NewFile& file : files) {
      CHECK_EQ(file.error, 0);
      CHECK_EQ(text_of(path + "/" + file.name), text);
    }
    struct stat status {};
    REQUIRE_EQ(::stat((path + "/" + files[0].name).c_str(), &status), 0);
    CHECK_EQ(status.st_mtim.tv_sec, 1'000'000'000);
    CHECK_EQ(status.st_mtim.tv_nsec, 500'000'000);
  }
  std::vector<NewFile> files{file_of("1-0", "other"), file_of("2-0", "other"), file_of("new", "new")};
  files[1].temporary = ".temporary";
  files[1].owner = NewFile::Owner{::getuid(), ::getgid(), 0600};
  metainfo::write_group(path.c_str(), files);
  CHECK_EQ(files[0].error, EEXIST);
  CHECK_EQ(files[1].error, 0);
  CHECK_EQ(files[2].error, 0);
  CHECK_EQ(text_of(path + "/1-0"), text);
  CHECK_EQ(text_of(path + "/2-0"), "other");
  struct stat status {};
  REQUIRE_EQ(::stat((path + "/2-0").c_str(), &status), 0);
  CHECK_EQ(status.st_mode & 0777U, 0600U);
  CHECK_EQ(entries_of(path), 9);
}

TEST_CASE("write_group: names a file that is written already, and leaves it open") {
  const TempFolder folder;
  const std::string path = folder.path("");
  if (!has_unnamed(path)) return;
  for (const std::string name : {"new", "replaced"}) {
    const int descriptor = ::open(path.c_str(), O_TMPFILE | O_WRONLY, 0666);
    REQUIRE(descriptor >= 0);
    REQUIRE_EQ(::write(descriptor, "text", 4), 4);
    std::vector<NewFile> files{file_of(name, "")};
    files[0].descriptor = descriptor;
    if (name == "replaced") {
      std::ofstream(path + "/replaced") << "old";
      files[0].temporary = ".temporary";
    }
    metainfo::write_group(path.c_str(), files);
    CHECK_EQ(files[0].error, 0);
    CHECK_EQ(text_of(path + "/" + name), "text");
    CHECK_EQ(::close(descriptor), 0);
  }
  CHECK_EQ(entries_of(path), 2);
}

TEST_CASE("write_group: reports what fails for each file, and leaves nothing") {
  const TempFolder folder;
  const std::string path = folder.path("");
  std::vector<NewFile> files{file_of("a", "a"), file_of("b", "b")};
  metainfo::write_group((path + "/missing").c_str(), files);
  for (const NewFile& file : files) CHECK_EQ(file.error, EBADF);
  if (!has_unnamed(path)) return;
  std::filesystem::create_directory(path + "/folder");
  files = {file_of("missing/a", "a"), file_of("folder", "b"), file_of("good", "c")};
  files[1].temporary = ".temporary";
  metainfo::write_group(path.c_str(), files);
  CHECK_EQ(files[0].error, ENOENT);
  CHECK_EQ(files[1].error, EISDIR);
  CHECK_EQ(files[2].error, 0);
  CHECK_EQ(entries_of(path), 2);
}

#else

TEST_CASE("write_group: is only for Linux") {
  std::vector<NewFile> files{file_of("a", "a")};
  metainfo::write_group(".", files);
  CHECK_EQ(files[0].error, EOPNOTSUPP);
}

#endif
