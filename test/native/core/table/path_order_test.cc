#include "core/table/path_order.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "columns.h"
#include "scale.h"
#include "test.h"

namespace {

const std::atomic<bool> kGoOn{false};

using Order = std::vector<std::uint32_t>;

OwnColumns columns_of(const std::vector<std::string>& paths) {
  std::vector<std::pair<std::string, double>> files;
  for (const std::string& path : paths) files.emplace_back(path, 0);
  return OwnColumns(files);
}

template <typename Key>
Order sorted_by(const std::vector<std::string>& paths, Key key) {
  Order order(paths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key(paths[a]) < key(paths[b]); });
  return order;
}

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char byte : path) {
    if (byte == '/') {
      parts.emplace_back();
    } else {
      parts.back() += byte;
    }
  }
  return parts;
}

std::string lower(std::string path) {
  for (char& byte : path) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(std::tolower(byte));
  }
  return path;
}

Order v1_expected(const std::vector<std::string>& paths) {
  return sorted_by(paths, [](const std::string& path) {
    return std::make_tuple(path.find('/') != std::string::npos, lower(path), path);
  });
}

void check(const std::vector<std::string>& paths) {
  const OwnColumns columns = columns_of(paths);
  const metainfo::PathColumn view = columns.view().paths;
  REQUIRE_EQ(metainfo::v2_order(view, paths.size(), kGoOn), sorted_by(paths, components));
  REQUIRE_EQ(metainfo::v1_order(view, nullptr, paths.size(), kGoOn), v1_expected(paths));
}

}  // namespace

TEST_CASE("path order: paths come in v2 and v1 order, and equal paths keep theirs") {
  const char* const names[] = {"a",
                               "A",
                               "a-b",
                               "a.txt",
                               "b",
                               "Z",
                               "aa",
                               "eight888",
                               "eight8889",
                               "eight888xx",
                               ".x",
                               "_",
                               "\xc3\xa9",
                               "\xf0\x9f\x98\x80",
                               "\xee\x80\x80",
                               "0123456789abcdef"};
  std::minstd_rand random(1);
  Sample sample;
  for (int round = 0; round < 400; ++round) {
    std::vector<std::string> paths(random() % 200);
    for (std::string& path : paths) {
      for (std::size_t depth = 1 + random() % 4; depth != 0; --depth) {
        path += names[random() / 16 % std::size(names)];
        if (depth != 1) path += '/';
      }
    }
    if (sample.next()) check(paths);
  }
}

TEST_CASE("path order: no paths, one path, and long paths that agree to the end") {
  check({});
  check({"a"});
  check({"", ""});
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "folder/";
  check({deep + "b", deep + "a", deep + "a", deep + "B", deep});
}

TEST_CASE("path order: v1 order compares the lower-cased paths that it is given") {
  const std::vector<std::string> paths = {"B", "a", "C"};
  const OwnColumns columns = columns_of(paths);
  const OwnColumns given = columns_of({"3", "2", "1"});
  const metainfo::PathColumn lower_cased = given.view().paths;
  REQUIRE_EQ(metainfo::v1_order(columns.view().paths, &lower_cased, 3, kGoOn), (Order{2, 1, 0}));
}

TEST_CASE("path order: finds paths that are equal, or lead through a file") {
  const auto collision = [](const std::vector<std::string>& paths) {
    const OwnColumns columns = columns_of(paths);
    const metainfo::PathColumn view = columns.view().paths;
    return metainfo::first_collision(view, metainfo::v2_order(view, paths.size(), kGoOn));
  };
  CHECK_EQ(collision({}), 0);
  CHECK_EQ(collision({"a"}), 1);
  CHECK_EQ(collision({"ab", "a/b", "a-b", "A"}), 4);
  CHECK_EQ(collision({"b", "a", "b"}), 2);
  CHECK_EQ(collision({"a-b", "a", "ab", "a/b/c"}), 1);
  CHECK_EQ(collision({"a/b/c", "a/b"}), 1);
}

TEST_CASE("path order: finds each path among others, in whatever order both are") {
  const OwnColumns paths = columns_of({"b", "a/x", "gone", "a", "b"});
  const OwnColumns others = columns_of({"a/x", "extra", "b", "a"});
  const Order expected = {2, 0, metainfo::kNoPath, 3, 2};
  CHECK(metainfo::match_paths(paths.view().paths, 5, others.view().paths, 4, kGoOn) == expected);
  CHECK(metainfo::match_paths(paths.view().paths, 0, others.view().paths, 4, kGoOn).empty());
  CHECK(metainfo::match_paths(paths.view().paths, 5, others.view().paths, 0, kGoOn) ==
        Order(5, metainfo::kNoPath));
}
