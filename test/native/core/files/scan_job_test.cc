#include "core/files/scan_job.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/files/folder.h"
#include "files.h"
#include "test.h"
#include "threads.h"

using metainfo::Budget;
using metainfo::Failure;
using metainfo::PathArray;
using metainfo::ScanJob;

namespace {

constexpr std::uint64_t kAmpleMemory = std::uint64_t{1} << 40;

ScanJob::Request everything_below(const std::string& root) { return {root, {{"", ""}}, true, false}; }

std::string root_of(const TempFolder& folder) {
  const std::string root = folder.path("");
  return root.substr(0, root.size() - 1);
}

ScanJob::Outcome outcome_of(const ScanJob::Request& request, unsigned threads) {
  Budget budget({threads, kAmpleMemory});
  ScanJob job(request, budget);
  Tally finished;
  job.start([&] { finished.add(); });
  finished.wait();
  job.join();
  REQUIRE_EQ(finished.count(), 1U);
  return std::move(job.outcome());
}

ScanJob::Found found_by(const ScanJob::Request& request, unsigned threads = 2) {
  ScanJob::Outcome outcome = outcome_of(request, threads);
  REQUIRE(std::holds_alternative<ScanJob::Found>(outcome));
  return std::get<ScanJob::Found>(std::move(outcome));
}

// The paths of a column, with slashes.
std::vector<std::string> texts(const PathArray& paths) {
  std::vector<std::string> all;
  std::size_t start = 0;
  for (const std::size_t end : paths.ends) {
    std::string text(paths.bytes.begin() + static_cast<std::ptrdiff_t>(start),
                     paths.bytes.begin() + static_cast<std::ptrdiff_t>(end));
    std::replace(text.begin(), text.end(), '\0', '/');
    all.push_back(text);
    start = end;
  }
  REQUIRE_EQ(start, paths.bytes.size());
  return all;
}

std::set<std::string> text_set(const PathArray& paths) {
  const std::vector<std::string> all = texts(paths);
  const std::set<std::string> set(all.begin(), all.end());
  REQUIRE_EQ(set.size(), all.size());
  return set;
}

void make_folder(const TempFolder& folder, const std::string& name) {
  std::filesystem::create_directories(native_path(folder.path(name)));
}

std::string zeros(std::string path) {
  std::replace(path.begin(), path.end(), '/', '\0');
  return path;
}

}  // namespace

TEST_CASE("ScanJob: finds all files, with any number of threads") {
  const TempFolder folder;
  std::map<std::string, double> sizes;
  const auto add = [&](const std::string& name, std::size_t size) {
    folder.add(name, oracle::Bytes(size));
    sizes[name] = static_cast<double>(size);
  };
  // More than the workers take at once, in one folder and in many.
  for (int i = 0; i < 2500; ++i) add("file" + std::to_string(i), static_cast<std::size_t>(i % 300));
  for (int i = 0; i < 60; ++i) {
    const std::string name = "folder" + std::to_string(i % 20) + "/" + std::to_string(i);
    make_folder(folder, name);
    for (int j = 0; j < i % 5; ++j) add(name + "/" + std::to_string(j), static_cast<std::size_t>(j));
  }
  for (const unsigned threads : {1, 2, 20}) {
    INFO(threads, " threads");
    const ScanJob::Found found = found_by(everything_below(root_of(folder)), threads);
    const std::vector<std::string> paths = texts(found.files.paths);
    REQUIRE_EQ(paths.size(), sizes.size());
    REQUIRE_EQ(found.files.lengths.size(), sizes.size());
    REQUIRE_EQ(found.files.ctimes.size(), sizes.size());
    REQUIRE(found.files.disk_paths.ends.empty());
    REQUIRE(found.errors.empty());
    std::map<std::string, double> told;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      told[paths[i]] = found.files.lengths[i];
      REQUIRE_EQ(found.files.mtimes[i], TempFolder::kMtimeMs);
    }
    REQUIRE_EQ(told, sizes);
  }
}

TEST_CASE("ScanJob: lists the given folders only, if it may not enter others") {
  const TempFolder folder;
  make_folder(folder, "a/b");
  for (const char* name : {"top", "a/in", "a/b/deep"}) folder.add(name, {1});
  ScanJob::Request request{root_of(folder), {{"a", "a"}}, false, false};
  const ScanJob::Found one = found_by(request);
  REQUIRE_EQ(text_set(one.files.paths), (std::set<std::string>{"a/in"}));
  REQUIRE_EQ(text_set(one.others.paths), (std::set<std::string>{"a/b"}));
  REQUIRE_EQ(one.errors, (std::vector<double>{0}));
  REQUIRE_EQ(one.modes, (std::vector<double>{metainfo::kFolderType}));
  request.starts.push_back({zeros("a/b"), zeros("x/y")});
  request.starts.push_back({"", ""});
  const ScanJob::Found three = found_by(request);
  REQUIRE_EQ(text_set(three.files.paths), (std::set<std::string>{"a/in", "top", "x/y/deep"}));
  REQUIRE_EQ(text_set(three.files.disk_paths), (std::set<std::string>{"a/in", "top", "a/b/deep"}));
  REQUIRE_EQ(text_set(three.others.disk_paths), (std::set<std::string>{"a", "a/b"}));
}

TEST_CASE("ScanJob: reports folders that it cannot list, and continues") {
  const TempFolder folder;
  folder.add("file", {1});
  const ScanJob::Request request{
      root_of(folder), {{"missing", "missing"}, {"file", "file"}, {"", ""}}, true, false};
  const ScanJob::Found found = found_by(request);
  REQUIRE_EQ(text_set(found.files.paths), (std::set<std::string>{"file"}));
  REQUIRE_EQ(text_set(found.others.paths), (std::set<std::string>{"missing", "file"}));
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE_EQ(found.modes[i], metainfo::kFolderType);
    REQUIRE((found.errors[i] == ENOENT || found.errors[i] == ENOTDIR));
  }
}

