// Calls of map() for the tests of the functors, compiled once per back end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <relayout/relayout.hpp>

namespace relayout::test {

/// One instance of map(). Named by the operations that give the same, if there are any.
struct MapCall {
  std::string name;
  std::vector<DType> types;  // the output's, then the operands'
  std::function<void(const Stream&, const std::vector<TensorView>& operands, const TensorView& out)> run;
};

}  // namespace relayout::test

namespace relayout::emulator {
const std::vector<test::MapCall>& map_calls();
}
namespace relayout::cuda {
const std::vector<test::MapCall>& map_calls();
}
namespace relayout::hip {
const std::vector<test::MapCall>& map_calls();
}
