#include "host/conv1d/overlap_chunks.hpp"

#include <climits>
#include <string>

#include "core/bytes.hpp"
#include "host/api/checks.hpp"
#include "host/conv1d/conv1d_views.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

/// Every chunk costs the link about 10 us beside its bytes (docs/conv1d.md), while many large ones on their
/// way would outgrow the host's cache between its work and the copy. A direct copy of part of a time axis
/// moves one short row per channel: longer chunks keep rows long.
constexpr std::int64_t kMaxStagedBytes = 8 << 20, kMaxDirectBytes = 16 << 20;

void check_options(const OverlapOptions& options) {
  check_enumerator("conv1d", "host_work", options.host_work, HostWork::cast_transpose);
  if (options.chunk_bytes < 0 || options.buffers < 2) {
    throw Error(ErrorCode::invalid_argument,
                "conv1d: chunks of " + std::to_string(options.chunk_bytes) + " bytes in " +
                    std::to_string(options.buffers) +
                    " buffers cannot overlap; use 0 or more bytes and 2 or more buffers");
  }
}

/// [batch, channels, length] without gaps in one of the two orders.
bool is_packed(const TensorView& input, StagedOrder order) {
  return (order == StagedOrder::channels_last ? input.permuted({0, 2, 1}) : input).is_contiguous();
}

}  // namespace

OverlapChunks overlap_chunks(const Conv1d& problem, const Conv1dSizes& sizes, const TensorView& input,
                             const OverlapOptions& options) {
  check_options(options);
  OverlapChunks cut;
  const bool last = is_channels_last(input) || options.host_work == HostWork::cast_transpose;
  cut.order = last ? StagedOrder::channels_last : StagedOrder::channels_first;
  cut.type = options.host_work == HostWork::none ? input.dtype() : problem.dtype;
  const std::int64_t element = bytes_of(cut.type);
  // The pitch of a copy by rows is limited to what an int holds.
  cut.direct = options.host_work == HostWork::none && options.pinned_input && is_packed(input, cut.order) &&
               problem.length <= INT_MAX / element;
  cut.request = {problem.batch,  problem.in_channels, problem.length, sizes.positions,
                 problem.window, problem.pad,         element,        options.chunk_bytes,
                 !last,          cut.direct};
  if (options.chunk_bytes == 0) {
    cut.request.chunk_bytes =
        plan::default_chunk_bytes(cut.request, cut.direct ? kMaxDirectBytes : kMaxStagedBytes);
  }
  cut.chunks = plan::cut_into_chunks(cut.request);
  return cut;
}

}  // namespace relayout
