// Fuzz target: hashes small random plans of every version and compares the digests with a plain oracle.
#include "random_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  fuzz::Input input(data, size);
  const metainfo::Plan plan = fuzz::random_plan(input, folder);
  const plans::Expected expected = plans::expect(plan);
  for (unsigned round = 0; round < 2; ++round)
    plans::check_setting(plan, fuzz::random_setting(input), expected);
  return 0;
}
