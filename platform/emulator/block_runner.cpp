#include "block_runner.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace relayout::emulator {
namespace {

// splitmix64 (Steele, Lea and Flood, 2014): the same order on every machine.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

thread_local BlockRunner* runner_of_this_thread = nullptr;

}  // namespace

struct BlockRunner::Carrier {
  explicit Carrier(int index) : stack(index) { context.begin(stack, carrier_main); }
  Stack stack;
  Context context;
  bool at_rest = true;  // runs no thread, nothing on its stack is of use
};

BlockRunner::BlockRunner() = default;
BlockRunner::~BlockRunner() = default;

BlockRunner& BlockRunner::current() { return *runner_of_this_thread; }

void BlockRunner::prepare(LaunchState& launch, void* shared) {
  runner_of_this_thread = this;
  launch_ = &launch;
  shared_ = shared;
  thread_count_ = launch.threads;
  warp_size_ = launch.options.warp_size;
  const auto threads = static_cast<std::size_t>(thread_count_);
  if (threads_.size() < threads) threads_.resize(threads);
  if (warps_.size() < threads / 32 + 1) warps_.resize(threads / 32 + 1);
  for (int i = 0; i < thread_count_; ++i) {
    const int x = launch.shape.threads_x, y = launch.shape.threads_y;
    threads_[static_cast<std::size_t>(i)].index = {static_cast<std::uint32_t>(i % x),
                                                   static_cast<std::uint32_t>(i / x % y),
                                                   static_cast<std::uint32_t>(i / x / y)};
  }
  order_.resize(threads);
  std::iota(order_.begin(), order_.end(), 0);
  if (launch.options.order == ThreadOrder::reverse) std::reverse(order_.begin(), order_.end());

  main_.tsan.use_current();
  between_blocks_.create();
  if (has_thread_sanitizer()) {
    // All TSan threads exist before a kernel runs: a new one comes after all that its creator did.
    while (carriers_.size() < threads) add_carrier();
    for (auto& carrier : carriers_) carrier->context.tsan.create();
  }
  const auto as_dim = [](std::int64_t extent) { return static_cast<std::uint32_t>(extent); };
  blockDim = {as_dim(launch.shape.threads_x), as_dim(launch.shape.threads_y), as_dim(launch.shape.threads_z)};
  gridDim = {as_dim(launch.shape.blocks_x), as_dim(launch.shape.blocks_y), as_dim(launch.shape.blocks_z)};
}

void BlockRunner::order_threads(std::int64_t block) {
  if (launch_->options.order != ThreadOrder::shuffled) return;
  std::iota(order_.begin(), order_.end(), 0);
  std::uint64_t state = launch_->options.seed ^ (static_cast<std::uint64_t>(block) * 0xd1342543de82ef95u);
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[next_random(state) % i]);
}

void BlockRunner::run_block(std::int64_t block) {
  const std::int64_t x = launch_->shape.blocks_x, y = launch_->shape.blocks_y;
  blockIdx = {static_cast<std::uint32_t>(block % x), static_cast<std::uint32_t>(block / x % y),
              static_cast<std::uint32_t>(block / x / y)};
  order_threads(block);
  started_ = done_ = runnable_ = position_ = 0;
  arrivals_ = Arrivals();
  for (Warp& warp : warps_) warp.arrivals = Arrivals(), warp.votes[0] = warp.votes[1] = 0;

  between_blocks_.enter();
  launch_->begin.acquire();
  block_end_.acquire();
  if (launch_->shape.shared_bytes > 0) std::memset(shared_, 0xff, launch_->shape.shared_bytes);
  block_begin_.release();
  main_.tsan.enter();

  entering_ = &take_carrier();
  main_.switch_to(entering_->context);
  if (!failed_) return;

  const std::exception_ptr failure = failure_ ? failure_ : std::make_exception_ptr(divergence());
  drop_suspended();
  failed_ = false;
  failure_ = nullptr;
  std::rethrow_exception(failure);
}

void BlockRunner::carrier_main(boost::context::detail::transfer_t transfer) {
  BlockRunner& runner = *runner_of_this_thread;
  Carrier& self = *runner.entering_;
  self.context.arrived(transfer);
  for (;;) runner.run_threads(self);
}

void BlockRunner::run_threads(Carrier& self) {
  self.at_rest = false;
  do {
    position_ = started_++;
    current_ = order_[static_cast<std::size_t>(position_)];
    Thread& thread = threads_[static_cast<std::size_t>(current_)];
    thread.carrier = &self;
    thread.block_barriers = thread.warp_operations = 0;
    resumed(thread);
    block_begin_.acquire();
    try {
      launch_->kernel.call(launch_->kernel.arguments);
    } catch (...) {
      failed_ = true;
      failure_ = std::current_exception();
    }
    if (failed_) self.context.switch_to(main_);  // and never back
    thread.state = State::done;
    ++done_;
    block_end_.release();
  } while (runnable_ == 0 && started_ < thread_count_ && !has_thread_sanitizer());
  self.at_rest = true;
  if (!has_thread_sanitizer()) idle_.push_back(&self);
  pass_on(self);
}

// Gives the OS thread to the next GPU thread: one that can go on before one that has not begun, so that few
// stacks are in use; back to run_block when there is none.
void BlockRunner::pass_on(Carrier& self) {
  if (runnable_ > 0) {
    current_ = next_runnable();
    --runnable_;
    Carrier& next = *threads_[static_cast<std::size_t>(current_)].carrier;
    if (&next != &self) self.context.switch_to(next.context);
  } else if (started_ < thread_count_) {
    entering_ = &take_carrier();
    self.context.switch_to(entering_->context);
  } else {
    failed_ = done_ < thread_count_;
    self.context.switch_to(main_);
  }
}

int BlockRunner::next_runnable() {
  for (;;) {
    if (++position_ >= started_) position_ = 0;
    const int thread = order_[static_cast<std::size_t>(position_)];
    if (threads_[static_cast<std::size_t>(thread)].state == State::runnable) return thread;
  }
}

void BlockRunner::resumed(Thread& self) {
  self.state = State::running;
  threadIdx = self.index;
}

BlockRunner::Carrier& BlockRunner::take_carrier() {
  if (has_thread_sanitizer())
    return *carriers_[static_cast<std::size_t>(order_[static_cast<std::size_t>(started_)])];
  if (idle_.empty()) add_carrier();
  Carrier& carrier = *idle_.back();
  idle_.pop_back();
  return carrier;
}

void BlockRunner::add_carrier() {
  carriers_.push_back(std::make_unique<Carrier>(static_cast<int>(carriers_.size())));
  idle_.reserve(carriers_.capacity());  // carriers that come to rest must not allocate
  if (!has_thread_sanitizer()) idle_.push_back(carriers_.back().get());
}

// What a failed block left behind: no destructors run on those stacks, as on a GPU.
void BlockRunner::drop_suspended() {
  for (auto& carrier : carriers_) {
    if (carrier->at_rest) continue;
    carrier->context.tsan.enter();
    block_end_.release();
    main_.tsan.enter();
    carrier->context.tsan.destroy();
    carrier->context.begin(carrier->stack, carrier_main);
    carrier->at_rest = true;
    if (!has_thread_sanitizer()) idle_.push_back(carrier.get());
  }
  // The TSan threads that replace the destroyed ones use the same stacks.
  block_end_.acquire();
}

}  // namespace relayout::emulator
