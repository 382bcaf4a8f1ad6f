// Random calls of map(): those instances of its tests that are chains of operations, on tensors of any shapes
// and layouts.
#include "tests/fuzz/map_cases.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/elementwise_cases.hpp"
#include "tests/map/map_case.hpp"

namespace relayout::fuzz {
namespace {

using test::ElementwiseCase;
using test::MapCall;

/// The operations of an instance's name; none where a part of it is not an operation.
std::vector<relayout::Operation> operations_of(const MapCall& call) {
  std::vector<relayout::Operation> operations;
  std::istringstream names(call.name);
  for (std::string name; std::getline(names, name, '+');) {
    int i = 0;
    while (i < kOperations && name != name_of(static_cast<relayout::Operation>(i))) ++i;
    if (i == kOperations) return {};
    operations.push_back(static_cast<relayout::Operation>(i));
  }
  return operations;
}

/// A case for each chain, without shapes.
std::vector<ElementwiseCase> make_cases() {
  std::vector<ElementwiseCase> cases;
  for (const MapCall& call : test::map_calls_of(Device::cpu())) {
    ElementwiseCase c;
    c.operations = operations_of(call);
    if (c.operations.empty()) continue;
    c.out.type = call.types[0];
    c.common = call.types.back();
    for (std::size_t i = 1; i < call.types.size(); ++i) {
      test::TensorSpec spec;
      spec.type = call.types[i];
      c.operands.emplace_back(spec);
      if (!test::is_truth(c.operations[0], i - 1)) c.common = common_type(c.common, spec.type);
    }
    if (c.operations.back() == relayout::Operation::clip) {  // the bounds of map_kernels.cpp
      c.operands.emplace_back(Literal(-2));
      c.operands.emplace_back(Literal(6));
    }
    cases.push_back(c);
  }
  return cases;
}

}  // namespace

Trial decode_map(Draw& draw) {
  static const std::vector<ElementwiseCase> cases = make_cases();
  static constexpr test::Values kValues[] = {test::Values::small, test::Values::interesting,
                                             test::Values::halves, test::Values::interesting};
  ElementwiseCase c = cases[static_cast<std::size_t>(draw.byte()) % cases.size()];
  draw_tensors(draw, c, draw.chance(96));
  c.values = draw.pick(kValues);
  const auto seed = static_cast<std::uint64_t>(draw.byte());
  return trial_of(c, [seed](const Stream& stream, const ElementwiseCase& mapped) {
    test::check_map(stream, mapped, seed);
  });
}

}  // namespace relayout::fuzz
