// Runs all tests, or those whose name contains the argument.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>

#include "check.h"
#include "core/plan.h"

namespace {

constexpr unsigned kHangSeconds = 120;

const char* running = "";

// A test that hangs is a failed one, and names itself. Only what a signal handler may call.
void hung(int) {
  for (const char* text : {"FAILED ", running, ": it hangs\n"})
    if (::write(STDOUT_FILENO, text, std::strlen(text)) < 0) break;
  ::_exit(1);
}

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
  std::signal(SIGALRM, hung);
  unsigned passed = 0;
  unsigned failed = 0;
  for (const check::Test& test : check::tests()) {
    if (argc > 1 && std::strstr(test.name, argv[1]) == nullptr) continue;
    running = test.name;
    ::alarm(kHangSeconds);
    const auto start = std::chrono::steady_clock::now();
    const bool ok = passes(test);
    const auto taken =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
    ::alarm(0);
    ++(ok ? passed : failed);
    std::cout << (ok ? "ok " : "FAILED ") << test.name << " (" << taken.count() << " ms)" << std::endl;
  }
  // A name that matches nothing must not look like success.
  if (passed + failed == 0) std::cout << "there is no such test\n";
  std::cout << passed << " passed, " << failed << " failed" << std::endl;
  return failed == 0 && passed != 0 ? 0 : 1;
}
