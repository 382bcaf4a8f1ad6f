// The rows kernel with a cast on the way, with one instance for each pair of element sizes, and with a table
// of bytes; it is in rows_kernel.hpp.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/generic_cast.hpp"
#include "kernels/copy/rows_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_rows_cast(const LaunchContext& context, const RowsParams& p) {
  visit_both_sizes(p.in_type, p.out_type, [&](auto from, auto to) {
    launch_rows_of<typename decltype(from)::type, typename decltype(to)::type, true>(context, p);
  });
}

void launch_rows_table(const LaunchContext& context, const WithTable<RowsParams>& p) {
  if (p.read == RowsRead::lanes) return launch_rows_lanes_table(context, p);
  launch_rows_of<std::uint8_t, std::uint8_t, true>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
