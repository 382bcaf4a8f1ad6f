// One random case of one operation, and its run against the oracle.
#pragma once

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/draw.hpp"

#include <relayout/relayout.hpp>

namespace relayout::fuzz {

struct Trial {
  std::string words;  // of the case
  /// Runs the case on a device; an error is a failure of GoogleTest.
  std::function<void(const Stream&)> check;
};

/// A case whose `check(stream, case)` compares with the oracle.
template <class Case, class Check>
Trial trial_of(const Case& c, Check&& check) {
  std::ostringstream words;
  words << c;
  return {words.str(), [c, check](const Stream& stream) { check(stream, c); }};
}

/// An operation with random cases. A new one is a decoder and a line in operations().
struct Operation {
  const char* name;
  int share;  // of the cases, against the sum of all shares
  Trial (*decode)(Draw&);
};
const std::vector<Operation>& operations();
/// The operation that a case's first byte stands for.
const Operation& draw_operation(Draw& draw);

/// The devices that a case runs on, one stream each; the emulated ones once per order of threads.
class Devices {
 public:
  /// Any of cpu, emulated32, emulated64, gpu0, with commas between.
  explicit Devices(const std::string& names);
  struct Named {
    std::string name;
    std::vector<Stream> orders;
  };
  const std::vector<Named>& all() const { return all_; }

 private:
  std::vector<Named> all_;
};

struct Result {
  std::string words;
  std::string operation;
  std::string failure;   // empty: every device agreed with the oracle
  std::size_t used = 0;  // bytes of the case
};

/// Runs the case that the bytes stand for, on every device up to the first that fails.
Result run_case(const Bytes& bytes, const Devices& devices);

/// Fewer and smaller bytes for which `fails` still holds; it tries for at most so many seconds.
Bytes shrink(Bytes bytes, const std::function<bool(const Bytes&)>& fails, double seconds);

}  // namespace relayout::fuzz
