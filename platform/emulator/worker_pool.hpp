// The OS threads that run blocks. They are kept between launches: their stacks and shared memory stay warm.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "block_runner.hpp"

namespace relayout::emulator {

class WorkerPool {
 public:
  /// The one of this program; its threads end with it.
  static WorkerPool& instance();
  ~WorkerPool();

  /// Runs all blocks with `workers` OS threads, the calling one among them: worker w takes blocks w, w +
  /// workers, ... One launch at a time. Throws what the failing block of the lowest number threw, whatever
  /// the timing.
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
  bool ending_ = false;
  std::vector<std::unique_ptr<BlockRunner>> runners_;  // 0 is the caller's
  std::vector<std::thread> threads_;
};

}  // namespace relayout::emulator
