// Fuzz target: hashes small random requests of every version and compares the digests with a plain oracle.
#include "random_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  fuzz::Input input(data, size);
  const metainfo::HashRequest request = fuzz::random_request(input, folder);
  const requests::Expected expected = requests::expect(request);
  for (unsigned round = 0; round < 2; ++round)
    requests::check_setting(request, fuzz::random_setting(input), expected);
  return 0;
}
