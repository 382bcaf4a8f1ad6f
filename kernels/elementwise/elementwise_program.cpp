// Programs of cheap operations, on any tensors and codes.
#include "kernels/elementwise/elementwise_program.hpp"
#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_program(const LaunchContext& context, const ElementwiseParams& p) {
  launch_program_of<Steps::cheap>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
