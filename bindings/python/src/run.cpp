#include "bindings/python/src/run.hpp"

#include <list>
#include <map>
#include <unordered_map>

namespace relayout::python {
namespace {

constexpr std::size_t kKeptPlans = 256;
constexpr std::int64_t kWorthTheLock = 1
                                       << 13;  // elements: below, giving up the lock costs more than the work
constexpr std::size_t kKeptStreams = 64;

struct DeviceCloser {
  void operator()(relayout_device* device) const { relayout_device_destroy(device); }
};
struct StreamCloser {
  void operator()(relayout_stream* stream) const { relayout_stream_destroy(stream); }
};

const relayout_device* device_of(const Tensor& place) {
  return device_number(place.on_gpu() ? place.dl.device.device_id : -1);
}

/// Each thread has handles of its own: they are cheap, and nothing is shared.
const relayout_stream* stream_of(const Tensor& place, void* stream) {
  using Handle = std::unique_ptr<relayout_stream, StreamCloser>;
  thread_local Handle processor;
  thread_local std::map<std::pair<int, void*>, Handle> gpus;
  relayout_stream* made = nullptr;
  if (!place.on_gpu()) {
    if (!processor) {
      check(relayout_stream_create(device_of(place), &made));
      processor.reset(made);
    }
    return processor.get();
  }
  const std::pair<int, void*> key(place.dl.device.device_id, stream);
  const auto found = gpus.find(key);
  if (found != gpus.end()) return found->second.get();
  if (gpus.size() >= kKeptStreams) gpus.clear();
  check(relayout_stream_from_native(device_of(place), stream, &made));
  return gpus.emplace(key, Handle(made)).first->second.get();
}

/// The least recently used plan goes first. Guarded by Python's lock.
struct Cache {
  struct Entry {
    std::string key;
    std::shared_ptr<const Prepared> prepared;
  };
  std::list<Entry> entries;  // the last used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key;
  long long hits = 0, misses = 0;

  std::shared_ptr<const Prepared> find(const std::string& key) {
    const auto found = by_key.find(key);
    if (found == by_key.end()) {
      ++misses;
      return nullptr;
    }
    ++hits;
    entries.splice(entries.begin(), entries, found->second);
    return entries.front().prepared;
  }
  void drop(const std::string& key) {
    const auto found = by_key.find(key);
    if (found == by_key.end()) return;
    entries.erase(found->second);
    by_key.erase(found);
  }
  void keep(const std::string& key, const std::shared_ptr<const Prepared>& prepared) {
    drop(key);
    entries.push_front({key, prepared});
    by_key.emplace(key, entries.begin());
    if (entries.size() > kKeptPlans) drop(std::string(entries.back().key));
  }
};

Cache& cache() {
  static auto* const kept = new Cache;  // not destroyed: devices of a driver that has ended could be
  return *kept;
}

void make_output(Call& call, const ResultSpec& spec) {
  const Ref made = allocate_like(call.prototype(), spec.dtype, spec.rank, spec.shape);
  set_output(call, made.get());
}

void mark_written(const std::vector<const Tensor*>& pinned, const std::vector<const Tensor*>& inputs,
                  const Tensor& out) {
  for (const auto* tensors : {&pinned, &inputs}) {
    for (const Tensor* tensor : *tensors) {
      if (tensor->written) mark_written(*tensor);
    }
  }
  mark_written(out);
}

/// A convolution's plan has the weights of the time when it was made.
bool may_be_kept(const Call& call) { return call.op != Op::conv1d; }

}  // namespace

const relayout_device* device_number(int number) {
  static std::map<int, std::unique_ptr<relayout_device, DeviceCloser>> devices;
  auto& device = devices[number];
  if (!device) {
    relayout_device* made = nullptr;
    check(number < 0 ? relayout_device_cpu(&made) : relayout_device_gpu(number, &made));
    device.reset(made);
  }
  return device.get();
}

std::shared_ptr<const Prepared> prepare(Call& call, const ResultSpec& made) {
  auto prepared = std::make_shared<Prepared>();
  prepared->result = made;
  const Tensor& place = call.place();
  if (call.out == nullptr) {
    if (call.options.copy.beta != 0) fail(PyExc_TypeError, "with beta out must be given, which is added to");
    prepared->result = result_of(call);
    make_output(call, prepared->result);
  }
  relayout_plan* plan = nullptr;
  check(plan_call(call, device_of(place), stream_of(place, call.work_stream()), &plan));
  prepared->plan.reset(plan);
  return prepared;
}

relayout_status run(const Prepared& prepared, const Call& planned, const std::vector<const Tensor*>& inputs,
                    const Tensor& out, void* stream) {
  constexpr std::size_t kMaxInputs = 8;
  const relayout_stream* const on = stream_of(planned.place(), stream);
  const void* addresses[kMaxInputs] = {};
  if (inputs.size() > kMaxInputs) fail(RELAYOUT_INVALID_ARGUMENT, "more than 8 tensors are read");
  for (std::size_t i = 0; i < inputs.size(); ++i) addresses[i] = inputs[i]->data();
  const auto go = [&] {
    return relayout_run_on(prepared.plan.get(), on, addresses, static_cast<std::int32_t>(inputs.size()),
                           out.data());
  };
  const bool is_small = !out.on_gpu() && out.elements() < kWorthTheLock;
  const relayout_status status = is_small ? go() : without_lock(go);
  if (status == RELAYOUT_OK) mark_written(planned.pinned, inputs, out);
  return status;
}

Ref run_call(Call& call) {
  // Another thread may drop the plan meanwhile, so it is held here, too.
  std::shared_ptr<const Prepared> prepared = may_be_kept(call) ? cache().find(call.key) : nullptr;
  const auto run_on_stream = [&] { return run(*prepared, call, call.inputs, *call.out, call.work_stream()); };
  if (prepared) {
    if (call.out == nullptr) make_output(call, prepared->result);
    const relayout_status status = run_on_stream();
    if (status == RELAYOUT_OK) return call.out->object;
    // Memory that the plan was not made for, aligned more loosely for instance: it is planned anew.
    cache().drop(call.key);
  }
  prepared = prepare(call, prepared ? prepared->result : ResultSpec{});
  check(run_on_stream());
  if (may_be_kept(call)) cache().keep(call.key, prepared);
  return call.out->object;
}

std::uint64_t workspace_bytes(const Call& call) { return workspace_bytes(call, device_of(call.place())); }

CacheInfo cache_info() {
  return {cache().hits, cache().misses, static_cast<long long>(cache().entries.size())};
}

void clear_cache() {
  cache().entries.clear();
  cache().by_key.clear();
  cache().hits = cache().misses = 0;
}

}  // namespace relayout::python
