// The one entry of all copies: the planner has chosen, by the type of the parameters.
#include "kernels/backend_kernels.hpp"
#include "relayout/error.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

struct CopyLauncher {
  const LaunchContext& context;

  void operator()(const StreamParams& p) const { launch_stream(context, p); }
  void operator()(const RowsParams& p) const { launch_rows(context, p); }
  void operator()(const TileParams& p) const { launch_tile(context, p); }
  void operator()(const WindowParams& p) const { launch_window_vector(context, p); }
  void operator()(const NearGatherParams& p) const { launch_gather(context, p); }
  void operator()(const FarGatherParams& p) const { launch_gather(context, p); }
  void operator()(const HugeGatherParams& p) const { launch_gather(context, p); }
  void operator()(const WithTable<StreamParams>& p) const { launch_stream_table(context, p); }
  void operator()(const WithTable<RowsParams>& p) const { launch_rows_table(context, p); }
  void operator()(const WithTable<TileParams>& p) const { launch_tile_table(context, p); }
  void operator()(const CopyParams&) const {
    throw Error(ErrorCode::unsupported,
                "a copy that was planned for native code is run by a device that has kernels");
  }
};

}  // namespace

void launch_copy(const LaunchContext& context, const CopyKernelParams& params) {
  std::visit(CopyLauncher{context}, params);
}

}  // namespace relayout::RELAYOUT_BACKEND
