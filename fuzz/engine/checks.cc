// Makes a failed REQUIRE of a C++ fuzz target print its values and every INFO in scope, and end the process,
// as libFuzzer expects.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  static doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler([](const doctest::AssertData& data) {
    std::cerr << data.m_file << ':' << data.m_line << ": REQUIRE( " << data.m_expr
              << " ) is false, with values " << data.m_decomp << std::endl;
    for (int i = 0; i < doctest::IReporter::get_num_active_contexts(); ++i) {
      doctest::IReporter::get_active_contexts()[i]->stringify(&std::cerr);
      std::cerr << std::endl;
    }
    std::abort();
  });
  return 0;
}
