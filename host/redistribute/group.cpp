#include "host/redistribute/group.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "host/api/checks.hpp"
#include "host/api/half_streams.hpp"
#include "platform/backend.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

std::vector<Stream> streams_of(const std::vector<Device>& devices) {
  std::vector<Stream> streams;
  streams.reserve(devices.size());
  for (const Device& device : devices) streams.emplace_back(device);
  return streams;
}

/// Events order streams of one back end only, and its kernels reach no other one's memory.
void check_devices(const std::vector<Stream>& streams) {
  if (streams.empty()) throw Error(ErrorCode::invalid_argument, "a group needs 1 rank or more, not 0");
  const Device& first = streams.front().device();
  for (const Stream& stream : streams) {
    const Device& device = stream.device();
    if (&device.backend() == &first.backend()) continue;
    throw Error(ErrorCode::invalid_argument, "the devices of a group are of one kind, and these are " +
                                                 first.to_string() + " and " + device.to_string());
  }
}

bool make_reachable(const Device& from, const Device& to) {
  return same_device(from, to) || from.backend().enable_peer_access(from.index(), to.index());
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Nothing may be asked of events while work is recorded.
bool is_recorded(const Stream& stream) {
  const Device& device = stream.device();
  return device.backend().is_capturing({device.index(), stream.native()});
}

[[noreturn]] void throw_no_rank(int rank, const Group& group) {
  throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + " is none of the " +
                                               std::to_string(group.local_ranks().size()) +
                                               " local ranks of a group of " + std::to_string(group.ranks()));
}

}  // namespace

const Group::State::Halves& Group::State::halves() const {
  std::call_once(halves_made_, [this] {
    Halves made;
    for (const Stream& stream : streams) {
      const std::array<Stream, 2> halves = half_streams(stream.device());
      made.links.push_back(halves[0]);
      made.inners.push_back(halves[1]);
    }
    halves_ = std::move(made);
  });
  return halves_;
}

int Group::State::local(int rank) const noexcept {
  const auto place = std::find(local_ranks.begin(), local_ranks.end(), rank);
  return place == local_ranks.end() ? -1 : static_cast<int>(place - local_ranks.begin());
}

void Group::State::check_earlier() const {
  if (communicator == nullptr) return;
  or_stop([&] {
    communicator->check();
    if (signals->timed_out()) communicator->give_up("their part of an earlier run");
  });
  if (signals->is_stopped()) {  // by an error that does not come again: nobody waits for ready ranks any more
    communicator->fail();
    communicator->check();
  }
  // These ask the driver, which may refuse while somebody else records a graph.
  if (!watch.is_following() || is_recorded(streams.front())) return;
  if (watch.is_late(seconds_now(), communicator->time_limit(), [&] { return watched->is_done(); }))
    or_stop([&] { communicator->give_up("the end of an earlier run"); });
}

void Group::State::fail() const noexcept {
  if (communicator == nullptr) return;
  try {
    if (is_recorded(streams.front())) return;  // what is only recorded has told nobody
  } catch (...) {                              // a driver that does not say
  }
  signals->stop();
  communicator->fail();
}

void Group::State::watch_run() const {
  if (communicator == nullptr || watch.is_following() || is_recorded(streams.front())) return;
  Event(*watched).record(streams.front());
  watch.follow(seconds_now());
}

void Group::State::wait_for(const Stream& stream, const char* what) const {
  if (communicator == nullptr) return stream.synchronize();
  Event reached(stream.device());
  reached.record(stream);
  or_stop([&] { communicator->wait([&] { return reached.is_done(); }, what); });
  stream.synchronize();  // for the error of a kernel that failed
  if (signals->timed_out()) communicator->give_up("their part of an earlier run");
}

