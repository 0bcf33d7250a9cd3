// Runs all tests, or those whose name contains the argument.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <iostream>

#include "check.h"
#include "core/plan.h"

namespace {

constexpr std::chrono::seconds kHangs(120);

bool passes(const check::Test& test) {
  try {
    test.run();
    return true;
  } catch (const check::Failed&) {
  } catch (const std::exception& error) {
    std::cout << "an exception left the test: " << error.what() << '\n';
  } catch (const metainfo::Failure& failure) {
    std::cout << "a failure left the test: " << failure.path << ": " << failure.detail << '\n';
  } catch (...) {
    std::cout << "something that is no std::exception left the test\n";
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned passed = 0;
  unsigned failed = 0;
  for (const check::Test& test : check::tests()) {
    if (argc > 1 && std::strstr(test.name, argv[1]) == nullptr) continue;
    const auto start = std::chrono::steady_clock::now();
    // A test that hangs is a failed one, and names itself.
    std::future<bool> passed_one = std::async(std::launch::async, passes, test);
    if (passed_one.wait_for(kHangs) == std::future_status::timeout) {
      std::cout << "FAILED " << test.name << ": it hangs" << std::endl;
      std::_Exit(1);
    }
    const bool ok = passed_one.get();
    const auto taken =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
    ++(ok ? passed : failed);
    std::cout << (ok ? "ok " : "FAILED ") << test.name << " (" << taken.count() << " ms)" << std::endl;
  }
  // A name that matches nothing must not look like success.
  if (passed + failed == 0) std::cout << "there is no such test\n";
  std::cout << passed << " passed, " << failed << " failed" << std::endl;
  return failed == 0 && passed != 0 ? 0 : 1;
}
