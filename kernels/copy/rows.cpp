// The rows kernel for elements that move as they are; it is in rows_kernel.hpp.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/rows_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_rows(const LaunchContext& context, const RowsParams& p) {
  if (p.read == RowsRead::lanes) return launch_rows_lanes(context, p);
  if (p.in_type != p.out_type) return launch_rows_cast(context, p);
  visit_element_sizes(p.in_type, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_rows_of<T, T, false>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