void Group::State::exchange_told(const void* own, void* all, std::size_t bytes, const char* what) const {
  check_earlier();
  const std::size_t ranks = reaches.size();
  const Stream& stream = sides.front();
  auto *const here = static_cast<char*>(told_here.data()), *const there = static_cast<char*>(told.data());
  std::memcpy(here + ranks * bytes, own, bytes);
  stream.copy(there + ranks * bytes, here + ranks * bytes, bytes);
  or_fail([&] { communicator->all_gather(there + ranks * bytes, there, bytes, stream.native()); });
  stream.copy(here, there, ranks * bytes);
  wait_for(stream, what);
  std::memcpy(all, here, ranks * bytes);
}

Group::Group(const std::vector<Stream>& streams) {
  check_devices(streams);
  auto state = std::make_shared<State>();
  state->local_ranks.resize(streams.size());
  std::iota(state->local_ranks.begin(), state->local_ranks.end(), 0);
  state->streams = streams;
  for (const Stream& from : streams) {
    state->sides.emplace_back(from.device());
    std::vector<bool> reached(streams.size());
    for (std::size_t to = 0; to < streams.size(); ++to)
      reached[to] = make_reachable(from.device(), streams[to].device());
    state->reaches.push_back(std::move(reached));
  }
  state_ = std::move(state);
}

Group::Group(const std::vector<Device>& devices) : Group(streams_of(devices)) {}

Group Group::emulated(int ranks, const Device& device) {
  if (ranks < 1)
    throw Error(ErrorCode::invalid_argument, "a group needs 1 rank or more, not " + std::to_string(ranks));
  return Group(std::vector<Device>(static_cast<std::size_t>(ranks), device));
}

Group Group::from_nccl(void* communicator, const Stream& stream) {
  const Device& device = stream.device();
  const std::string library = communicator_library(device.backend().name());
  if (library.empty())
    throw Error(ErrorCode::unsupported,
                "a communicator of NCCL or RCCL is for GPUs, and this device is " + device.to_string());
  auto state = std::make_shared<State>();
  state->communicator = std::make_unique<Communicator>(library, communicator);
  const auto ranks = static_cast<std::size_t>(state->communicator->ranks());
  const int rank = state->communicator->rank();
  state->local_ranks = {rank};
  state->streams = {stream};
  state->sides.emplace_back(device);
  state->reaches.assign(ranks, std::vector<bool>(ranks, false));
  for (std::size_t i = 0; i < ranks; ++i) state->reaches[i][i] = true;
  state->told = Buffer(device, (ranks + 1) * State::kMaxToldBytes);
  state->told_here = PinnedBuffer(device, state->told.bytes());
  state->signals = std::make_unique<Signals>(device, rank, static_cast<int>(ranks));
  state->watched.emplace(device);
  return Group(std::move(state));
}

int Group::ranks() const noexcept { return state_->ranks(); }
const std::vector<int>& Group::local_ranks() const noexcept { return state_->local_ranks; }

const Stream& Group::stream(int rank) const {
  const int local = state_->local(rank);
  if (local < 0) throw_no_rank(rank, *this);
  return state_->streams[static_cast<std::size_t>(local)];
}

bool Group::reaches(int from, int to) const {
  for (const int rank : {from, to})
    if (rank < 0 || rank >= ranks()) throw_no_rank(rank, *this);
  return state_->reaches[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

void Group::synchronize() const {
  if (state_->communicator != nullptr) state_->communicator->check();
  for (const Stream& stream : state_->streams) state_->wait_for(stream, "the work of its stream");
}

void Group::close() const {
  if (state_->communicator == nullptr) return;
  state_->shared_outputs.clear();
  state_->shared_workspaces.clear();
  state_->communicator->end();
}

void Group::set_time_limit(double seconds) const {
  if (!(seconds > 0))
    throw Error(ErrorCode::invalid_argument,
                "the time limit of a group is more than 0 s, not " + std::to_string(seconds));
  if (state_->communicator != nullptr) state_->communicator->set_time_limit(seconds);
}

}  // namespace relayout