#ifndef _WIN32
TEST_CASE("ScanJob: tells entries that need a closer look, and follows no link") {
  const TempFolder folder;
  make_folder(folder, "sub");
  make_folder(folder, ".DS_Store");
  folder.add("sub/file", {1, 2});
  folder.add(".DS_Store/file", {1});
  for (const char* name : {"Thumbs.db", "a\\b", "caf\xe9"}) folder.add(name, {1, 2, 3});
  std::filesystem::create_symlink("sub", folder.path("link"));
  REQUIRE_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const ScanJob::Found found = found_by(everything_below(root_of(folder)));
  REQUIRE_EQ(text_set(found.files.paths), (std::set<std::string>{"sub/file", ".DS_Store/file"}));
  const std::vector<std::string> names = texts(found.others.paths);
  std::map<std::string, std::pair<double, unsigned>> others;
  for (std::size_t i = 0; i < names.size(); ++i) {
    REQUIRE_EQ(found.errors[i], 0);
    others[names[i]] = {found.others.lengths[i], static_cast<unsigned>(found.modes[i]) & S_IFMT};
  }
  REQUIRE_EQ(others, (std::map<std::string, std::pair<double, unsigned>>{{"Thumbs.db", {3, S_IFREG}},
                                                                         {"a\\b", {3, S_IFREG}},
                                                                         {"caf\xe9", {3, S_IFREG}},
                                                                         {"link", {0, S_IFLNK}},
                                                                         {"pipe", {0, S_IFIFO}}}));
}

TEST_CASE("ScanJob: does not enter a folder through a link") {
  const TempFolder folder;
  make_folder(folder, "sub/deep");
  folder.add("sub/deep/file", {1});
  std::filesystem::create_symlink("sub", folder.path("link"));
  for (const char* place : {"link", "link/deep"}) {
    INFO(place);
    const ScanJob::Found found = found_by({root_of(folder), {{zeros(place), zeros(place)}}, true, false});
    REQUIRE(found.files.lengths.empty());
    REQUIRE_EQ(found.errors.size(), 1U);
    REQUIRE((found.errors[0] == ELOOP || found.errors[0] == ENOTDIR));
  }
}
#endif

TEST_CASE("ScanJob: a worker leaves for another job, and the scan goes on later") {
  const TempFolder folder;
  for (int i = 0; i < 3000; ++i) folder.add(std::to_string(i), {});
  // Many jobs on one thread take turns.
  Budget budget({1, kAmpleMemory});
  Tally finished;
  std::vector<std::unique_ptr<ScanJob>> jobs;
  for (int i = 0; i < 8; ++i)
    jobs.push_back(std::make_unique<ScanJob>(everything_below(root_of(folder)), budget));
  for (const auto& job : jobs) job->start([&] { finished.add(); });
  finished.wait(8);
  for (const auto& job : jobs) {
    job->join();
    REQUIRE_EQ(text_set(std::get<ScanJob::Found>(job->outcome()).files.paths).size(), 3000U);
  }
}

TEST_CASE("ScanJob: fails if it was cancelled or no thread can be started") {
  const TempFolder folder;
  for (int i = 0; i < 2000; ++i) folder.add(std::to_string(i), {});
  Budget budget({2, kAmpleMemory});
  const auto code_of = [](ScanJob& job) { return std::get<Failure>(job.outcome()).code; };
  Tally finished;
  ScanJob early(everything_below(root_of(folder)), budget);
  early.cancel();
  early.start([&] { finished.add(); });
  finished.wait();
  early.join();
  REQUIRE_EQ(code_of(early), Failure::Code::aborted);
  for (unsigned i = 0; i < 50; ++i) {
    ScanJob job(everything_below(root_of(folder)), budget);
    job.start([&] { finished.add(); });
    std::this_thread::sleep_for(std::chrono::microseconds(i * 50));
    job.cancel();
    finished.wait(2 + i);
    job.join();
    // It may have ended before.
    if (std::holds_alternative<Failure>(job.outcome())) REQUIRE_EQ(code_of(job), Failure::Code::aborted);
  }
#ifdef __GLIBC__
  const NoThreads none;
  ScanJob unstarted(everything_below(root_of(folder)), budget);
  unstarted.start([&] { finished.add(); });
  REQUIRE_EQ(finished.count(), 52U);
  REQUIRE_EQ(code_of(unstarted), Failure::Code::no_thread);
#endif
}

// The thread may be given up while it opens or closes a folder, reads its names, or asks for a status.
TEST_CASE("ScanJob: may be cancelled during any system call") {
  const TempFolder folder;
  for (int i = 0; i < 200; ++i) make_folder(folder, std::to_string(i));
  folder.add("0/file", {1});
  Budget budget({1, kAmpleMemory});
  Tally finished;
  for (unsigned i = 0; i < 300; ++i) {
    ScanJob job(everything_below(root_of(folder)), budget);
    job.start([&] { finished.add(); });
    std::this_thread::sleep_for(std::chrono::microseconds(i * 7));
    job.cancel();
    finished.wait(1 + i);
    job.join();
    if (const auto* failure = std::get_if<Failure>(&job.outcome()))
      REQUIRE_EQ(failure->code, Failure::Code::aborted);
  }
}

#ifdef __linux__
TEST_CASE("ScanJob: leaves no folder open") {
  const TempFolder folder;
  for (int i = 0; i < 3000; ++i) folder.add(std::to_string(i), {});
  const auto open_now = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_now();
  found_by(everything_below(root_of(folder)));
  REQUIRE_EQ(open_now(), before);
}
#endif
