// Programs of operations of which one takes many instructions, on any tensors and codes.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_program.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_program_costly(const LaunchContext& context, const ElementwiseParams& p) {
  launch_program_of<Steps::costly>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
