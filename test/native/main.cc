// Runs the native tests, names each one with its time, and ends a test that hangs.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Sanitizers report crashes themselves, with a stack trace.
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS
#endif
#define DOCTEST_CONFIG_IMPLEMENT
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <string>
#include <thread>

#include "core/hash/hash_request.h"
#include "test.h"
#include "threads.h"

namespace {

constexpr std::chrono::seconds kHangs(120);

// Set if the filters match no test: that must not look like success.
bool no_tests = false;

class Listener final : public doctest::IReporter {
 public:
  explicit Listener(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& test) override {
    name_ = test.m_name;
    done_ = {};
    watchdog_ = std::thread([name = name_, done = done_.get_future()] {
      if (done.wait_for(kHangs) != std::future_status::timeout) return;
      std::cout << "FAILED " << name << ": no end after " << kHangs.count() << " s" << std::endl;
      std::_Exit(1);
    });
  }

  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    done_.set_value();
    watchdog_.join();
    const auto milliseconds = static_cast<long>(stats.seconds * 1e3);
    std::cout << (stats.failure_flags == 0 ? "ok " : "FAILED ") << name_ << " (" << milliseconds << " ms)"
              << std::endl;
  }

  void test_run_end(const doctest::TestRunStats& stats) override {
    no_tests = stats.numTestCasesPassingFilters == 0;
    if (no_tests) std::cout << "FAILED: no test has such a name" << std::endl;
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  std::string name_;
  std::promise<void> done_;
  std::thread watchdog_;
};

REGISTER_LISTENER("names", 1, Listener);

REGISTER_EXCEPTION_TRANSLATOR(const metainfo::Failure& failure) {
  return ("Failure: " + failure.path + ": " + failure.detail).c_str();
}

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int status = context.run();
  // Valgrind reports the memory of threads that still exist.
  end_parked_threads();
  return no_tests ? 1 : status;
}
