// The OS threads that run blocks. They are kept between launches: their stacks and shared memory stay warm.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "block_runner.hpp"

namespace relayout::emulator {

class WorkerPool {
 public:
  /// The one of this process. Nothing destroys it, so launches work until the process ends; a child made by
  /// fork() has none of its parent's threads and gets a pool of its own.
  static WorkerPool& instance();

  /// Runs all blocks with `workers` OS threads, the calling one among them: in the order that the options ask
  /// for, worker w takes every `workers`-th from the w-th on. One launch at a time. Throws what the first
  /// failing block in this order threw, whatever the timing, and Error{out_of_memory} when the system makes
  /// no more threads; launches after that do with those that there are.
  void run(LaunchState& launch, int workers);

 private:
  struct Job;
  void add_worker();
  void work(int worker);

  std::mutex launch_mutex_;
  std::mutex mutex_;  // of all below
  std::condition_variable job_changed_;
  Job* job_ = nullptr;
  std::uint64_t jobs_ = 0;
  std::size_t most_ = std::numeric_limits<std::size_t>::max();  // runners that the system has threads for
  std::vector<std::unique_ptr<BlockRunner>> runners_;           // 0 is the caller's
  std::vector<std::thread> threads_;
};

}  // namespace relayout::emulator
