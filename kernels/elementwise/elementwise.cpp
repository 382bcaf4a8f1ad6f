// The element-wise kernels by name: which one takes a launch was planned (host/plan/elementwise).
#include "core/elementwise_params.hpp"
#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.kernel) {
    case ElementwiseKernel::typed:
      return launch_typed_aligned(context, p);
    case ElementwiseKernel::typed_costly:
      return launch_typed_costly_aligned(context, p);
    case ElementwiseKernel::typed_unaligned:
      return launch_typed_unaligned(context, p);
    case ElementwiseKernel::typed_unaligned_costly:
      return launch_typed_costly_unaligned(context, p);
    case ElementwiseKernel::typed_chunks:
      return launch_typed_chunks(context, p);
    case ElementwiseKernel::typed_chunks_costly:
      return launch_typed_costly_chunks(context, p);
    case ElementwiseKernel::typed_flat:
      return launch_typed_flat(context, p);
    case ElementwiseKernel::typed_flat_costly:
      return launch_typed_costly_flat(context, p);
    case ElementwiseKernel::typed_strips:
      return launch_typed_strips(context, p);
    case ElementwiseKernel::typed_strips_costly:
      return launch_typed_costly_strips(context, p);
    case ElementwiseKernel::mixed:
      return launch_mixed(context, p);
    case ElementwiseKernel::mixed_chunks:
      return launch_mixed_chunks(context, p);
    case ElementwiseKernel::mixed_strips:
      return launch_mixed_strips(context, p);
    case ElementwiseKernel::transposed:
      return launch_transposed(context, p);
    case ElementwiseKernel::chain_cheap:
      return launch_chain_cheap(context, p);
    case ElementwiseKernel::chain_activation:
      return launch_chain_activation(context, p);
    case ElementwiseKernel::chain_costly:
      return launch_chain_costly(context, p);
    case ElementwiseKernel::chain_approximate:
      return launch_chain_approximate(context, p);
    case ElementwiseKernel::vectors:
      switch (p.compute) {
        case ComputeClass::i32:
          return launch_elementwise_i32(context, p);
        case ComputeClass::f32:
          return launch_elementwise_f32(context, p);
        case ComputeClass::i64:
        case ComputeClass::f64:
          return launch_elementwise_wide(context, p);
      }
      return;
    case ElementwiseKernel::vectors_costly:
      return launch_elementwise_costly(context, p);
    case ElementwiseKernel::vectors_approximate:
      return launch_elementwise_approximate(context, p);
    case ElementwiseKernel::program:
      return launch_program(context, p);
    case ElementwiseKernel::program_costly:
      return launch_program_costly(context, p);
    case ElementwiseKernel::program_strips:
      return launch_program_strips(context, p);
    case ElementwiseKernel::program_strips_costly:
      return launch_program_strips_costly(context, p);
    case ElementwiseKernel::code_rows:
      return launch_code_rows(context, p);
    case ElementwiseKernel::code_vectors:
      return launch_code_vectors(context, p);
    case ElementwiseKernel::code_chunks:
      return launch_code_chunks(context, p);
    case ElementwiseKernel::code_strips:
      return launch_code_strips(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
