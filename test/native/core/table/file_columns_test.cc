#include "core/table/file_columns.h"

#include <limits>
#include <string>
#include <vector>

#include "columns.h"
#include "test.h"

namespace {

metainfo::FileFacts facts_of(const std::vector<std::pair<std::string, double>>& files) {
  return metainfo::facts_of(OwnColumns(files).view());
}

}  // namespace

TEST_CASE("file columns: the total length leaves out unknown lengths") {
  CHECK_EQ(facts_of({}).total_length, 0);
  CHECK_EQ(facts_of({{"a", 5}, {"b", std::numeric_limits<double>::quiet_NaN()}, {"c", 7}}).total_length, 12);
}

TEST_CASE("file columns: finds names like those of BitComet pad files") {
  CHECK_FALSE(facts_of({}).names_like_pads);
  CHECK_FALSE(facts_of({{"____padding_file_", 1}, {"a/b", 1}}).names_like_pads);
  CHECK(facts_of({{"a", 1}, {"d/x_____padding_file_0_/e", 1}}).names_like_pads);
  CHECK(facts_of({{"a", 1}, {"_____padding_file_", 1}}).names_like_pads);
}
