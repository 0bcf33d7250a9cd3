#include "core/files/stat_job.h"

#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "files.h"
#include "test.h"
#include "threads.h"

using metainfo::Budget;
using metainfo::StatJob;

namespace {

constexpr std::uint64_t kAmpleMemory = std::uint64_t{1} << 40;

std::vector<double> outcome_of(const std::string& paths, unsigned threads) {
  Budget budget({threads, kAmpleMemory});
  StatJob job(paths, budget);
  Tally finished;
  job.start([&] { finished.add(); });
  finished.wait();
  job.join();
  REQUIRE_EQ(finished.count(), 1U);
  return job.outcome();
}

}  // namespace

TEST_CASE("StatJob: returns the numbers of all paths in order, with any number of threads") {
  const TempFolder folder;
  std::string paths;
  std::vector<std::size_t> sizes;
  for (const std::size_t count : {0, 1, 255, 256, 257, 1030}) {
    for (; sizes.size() < count; sizes.push_back(sizes.size() % 700)) {
      const std::string name = std::to_string(sizes.size());
      // Every seventh file does not exist.
      if (sizes.size() % 7 == 3) {
        paths += folder.path("missing" + name) + '\0';
      } else {
        paths += folder.add(name, oracle::Bytes(sizes.size() % 700)).path + '\0';
      }
    }
    for (const unsigned threads : {1, 2, 20}) {
      INFO(count, " paths, ", threads, " threads");
      const std::vector<double> numbers = outcome_of(paths, threads);
      REQUIRE_EQ(numbers.size(), count * StatJob::kNumbers);
      for (std::size_t i = 0; i < count; ++i) {
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(StatJob::kNumbers * i);
        const std::vector<double> found(first, first + StatJob::kNumbers);
        if (i % 7 == 3) {
          REQUIRE_EQ(found, (std::vector<double>{ENOENT, 0, 0, 0, 0, 0, 0, 0, 0}));
          continue;
        }
        REQUIRE_EQ(found[0], 0);
        REQUIRE_EQ(static_cast<unsigned>(found[1]) & S_IFMT, static_cast<unsigned>(S_IFREG));
        REQUIRE_EQ(found[2], static_cast<double>(sizes[i]));
        REQUIRE_EQ(found[3], TempFolder::kMtimeMs);
#ifndef _WIN32  // stat() on Windows has neither
        struct stat status {};
        REQUIRE_EQ(::stat(folder.path(std::to_string(i)).c_str(), &status), 0);
        REQUIRE_EQ(found[5], static_cast<double>(status.st_dev));
        REQUIRE_EQ(found[6], static_cast<double>(status.st_ino));
        REQUIRE(std::floor(found[4] / 1e3) == static_cast<double>(status.st_ctime));
        REQUIRE_EQ(found[7], 123456789);
#ifdef __linux__
        REQUIRE_EQ(found[8], static_cast<double>(status.st_ctim.tv_nsec));
#endif
#endif
      }
    }
  }
}

TEST_CASE("StatJob: returns nothing if it was cancelled or no thread can be started") {
  const TempFolder folder;
  const std::string paths = folder.add("file", {1}).path + '\0';
  Budget budget({1, kAmpleMemory});
  Tally finished;
  StatJob cancelled(paths, budget);
  cancelled.cancel();
  cancelled.start([&] { finished.add(); });
  finished.wait();
  cancelled.join();
  REQUIRE(cancelled.outcome().empty());
#ifdef __GLIBC__
  const NoThreads none;
  StatJob unstarted(paths, budget);
  unstarted.start([&] { finished.add(); });
  REQUIRE_EQ(finished.count(), 2U);
  REQUIRE(unstarted.outcome().empty());
#endif
}
