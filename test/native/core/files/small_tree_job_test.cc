#ifndef _WIN32

#include "core/files/small_tree_job.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "files.h"
#include "plans.h"
#include "test.h"
#include "threads.h"

using metainfo::Budget;
using metainfo::SmallTree;
using metainfo::SmallTreeJob;
using requests::kBlock;

namespace {

constexpr std::size_t kMax = 4 * kBlock;

std::optional<SmallTree> outcome_of(const std::string& path, std::size_t max_files = 0,
                                    const std::string& root = {}) {
  Budget budget({1, std::uint64_t{1} << 40});
  SmallTreeJob job({{root, path}, kMax, max_files}, budget);
  Tally finished;
  job.start([&] { finished.add(); });
  finished.wait();
  job.join();
  return job.outcome();
}

std::string path_of(const std::string& name) { return name + std::string(1, '\0'); }

// The content of each file, by its path with a zero byte after each component.
std::map<std::string, oracle::Bytes> files_of(const SmallTree& tree) {
  std::map<std::string, oracle::Bytes> files;
  std::size_t at = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < tree.numbers.size(); i += 3) {
    const std::size_t end = tree.paths.find(std::string(2, '\0'), at);
    const auto size = static_cast<std::size_t>(tree.numbers[i]);
    REQUIRE_EQ(tree.numbers[i + 1], TempFolder::kMtimeMs);
    files[tree.paths.substr(at, end + 1 - at)] =
        oracle::Bytes(tree.bytes.begin() + static_cast<std::ptrdiff_t>(start),
                      tree.bytes.begin() + static_cast<std::ptrdiff_t>(start + size));
    at = end + 2;
    start += size;
  }
  REQUIRE_EQ(at, tree.paths.size());
  REQUIRE_EQ(start, tree.bytes.size());
  return files;
}

}  // namespace

TEST_CASE("SmallTreeJob: reads a file of any size up to the limit, through links") {
  const TempFolder folder;
  for (const std::size_t size : {std::size_t{1}, kBlock, kBlock + 1, kMax - 1, kMax}) {
    INFO(size, " bytes");
    const oracle::Bytes bytes = oracle::content(size, 3);
    const std::string path = folder.add("file", bytes).path;
    std::filesystem::remove(folder.path("link"));
    std::filesystem::create_symlink(path, folder.path("link"));
    for (const std::string& name : {path, folder.path("link")}) {
      const auto tree = outcome_of(name);
      REQUIRE(tree.has_value());
      REQUIRE_EQ(tree->bytes, bytes);
      REQUIRE_EQ(tree->numbers[0], static_cast<double>(size));
      REQUIRE_EQ(tree->numbers[1], TempFolder::kMtimeMs);
      REQUIRE_EQ(tree->folder, "");
    }
  }
}

TEST_CASE("SmallTreeJob: reads a folder, through a link to it") {
  const TempFolder folder;
  const TempFolder links;
  const oracle::Bytes one = oracle::content(5, 1);
  const oracle::Bytes two = oracle::content(kBlock + 1, 2);
  folder.add("one", one);
  folder.add("none", {});
  std::filesystem::create_directories(folder.path("sub/.deep"));
  std::filesystem::rename(folder.add("two", two).path, folder.path("sub/.deep/two"));
  std::filesystem::create_symlink(folder.path("."), links.path("link"));
  const std::map<std::string, oracle::Bytes> expected{
      {path_of("one"), one},
      {path_of("none"), {}},
      {path_of("sub") + path_of(".deep") + path_of("two"), two}};
  for (const std::string& path : {folder.path("."), links.path("link")}) {
    const auto tree = outcome_of(path, 3);
    REQUIRE(tree.has_value());
    REQUIRE(files_of(*tree) == expected);
    REQUIRE_EQ(tree->folder, std::filesystem::canonical(folder.path(".")).string());
    REQUIRE(!outcome_of(path, 2).has_value());
    REQUIRE(!outcome_of(path, 0).has_value());
  }
  REQUIRE(!outcome_of("sub", 3, folder.path(".")).has_value());
}

