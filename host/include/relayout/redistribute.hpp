// redistribute: out = permute(in, axes), with a cast, from one distribution over a group's ranks to another.
// A distributed transpose, an exchange of attention heads (Ulysses), a resharding, an all-gather.
//
// in and out have one view for each local rank of the group, whose shape is that of the rank's box; all of
// one side have one element type. Any strides; outputs share no byte with anything else. Data moves by the
// kernels and plans of permute, so its types, casts and alignments are those of relayout/permute.hpp.
//
// All functions throw these errors, before anything is queued: invalid_argument for numbers of ranks or of
// views that differ, axes that are no permutation, and a route that this group cannot take; shape for global
// shapes and views that do not go together; dtype, rounding_mode, output_overlap, partial_overlap,
// null_pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <relayout/cast_options.hpp>
#include <relayout/distribution.hpp>
#include <relayout/export.hpp>
#include <relayout/group.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// How data gets from rank to rank.
enum class RedistributeRoute {
  direct,       ///< kernels read and write the other rank's memory: one permuted copy for each pair of boxes
  staged,       ///< packed by kernels into a workspace, copied in chunks, unpacked by kernels
  copy_engine,  ///< copies of bytes and of rows of bytes, where nothing but the place changes
  joined,  ///< staged, where all that a rank gets comes together with what it has, and is unpacked as one
};
/// The enumerator's name, as in "copy_engine".
RELAYOUT_API const char* name_of(RedistributeRoute route) noexcept;

/// Options of a redistribution.
struct RedistributeOptions {
  CastOptions cast = {};  ///< how elements are converted
  /// This route, and no other. Without a value: the one of least predicted time.
  std::optional<RedistributeRoute> route;
  /// Routes that need more bytes of workspace than this on a rank are not taken.
  std::size_t workspace_limit = std::numeric_limits<std::size_t>::max();
};

/// What crosses from one rank to another.
struct RedistributeLink {
  int from = 0;               ///< the rank that holds the elements
  int to = 0;                 ///< the rank that gets them
  std::int64_t bytes = 0;     ///< bytes that cross, in the type that crosses
  std::int64_t messages = 0;  ///< kernels (direct) or copies (the other routes) that carry them
};

/// What another route than the planned one would do.
struct RedistributeAlternative {
  RedistributeRoute route = RedistributeRoute::direct;  ///< the route
  bool possible = false;                                ///< whether the group can take it
  std::string reason;                                   ///< why it cannot
  double microseconds = 0;                              ///< the predicted time, where it is possible
};

/// What explain() says, as numbers.
struct RedistributeDetails {
  RedistributeRoute route = RedistributeRoute::direct;  ///< the route
  double microseconds = 0;                              ///< its predicted time
  std::vector<RedistributeAlternative> others;          ///< the other routes
  std::vector<RedistributeLink> links;                  ///< between different ranks, by sender and receiver
  std::int64_t kernels = 0;         ///< kernels that this process queues, those within a rank included
  std::int64_t copies = 0;          ///< copies that this process queues
  int chunks = 1;                   ///< staged, joined: parts of each message, whose steps overlap
  std::size_t workspace_bytes = 0;  ///< the largest workspace of a local rank
  /// The most that the route takes of what a rank has registered (Group::register_workspace).
  std::size_t group_workspace_bytes = 0;
};

/// A redistribution that was checked and planned. Cheap to copy; copies are the same plan, and moving one
/// copies it. One run is queued at a time: not from several threads at once.
class RELAYOUT_API RedistributePlan {
 public:
  struct State;  ///< the library's own
  /// For the library: users have plan_redistribute.
  explicit RedistributePlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  /// A copy.
  RedistributePlan(const RedistributePlan&) = default;
  /// A copy.
  RedistributePlan& operator=(const RedistributePlan&) = default;

  /// Queues the redistribution between the planned views on the group's streams: allocates nothing on a
  /// device, waits for nothing on the host. A rank's output is written when its own stream and those of the
  /// ranks that write it have come so far; its stream goes on when its output is complete and its input and
  /// workspace are free. Runs follow each other in the order that they were queued in. To record it in a
  /// Graph of one stream, let the others wait for that one before, and that one for the others afterwards.
  /// workspace: for each local rank, memory of its device of workspace_bytes() on a multiple of 64 bytes,
  /// which shares no byte with the views; none where that is 0. Errors: null_pointer for a view that was
  /// planned with a null pointer, and for want of a workspace.
  void run(const std::vector<void*>& workspace = {}) const;
  /// The same between other memory of the local ranks, with the planned views' strides. Each pointer must be
  /// aligned as the planned kernels need it; one that lies as far behind a multiple of 16 bytes as the
  /// planned one always is, and a null pointer counts as such a multiple. Further errors: invalid_argument
  /// for an alignment, for numbers of pointers and, on the direct route between processes, for an output
  /// other than the planned one; partial_overlap.
  void run(const std::vector<const void*>& in, const std::vector<void*>& out,
           const std::vector<void*>& workspace = {}) const;

  /// Bytes of workspace that run() needs on a local rank, else Error{invalid_argument}.
  std::size_t workspace_bytes(int rank) const;
  /// What explain() says, as numbers.
  RedistributeDetails details() const;
  /// The plan in plain words, several lines: the route and its predicted time, the other routes, bytes and
  /// messages of each link, and what the kernel of the largest message does.
  std::string explain() const;

  /// For the library: users have details().
  const State& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// Plans the redistribution of a global tensor: out has extent in.extent(axes[j]) along axis j. Allocates no
/// memory on a device.
RELAYOUT_API RedistributePlan plan_redistribute(const Group& group, const Distribution& in_distribution,
                                                const std::vector<TensorView>& in,
                                                const std::vector<int>& axes,
                                                const Distribution& out_distribution,
                                                const std::vector<TensorView>& out,
                                                const RedistributeOptions& options = {});

/// The same for contiguous views of these types, whose memory run() is given.
RELAYOUT_API RedistributePlan plan_redistribute(const Group& group, const Distribution& in_distribution,
                                                const std::vector<int>& axes,
                                                const Distribution& out_distribution, DType in_type,
                                                DType out_type, const RedistributeOptions& options = {});

/// Plans and runs at once, by a route that needs no workspace. Error{unsupported} where none is possible.
RELAYOUT_API void redistribute(const Group& group, const Distribution& in_distribution,
                               const std::vector<TensorView>& in, const std::vector<int>& axes,
                               const Distribution& out_distribution, const std::vector<TensorView>& out,
                               const RedistributeOptions& options = {});

}  // namespace relayout
