#ifndef _WIN32

#include "core/hash/short_file_job.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/hash/short_content.h"
#include "files.h"
#include "kernel_lists.h"
#include "plans.h"
#include "test.h"
#include "threads.h"

using metainfo::Budget;
using metainfo::ShortContent;
using metainfo::ShortFileJob;
using metainfo::Version;
using requests::kBlock;

namespace {

constexpr std::size_t kMax = 4 * kBlock;

std::optional<ShortFileJob::Hashed> outcome_of(const std::string& path,
                                               std::optional<Version> version = Version::hybrid,
                                               const std::string& root = {}) {
  Budget budget({1, std::uint64_t{1} << 40});
  ShortFileJob job({{root, path}, kMax, kBlock, version}, best(), budget);
  Tally finished;
  job.start([&] { finished.add(); });
  finished.wait();
  job.join();
  return job.outcome();
}

}  // namespace

TEST_CASE("ShortFileJob: reads a file of any size up to the limit, through links, and hashes it") {
  const TempFolder folder;
  for (const std::size_t size : {std::size_t{1}, kBlock, kBlock + 1, kMax - 1, kMax}) {
    for (const Version version : requests::kVersions) {
      INFO(size, " bytes, ", requests::name_of(version));
      const oracle::Bytes bytes = oracle::content(size, 3);
      const std::string path = folder.add("file", bytes).path;
      std::filesystem::remove(folder.path("link"));
      std::filesystem::create_symlink(path, folder.path("link"));
      const ShortContent content{bytes.data(), size, kBlock, version};
      oracle::Bytes expected(content.hash_bytes());
      metainfo::hash_short(content, best(), expected.data());
      for (const std::string& name : {path, folder.path("link")}) {
        const auto outcome = outcome_of(name, version);
        REQUIRE(outcome.has_value());
        REQUIRE_EQ(outcome->hashes, expected);
        REQUIRE_EQ(outcome->status.size, static_cast<double>(size));
        REQUIRE_EQ(outcome->status.mtime_ms, TempFolder::kMtimeMs);
      }
    }
  }
}

TEST_CASE("ShortFileJob: reads a file without hashing it") {
  const TempFolder folder;
  const oracle::Bytes bytes = oracle::content(kMax, 5);
  const auto outcome = outcome_of(folder.add("file", bytes).path, {});
  REQUIRE(outcome.has_value());
  REQUIRE_EQ(outcome->bytes, bytes);
  REQUIRE(outcome->hashes.empty());
}

TEST_CASE("ShortFileJob: follows no link below its root, but links in the path of the root") {
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
      const auto outcome = outcome_of(name, {}, root);
      REQUIRE(outcome.has_value());
      REQUIRE_EQ(outcome->bytes, bytes);
    }
    for (const char* name :
         {"away", "away-folder/file", "within", "within-folder/file", "none", "file/none", "sub", ""}) {
      INFO(name);
      REQUIRE(!outcome_of(name, {}, root).has_value());
    }
  }
  for (const char* root : {"file", "none"}) REQUIRE(!outcome_of("file", {}, folder.path(root)).has_value());
}

TEST_CASE("ShortFileJob: gives nothing for what is no short file") {
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

TEST_CASE("ShortFileJob: gives nothing after it was cancelled") {
  const TempFolder folder;
  const std::string path = folder.add("file", oracle::content(5, 0)).path;
  Budget budget({1, std::uint64_t{1} << 40});
  for (int i = 0; i < 100; ++i) {
    ShortFileJob job({{{}, path}, kMax, kBlock, Version::v1}, best(), budget);
    Tally finished;
    job.start([&] { finished.add(); });
    job.cancel();
    finished.wait();
    job.join();
    // It may have ended before.
    if (job.outcome()) REQUIRE_EQ(job.outcome()->hashes.size(), sizeof(metainfo::Sha1Digest));
  }
}

#endif