TEST_CASE("SmallTreeJob: gives nothing for a folder with anything but regular files of plain names") {
  const auto add = [](const TempFolder& folder, const std::string& name) {
    folder.add(name, oracle::content(1, 0));
  };
  for (const char* name : {"a.torrent", ".DS_Store", "a\\b", "a\xff", "C:"}) {
    INFO(name);
    const TempFolder folder;
    add(folder, "file");
    REQUIRE(outcome_of(folder.path("."), 64).has_value());
    add(folder, name);
    REQUIRE(!outcome_of(folder.path("."), 64).has_value());
  }
  {
    const TempFolder folder;
    add(folder, "file");
    std::filesystem::create_symlink("file", folder.path("link"));
    REQUIRE(!outcome_of(folder.path("."), 64).has_value());
  }
  {
    const TempFolder folder;
    add(folder, "file");
    REQUIRE_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
    REQUIRE(!outcome_of(folder.path("."), 64).has_value());
  }
  {
    // All files together have one byte too many.
    const TempFolder folder;
    folder.add("a", oracle::content(kMax, 0));
    REQUIRE(outcome_of(folder.path("."), 64).has_value());
    add(folder, "b");
    REQUIRE(!outcome_of(folder.path("."), 64).has_value());
  }
  {
    const TempFolder folder;
    folder.add("empty", {});
    REQUIRE(!outcome_of(folder.path("."), 64).has_value());
    std::string deep = "d";
    for (int i = 0; i < 40; ++i) deep += "/d";
    std::filesystem::create_directories(folder.path(deep.c_str()));
    add(folder, "file");
    REQUIRE(!outcome_of(folder.path("."), 64).has_value());
  }
}

TEST_CASE("SmallTreeJob: follows no link below its root, but links in the path of the root") {
  const TempFolder folder;
  const TempFolder outside;
  const oracle::Bytes bytes = oracle::content(9, 1);
  folder.add("file", bytes);
  outside.add("file", oracle::content(9, 2));
  std::filesystem::create_directory(folder.path("sub"));
  std::filesystem::rename(folder.add("other", bytes).path, folder.path("sub/file"));
  const auto link = [&](const std::string& target, const char* name) {
    std::filesystem::create_symlink(target, folder.path(name));
  };
  link(outside.path("file"), "away");
  link(outside.path("."), "away-folder");
  link("file", "within");
  link("sub", "within-folder");
  link(".", "root");
  for (const std::string& root : {folder.path("."), folder.path("root")}) {
    for (const char* name : {"file", "sub/file"}) {
      const auto outcome = outcome_of(name, 0, root);
      REQUIRE(outcome.has_value());
      REQUIRE_EQ(outcome->bytes, bytes);
    }
    for (const char* name :
         {"away", "away-folder/file", "within", "within-folder/file", "none", "file/none", "sub", ""}) {
      INFO(name);
      REQUIRE(!outcome_of(name, 0, root).has_value());
    }
  }
  for (const char* root : {"file", "none"}) REQUIRE(!outcome_of("file", 0, folder.path(root)).has_value());
}

TEST_CASE("SmallTreeJob: gives nothing for what is no short file") {
  const TempFolder folder;
  const std::string fifo = folder.path("fifo");
  REQUIRE_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::filesystem::create_symlink("loop", folder.path("loop"));
  for (const std::string& path :
       {folder.path("missing"), folder.path("."), fifo, folder.path("loop"), folder.add("empty", {}).path,
        std::string(5000, 'a'), std::string(), folder.add("large", oracle::content(kMax + 1, 0)).path}) {
    INFO(path);
    REQUIRE(!outcome_of(path).has_value());
  }
}

TEST_CASE("SmallTreeJob: gives nothing after it was cancelled") {
  const TempFolder folder;
  const std::string path = folder.add("file", oracle::content(5, 0)).path;
  Budget budget({1, std::uint64_t{1} << 40});
  for (int i = 0; i < 100; ++i) {
    SmallTreeJob job({{{}, path}, kMax, 0}, budget);
    Tally finished;
    job.start([&] { finished.add(); });
    job.cancel();
    finished.wait();
    job.join();
    // It may have ended before.
    if (job.outcome()) REQUIRE_EQ(job.outcome()->bytes.size(), 5);
  }
}

#endif
