// Groups: the devices between which tensors are redistributed, one for each rank.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <relayout/device.hpp>
#include <relayout/export.hpp>
#include <relayout/stream.hpp>

namespace relayout {

/// The ranks that exchange data, each with the stream that its work is queued on. Rank r's work runs after
/// what its stream held before, and what is queued there later sees its result. Copies are the same group,
/// and moving one copies it.
class RELAYOUT_API Group {
 public:
  /// One process, rank r on streams[r]. A device may have several ranks. Devices are of one kind; GPUs that
  /// can read and write each other's memory are made to (peer access, which stays on). Errors:
  /// invalid_argument without streams and for devices of several back ends; vendor.
  explicit Group(const std::vector<Stream>& streams);
  /// The same on new streams of these devices.
  explicit Group(const std::vector<Device>& devices);
  /// `ranks` ranks on one device, for tests and for trying out a program: without a GPU, and with one.
  static Group emulated(int ranks, const Device& device = Device::emulated(32));

  /// One process a rank: the caller's communicator, an ncclComm_t of NCCL or RCCL, blocking or not, and the
  /// stream of this rank, on a GPU of its own. The communicator is the caller's to make and, after the last
  /// work of this group, to destroy: where outputs were registered, after close() or after the last copy of
  /// the group and its last plan are gone. Nothing else is queued on it by another thread while the group
  /// plans or runs.
  /// Planning is collective: every rank plans the same, or all get an error. The library is opened here:
  /// libnccl.so.2 or librccl.so.1, or the file that the environment variable RELAYOUT_NCCL_LIBRARY names.
  /// Errors: unsupported where it is missing, and without that variable for devices that are no GPU;
  /// null_pointer; vendor.
  static Group from_nccl(void* communicator, const Stream& stream);

  /// A copy.
  Group(const Group&) = default;
  /// A copy.
  Group& operator=(const Group&) = default;

  /// The number of ranks.
  int ranks() const noexcept;
  /// The ranks of this process, ascending. Views, pointers and workspaces are given for these, in this order.
  const std::vector<int>& local_ranks() const noexcept;
  /// The stream of one of the local ranks, else Error{invalid_argument}.
  const Stream& stream(int rank) const;
  /// Whether kernels of rank `from` reach the memory of rank `to`: on one device, and with peer access.
  bool reaches(int from, int to) const;
  /// Waits for the work of all local ranks, within the time limit.
  void synchronize() const;

  /// Lets kernels of the other processes write into this memory of this rank's, so that a plan whose output
  /// lies in it may take the direct route: for groups of several processes, once, before planning;
  /// collective. Every rank names memory of its own, bytes 0 where it has no output. It must stay until
  /// close(), or until the last copy of the group and its last plan are gone, which is after their work.
  /// The runtime's names of allocations share it (IPC). Where a rank's memory has none, a window of NCCL 2.29
  /// or later does, if every rank names memory in one allocation of ncclMemAlloc, of the same size on all,
  /// that no other call has named; a rank without output gives an address in one, too. Memory that cannot be
  /// shared (of a pool of memory) or reached is no error: explain() says why the direct route is
  /// not taken then. Groups of one process need no registration. Errors: null_pointer, vendor, timeout.
  void register_output(void* memory, std::size_t bytes) const;

  /// Lets the other processes copy their messages into this memory of this rank's: for groups of several
  /// processes, before planning; collective. Plans that are made afterwards go the routes staged and joined
  /// by it, which need neither registered outputs nor messages of the communicator then, and run() is given
  /// no workspace. A rank needs about the bytes that it sends and gets, for joined those that stay on it, too
  /// (RedistributeDetails::group_workspace_bytes), on a multiple of 64 bytes; plans for which there is too
  /// little do without. Plans of a group share it, one run after the other. Memory is shared as that of
  /// outputs, and stays as long; the last one registered is used. Errors: those of register_output(), and
  /// invalid_argument for an address off the boundary.
  void register_workspace(void* memory, std::size_t bytes) const;

  /// Ends the use of the communicator, for copies of the group and for plans, too, and gives the windows of
  /// registered outputs back: before a communicator is destroyed that others may outlive, after all work. Who
  /// needs the communicator gets Error{invalid_argument} afterwards. Groups of one process go on.
  void close() const;

  /// The longest that this process waits for ranks of other processes, in seconds, for this group and its
  /// copies; without one it waits for ever, but ends for an error of the communicator. Then planning and
  /// synchronize() throw Error{timeout}, and so does run() where an earlier run was queued longer ago than
  /// this and has not ended. The limit counts from the call, so it must be longer than what a stream may have
  /// to do before. Streams that wait for signals go on at the limit, by the device's clock: what such a run
  /// has written, on all ranks, is worth nothing, and the next call throws. After Error{timeout} every use of
  /// the group throws it: messages that are queued still wait, and end with ncclCommAbort, which comes before
  /// memory is given back, because freeing waits for the device.
  /// A communicator that blocks (ncclConfig_t::blocking is 1) waits within its own calls without limit while
  /// it first connects to a rank. Error{invalid_argument} unless seconds > 0; infinity is no limit.
  void set_time_limit(double seconds) const;

  struct State;  ///< the library's own
  /// For the library.
  const State& state() const noexcept { return *state_; }

 private:
  explicit Group(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace relayout
