// Random cases of every operation against the oracles: so many of them, however fast the machine is.
//
//   relayout_fuzz [--cases 1000] [--seed 1] [--only NAME] [--device cpu,emulated32,emulated64]
//                 [--shrink-seconds 20]
//   relayout_fuzz --case HEX      runs one case again, with its words
//   relayout_fuzz --shrink HEX    looks for the smallest case that fails as this one does
//
// A failure ends the program. It prints the case, the same case made smaller, and the commands that run them.
// Exit status: 0, or 1 after a failure, 2 for wrong arguments. The meaning of a case may change with the
// sources of tests/fuzz.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include "tests/fuzz/trial.hpp"
#include "tests/support/fill.hpp"

// Present where the program is linked with a sanitizer.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace relayout::fuzz {
namespace {

constexpr std::size_t kCaseBytes = 400;
constexpr unsigned kMaxSecondsOfACase = 600;  // then it hangs

struct Options {
  std::uint64_t cases = 1000, seed = 1;
  double shrink_seconds = 20;
  std::string device = "cpu,emulated32,emulated64", only, one, shrunk;
};

/// The last words of a program that dies in a case: the commands that run it again.
std::string epitaph;

void write_epitaph() {
  if (write(STDERR_FILENO, epitaph.data(), epitaph.size()) < 0) return;
}

void die(int signal) {
  write_epitaph();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void expect_death() {
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(write_epitaph);
  } else {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, die);
  }
  std::signal(SIGALRM, die);
}

std::string command(const Options& options, const char* what, const Bytes& bytes) {
  return "relayout_fuzz --device " + options.device + " " + what + " " + to_hex(bytes);
}

/// Runs the case in such a way that it is known if the program dies or hangs.
Result run_watched(const Options& options, const Bytes& bytes, const Devices& devices) {
  epitaph = "\nrelayout_fuzz: died in the case of\n  " + command(options, "--case", bytes) +
            "\nto make it smaller:\n  " + command(options, "--shrink", bytes) + "\n";
  alarm(kMaxSecondsOfACase);
  Result result = run_case(bytes, devices);
  alarm(0);
  return result;
}

/// Makes every attempt in a process of its own, since some cases end theirs.
Bytes shrink_case(const Options& options, const Bytes& bytes) {
  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0) return bytes;
  const auto fails = [&](const Bytes& smaller) {
    const std::string run = std::string("'") + self + "' --device " + options.device + " --case '" +
                            to_hex(smaller) + "' >/dev/null 2>&1";
    return std::system(run.c_str()) != 0;
  };
  return shrink(bytes, fails, options.shrink_seconds);
}

int run_one(const Options& options, const Bytes& bytes) {
  const Devices devices(options.device);
  const Result result = run_watched(options, bytes, devices);
  std::cout << result.operation << ": " << result.words << "\n"
            << (result.failure.empty() ? "passed\n" : result.failure);
  return result.failure.empty() ? 0 : 1;
}

int report_smaller(const Options& options, const Bytes& bytes) {
  const Bytes smaller = shrink_case(options, bytes);
  std::cout << "made smaller:\n  " << command(options, "--case", smaller) << std::endl;
  return run_one(options, smaller);
}

int report(const Options& options, const Bytes& bytes, const Result& result) {
  std::cout << "FAILED " << result.operation << ": " << result.words << "\n"
            << result.failure << "to reproduce:\n  " << command(options, "--case", bytes) << std::endl;
  if (options.shrink_seconds > 0) report_smaller(options, bytes);
  return 1;
}

/// The bytes of case `number`. Different numbers and seeds give independent bytes.
Bytes random_bytes(std::uint64_t seed, std::uint64_t number) {
  Bytes bytes(kCaseBytes);
  for (std::size_t i = 0; i < kCaseBytes; i += 8) {
    const std::uint64_t word = test::hash(number * kCaseBytes + i, seed);
    std::memcpy(&bytes[i], &word, 8);
  }
  return bytes;
}

/// Without a case of such an operation the search for one would not end.
void check_name(const std::string& only) {
  std::string names;
  for (const Operation& operation : operations()) {
    if (operation.name == only) return;
    names += std::string(names.empty() ? "" : ", ") + operation.name;
  }
  throw std::invalid_argument("--only takes one of " + names + ", not '" + only + "'");
}

int run_random(const Options& options) {
  if (!options.only.empty()) check_name(options.only);
  const Devices devices(options.device);
  std::map<std::string, std::uint64_t> count;
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t number = 0, cases = 0;
  for (; cases < options.cases; ++number) {
    Bytes bytes = random_bytes(options.seed, number);
    Draw first(bytes.data(), bytes.size());
    if (!options.only.empty() && draw_operation(first).name != options.only) continue;
    const Result result = run_watched(options, bytes, devices);
    if (!result.failure.empty()) {
      std::cout << "case " << number << " of seed " << options.seed << ", after " << cases
                << " that passed\n";
      bytes.resize(result.used);
      return report(options, bytes, result);
    }
    ++count[result.operation];
    ++cases;
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  std::cout << cases << " cases of seed " << options.seed << " in " << spent.count() << " s on "
            << options.device << ":";
  for (const auto& [operation, times] : count) std::cout << " " << operation << " " << times;
  std::cout << std::endl;
  return 0;
}

bool parse(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; i += 2) {
    const std::string name = arguments[i];
    if (i + 1 == count) return false;
    const std::string value = arguments[i + 1];
    if (name == "--cases") {
      options.cases = std::stoull(value);
    } else if (name == "--shrink-seconds") {
      options.shrink_seconds = std::stod(value);
    } else if (name == "--seed") {
      options.seed = std::stoull(value);
    } else if (name == "--only") {
      options.only = value;
    } else if (name == "--device") {
      options.device = value;
    } else if (name == "--case") {
      options.one = value.empty() ? "00" : value;
    } else if (name == "--shrink") {
      options.shrunk = value;
    } else {
      return false;
    }
  }
  return true;
}

int run(const Options& options) {
  expect_death();
  if (!options.one.empty()) return run_one(options, from_hex(options.one));
  if (!options.shrunk.empty()) return report_smaller(options, from_hex(options.shrunk));
  return run_random(options);
}

}  // namespace
}  // namespace relayout::fuzz

int main(int count, char** arguments) {
  relayout::fuzz::Options options;
  try {
    if (relayout::fuzz::parse(count, arguments, options)) return relayout::fuzz::run(options);
  } catch (const std::exception& error) {
    std::cerr << "relayout_fuzz: " << error.what() << "\n";
    return 2;
  }
  std::cerr << "usage: relayout_fuzz [--cases N] [--seed N] [--only NAME] [--device NAMES] "
               "[--shrink-seconds N] [--case HEX | --shrink HEX]\n";
  return 2;
}
