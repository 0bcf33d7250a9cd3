// Named tests and checks, and nothing else. A check that fails says where and why, and ends its test.
#pragma once

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace check {

struct Test {
  const char* name;
  void (*run)();
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Registration {
  Registration(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

// Thrown by a failed check. So checks are for the test's own thread: others leave what they saw to it.
struct Failed {};

// Says which round of a loop a failed check belongs to. Nests.
class Case {
 public:
  explicit Case(const std::string& name) : outer_(current()) { current() += " [" + name + "]"; }
  ~Case() { current() = std::move(outer_); }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  static std::string& current() {
    static std::string names;
    return names;
  }

 private:
  std::string outer_;
};

[[noreturn]] inline void fail(const char* file, int line, const std::string& what) {
  std::cout << file << ':' << line << ':' << Case::current() << ' ' << what << std::endl;
  throw Failed{};
}

template <typename T, typename = void>
struct IsRange : std::false_type {};
template <typename T>
struct IsRange<T, std::void_t<decltype(std::declval<T>().begin())>> : std::true_type {};

template <typename T>
std::string show(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_convertible_v<T, std::string>) {
    out << '"' << value << '"';
  } else if constexpr (IsRange<T>::value) {
    constexpr std::ptrdiff_t kShown = 64;
    out << value.size() << " elements";
    std::for_each_n(value.begin(), std::min<std::ptrdiff_t>(kShown, value.end() - value.begin()),
                    [&](const auto& element) { out << ' ' << show(element); });
    if (value.end() - value.begin() > kShown) out << " ...";
  } else if constexpr (std::is_enum_v<T> || sizeof(T) == 1) {
    out << static_cast<int>(value);
  } else {
    out << value;
  }
  return out.str();
}

// Where two ranges begin to differ: long ones are not shown whole.
template <typename A, typename B>
std::string difference(const A& a, const B& b) {
  if constexpr (IsRange<A>::value && IsRange<B>::value) {
    const auto found = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return ", from element " + std::to_string(found.first - a.begin());
  } else {
    return {};
  }
}

template <typename A, typename B>
void equal(const char* file, int line, const char* text, const A& actual, const B& expected) {
  if (actual == expected) return;
  fail(file, line,
       std::string(text) + " is " + show(actual) + ", not " + show(expected) + difference(actual, expected));
}

// What `action` throws.
template <typename Thrown, typename Action>
Thrown thrown(const char* file, int line, const char* text, Action action) {
  try {
    action();
  } catch (Thrown& value) {
    return std::move(value);
  }
  fail(file, line, std::string(text) + " throws nothing");
}

}  // namespace check

#define CHECK_JOIN_(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN_(a, b)

#define TEST(name)                                                                                    \
  static void CHECK_JOIN(test_, __LINE__)();                                                          \
  static const check::Registration CHECK_JOIN(test_at_, __LINE__)(name, CHECK_JOIN(test_, __LINE__)); \
  static void CHECK_JOIN(test_, __LINE__)()

#define CHECK(...)                                                                 \
  do {                                                                             \
    if (!(__VA_ARGS__)) check::fail(__FILE__, __LINE__, #__VA_ARGS__ " is false"); \
  } while (false)

#define CHECK_EQUAL(actual, expected) check::equal(__FILE__, __LINE__, #actual, actual, expected)

// Runs the expression and gives what it throws, which must be of that type.
#define CHECK_THROWS(Thrown, ...) \
  check::thrown<Thrown>(__FILE__, __LINE__, #__VA_ARGS__, [&] { static_cast<void>(__VA_ARGS__); })
