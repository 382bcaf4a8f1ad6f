// Where threads of a block wait for each other, and what is said when they miss each other.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "block_runner.hpp"

namespace relayout::emulator {
namespace {

bool same(Site a, Site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

std::string to_string(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

std::string to_string(Dim3 index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) +
         ")";
}

}  // namespace

void BlockRunner::Arrivals::add(Site arrived) {
  if (count++ == 0) {
    site = arrived;
    mixed = false;
  } else if (!same(site, arrived)) {
    mixed = true;
  }
}

int BlockRunner::lanes_of_warp(int thread) const {
  const int first = thread - thread % warp_size_;
  return std::min(warp_size_, thread_count_ - first);
}

void BlockRunner::block_barrier(Site site) {
  Thread& self = threads_[static_cast<std::size_t>(current_)];
  SyncPoint& sync = block_sync_[self.block_barriers++ % 2];
  sync.release();
  self.site = site;
  self.state = State::at_block_barrier;
  arrivals_.add(site);
  if (arrivals_.count == thread_count_ && !arrivals_.mixed) {
    arrivals_.count = 0;
    runnable_ = thread_count_;
    for (int i = 0; i < thread_count_; ++i) threads_[static_cast<std::size_t>(i)].state = State::runnable;
  }
  pass_on(*self.carrier);
  resumed(self);
  sync.acquire();
}

void BlockRunner::check_lanes(int lanes, Site site) const {
  if (lanes != warp_size_)
    throw Error(ErrorCode::launch, std::string(launch_->operation) + ": a warp operation for " +
                                       std::to_string(lanes) + " lanes at " + to_string(site) +
                                       " ran on a device with warps of " + std::to_string(warp_size_) +
                                       "; choose the kernel's W from DeviceProperties::warp_size");
}

BlockRunner::Warp& BlockRunner::arrive_at_warp(Site site, bool orders_memory) {
  Thread& self = threads_[static_cast<std::size_t>(current_)];
  const int first = current_ - current_ % warp_size_, present = lanes_of_warp(current_);
  Warp& warp = warps_[static_cast<std::size_t>(current_ / warp_size_)];
  const std::uint32_t use = self.warp_operations++ % 2;
  if (orders_memory) warp.sync[use].release();
  self.site = site;
  self.state = State::at_warp_barrier;
  warp.arrivals.add(site);
  if (warp.arrivals.count == present && !warp.arrivals.mixed) {
    warp.arrivals.count = 0;
    warp.votes[1 - use] = 0;
    runnable_ += present;
    for (int i = first; i < first + present; ++i)
      threads_[static_cast<std::size_t>(i)].state = State::runnable;
  }
  pass_on(*self.carrier);
  resumed(self);
  if (orders_memory) warp.sync[use].acquire();
  return warp;
}

void BlockRunner::warp_wait(int lanes, Site site) {
  check_lanes(lanes, site);
  arrive_at_warp(site, true);
}

std::uint64_t BlockRunner::warp_exchange(int lanes, std::uint64_t bits, int source_lane, Site site) {
  check_lanes(lanes, site);
  const int present = lanes_of_warp(current_);
  if (source_lane < 0 || source_lane >= present)
    throw Error(ErrorCode::launch, std::string(launch_->operation) + ": the shuffle at " + to_string(site) +
                                       " reads lane " + std::to_string(source_lane) + " of a warp with " +
                                       std::to_string(present) + " threads");
  const int source = current_ - current_ % warp_size_ + source_lane;
  Thread& self = threads_[static_cast<std::size_t>(current_)];
  const std::uint32_t use = self.warp_operations % 2;
  self.slots[use] = bits;
  arrive_at_warp(site, false);
  return threads_[static_cast<std::size_t>(source)].slots[use];
}

std::uint64_t BlockRunner::warp_vote(int lanes, bool predicate, Site site) {
  check_lanes(lanes, site);
  const std::uint32_t use = threads_[static_cast<std::size_t>(current_)].warp_operations % 2;
  const std::uint64_t bit = std::uint64_t{predicate} << (current_ % warp_size_);
  warps_[static_cast<std::size_t>(current_ / warp_size_)].votes[use] |= bit;
  return arrive_at_warp(site, false).votes[use];
}

Error BlockRunner::divergence() const {
  std::map<std::string, int> waiting;
  for (int i = 0; i < thread_count_; ++i) {
    const Thread& thread = threads_[static_cast<std::size_t>(i)];
    if (thread.state == State::at_block_barrier) ++waiting["__syncthreads at " + to_string(thread.site)];
    if (thread.state == State::at_warp_barrier) ++waiting["the warp operation at " + to_string(thread.site)];
  }
  std::string sentence = std::string(launch_->operation) + ": the threads of block " + to_string(blockIdx) +
                         " diverged: of " + std::to_string(thread_count_) + ", ";
  for (const auto& [place, count] : waiting) sentence += std::to_string(count) + " wait in " + place + ", ";
  return Error(ErrorCode::launch,
               sentence + std::to_string(done_) +
                   " have ended; all threads of a block, or of a warp, must reach the same barrier");
}

void block_barrier(const char* file, int line) { BlockRunner::current().block_barrier({file, line}); }
void* dynamic_shared() noexcept { return BlockRunner::current().shared(); }
std::uint64_t warp_exchange(int lanes, std::uint64_t bits, int source_lane, Site site) {
  return BlockRunner::current().warp_exchange(lanes, bits, source_lane, site);
}
std::uint64_t warp_vote(int lanes, bool predicate, Site site) {
  return BlockRunner::current().warp_vote(lanes, predicate, site);
}
void warp_wait(int lanes, Site site) { BlockRunner::current().warp_wait(lanes, site); }

}  // namespace relayout::emulator
