// Runs the threads of one block at a time as fibers of one OS thread.
//
// Fibers are lazy: a carrier (a machine stack) runs the block's threads one after another, and only when a
// thread suspends is another carrier taken. A kernel that never waits uses one carrier and no switch. Under
// ThreadSanitizer every GPU thread has its own carrier and its own TSan thread, or stack memory shared by two
// GPU threads would look like a race.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "context.hpp"
#include "fiber_runtime.hpp"
#include "relayout/device.hpp"
#include "relayout/error.hpp"

namespace relayout::emulator {

/// What all workers know of the launch that runs.
struct LaunchState {
  const char* operation;
  LaunchShape shape;
  KernelCall kernel;
  EmulationOptions options;
  int threads;          // of a block
  std::int64_t blocks;  // of the grid
  SyncPoint begin;      // what the host did before the launch
};

class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();
  /// The one that this OS thread runs blocks with.
  static BlockRunner& current();

  /// Called on the OS thread that will run the blocks, which it does until the next call. `shared`: the
  /// block's dynamic shared memory.
  void prepare(LaunchState& launch, void* shared);
  /// Runs one block to its end; throws what a kernel threw, and Error{launch} for divergence. After that the
  /// next launch can come, but no other block of this one.
  void run_block(std::int64_t block);
  /// Makes all that GPU threads of this runner did visible to the calling thread.
  void acquire_results() { block_end_.acquire(); }

  void* shared() const { return shared_; }
  // Called on fibers, for the thread that runs.
  void block_barrier(Site site);
  void warp_wait(int lanes, Site site);
  std::uint64_t warp_exchange(int lanes, std::uint64_t bits, int source_lane, Site site);
  std::uint64_t warp_vote(int lanes, bool predicate, Site site);

 private:
  enum class State : std::uint8_t { running, runnable, at_block_barrier, at_warp_barrier, done };
  struct Carrier;
  struct Thread {
    State state;
    // How many of each kind this thread has passed. Barriers and warp slots are used alternately: whoever is
    // at use n + 2 knows that all have finished use n.
    std::uint32_t block_barriers, warp_operations;
    Carrier* carrier;
    Site site;
    Dim3 index;
    std::uint64_t slots[2];
  };
  /// Who has arrived at a barrier, and whether all at the same place.
  struct Arrivals {
    int count = 0;
    bool mixed = false;
    Site site{};
    void add(Site arrived);
  };
  struct Warp {
    Arrivals arrivals;
    std::uint64_t votes[2];
    SyncPoint sync[2];
  };

  static void carrier_main(boost::context::detail::transfer_t transfer);
  void run_threads(Carrier& self);
  void pass_on(Carrier& self);
  int next_runnable();
  static void resumed(Thread& self);
  void check_lanes(int lanes, Site site) const;
  Warp& arrive_at_warp(Site site, bool orders_memory);
  Carrier& take_carrier();
  void add_carrier();
  void drop_suspended();
  void order_threads(std::int64_t block);
  Error divergence() const;
  int lanes_of_warp(int thread) const;

  LaunchState* launch_ = nullptr;
  void* shared_ = nullptr;
  int thread_count_ = 0, warp_size_ = 32;

  Context main_;
  std::vector<std::unique_ptr<Carrier>> carriers_;
  std::vector<Carrier*> idle_;   // those that run no thread; not used where each thread has its own
  Carrier* entering_ = nullptr;  // for a carrier's first steps: which one it is

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<int> order_;  // the thread at each position of the ring
  int started_ = 0, done_ = 0, runnable_ = 0;
  int position_ = 0, current_ = 0;  // of the thread that runs: in order_, in threads_
  Arrivals arrivals_;
  SyncPoint block_sync_[2];
  bool failed_ = false;
  std::exception_ptr failure_;  // null when failed_ by divergence

  // Between blocks of this runner, through a TSan thread of its own. Were begin and end one point, a thread
  // that starts late would come after one of the same block that ended early.
  SyncPoint block_begin_, block_end_;
  TsanFiber between_blocks_;
};

}  // namespace relayout::emulator
