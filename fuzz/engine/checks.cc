// Makes a failed REQUIRE of a C++ fuzz target print its values and end the process, as libFuzzer expects.
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
    std::abort();
  });
  return 0;
}
