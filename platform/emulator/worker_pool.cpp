#include "worker_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <numeric>
#include <string>
#include <system_error>

namespace relayout::emulator {
namespace {

// Memory of exactly the size asked for, so that AddressSanitizer and valgrind see the first byte beyond it.
struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using Arena = std::unique_ptr<void, FreeMemory>;

Arena make_arena(std::size_t bytes) {
  if (bytes == 0) return Arena();
  Arena arena(std::malloc(bytes));
  if (!arena) throw std::bad_alloc();
  return arena;
}

/// Blocks in the order of the threads: ascending, descending, or `step` apart, counted around the grid, which
/// meets each once as `step` and their number have no common factor.
class BlockOrder {
 public:
  BlockOrder(const EmulationOptions& options, std::int64_t blocks)
      : blocks_(static_cast<std::uint64_t>(blocks)) {
    if (blocks < 2 || options.order == ThreadOrder::forward) return;
    first_ = blocks_ - 1;
    step_ = blocks_ - 1;
    if (options.order == ThreadOrder::reverse) return;
    first_ = options.seed % blocks_;
    step_ = (options.seed / blocks_ ^ blocks_ / 2) % blocks_;
    while (std::gcd(step_, blocks_) != 1) step_ = (step_ + 1) % blocks_;
  }

  std::int64_t block_at(std::int64_t position) const {
    const auto turned = static_cast<Product>(position) * step_ + first_;
    return static_cast<std::int64_t>(turned % blocks_);
  }

 private:
  __extension__ using Product = unsigned __int128;
  std::uint64_t blocks_, first_ = 0, step_ = 1;
};

// A child leaves its parent's pool where it is: its mutexes may be held by threads that the child does not
// have.
std::atomic<WorkerPool*> current{nullptr};
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { current = nullptr; });

}  // namespace

struct WorkerPool::Job {
  LaunchState& launch;
  int workers;
  std::vector<Arena> arenas;  // the calling thread's to make and to free: it alone comes after all blocks
  BlockOrder order;
  std::atomic<std::int64_t> end;  // of the positions to run: at a failure those before it still are, so that
                                  // the first one is what is reported
  std::mutex failure_mutex;
  std::exception_ptr failure;
  int busy;

  void run(BlockRunner& runner, int worker) {
    std::int64_t position = worker;
    try {
      runner.prepare(launch, arenas[static_cast<std::size_t>(worker)].get());
      for (; position < end.load(std::memory_order_relaxed); position += workers)
        runner.run_block(order.block_at(position));
    } catch (...) {
      const std::lock_guard<std::mutex> lock(failure_mutex);
      if (position < end.load(std::memory_order_relaxed)) {
        end.store(position, std::memory_order_relaxed);
        failure = std::current_exception();
      }
    }
  }
};

WorkerPool& WorkerPool::instance() {
  WorkerPool* pool = current;
  if (pool == nullptr) {
    auto made = std::make_unique<WorkerPool>();
    if (current.compare_exchange_strong(pool, made.get())) pool = made.release();
  }
  return *pool;
}

void WorkerPool::run(LaunchState& launch, int workers) {
  const std::lock_guard<std::mutex> one_launch(launch_mutex_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    workers = static_cast<int>(std::min(static_cast<std::size_t>(workers), most_));
    while (runners_.size() < static_cast<std::size_t>(workers)) add_worker();
  }
  Job job{launch, workers, {}, {launch.options, launch.blocks}, {launch.blocks}, {}, nullptr, workers - 1};
  for (int i = 0; i < workers; ++i) job.arenas.push_back(make_arena(launch.shape.shared_bytes));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    job_ = &job;
    ++jobs_;
  }
  launch.begin.release();
  if (workers > 1) job_changed_.notify_all();
  job.run(*runners_[0], 0);
  {
    std::unique_lock<std::mutex> lock(mutex_);
    job_changed_.wait(lock, [&] { return job.busy == 0; });
    job_ = nullptr;
  }
  for (int i = 0; i < workers; ++i) runners_[static_cast<std::size_t>(i)]->acquire_results();
  if (job.failure) std::rethrow_exception(job.failure);
}

void WorkerPool::add_worker() {
  const int worker = static_cast<int>(runners_.size());
  runners_.push_back(std::make_unique<BlockRunner>());
  if (worker == 0) return;
  try {
    threads_.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error& error) {
    runners_.pop_back();
    most_ = runners_.size();
    throw Error(ErrorCode::out_of_memory, "the emulator has no thread for worker " + std::to_string(worker) +
                                              ": " + error.what() + "; later launches use " +
                                              std::to_string(most_) + " threads");
  } catch (...) {  // no memory: a launch would wait for a runner that no thread has
    runners_.pop_back();
    throw;
  }
}

void WorkerPool::work(int worker) {
  std::uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    job_changed_.wait(lock, [&] { return job_ != nullptr && jobs_ != seen; });
    seen = jobs_;
    Job& job = *job_;
    if (worker >= job.workers) continue;
    BlockRunner& runner = *runners_[static_cast<std::size_t>(worker)];
    lock.unlock();
    job.run(runner, worker);
    lock.lock();
    if (--job.busy == 0) job_changed_.notify_all();
  }
}

}  // namespace relayout::emulator
