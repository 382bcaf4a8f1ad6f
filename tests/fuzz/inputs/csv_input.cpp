// Tables of permutations: each that is taken can be planned.
#include <sstream>
#include <string>

#include "bench/permute_csv.hpp"

#include <relayout/relayout.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relayout;
  try {
    std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
    for (const bench::ListedPermute& listed : bench::read_permutes(text, "input")) {
      const cases::PermuteCase& c = listed.permute;
      const TensorView in(nullptr, c.in_type, c.shape);
      const TensorView out(nullptr, c.in_type, in.permuted(c.axes).shape());
      plan_permute(DeviceProperties::h200(), in, c.axes, out).explain();
    }
  } catch (const Error&) {
  }
  return 0;
}
