#include "relayout/upload_choice.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "core/bytes.hpp"
#include "host/conv1d/conv1d_views.hpp"
#include "host/conv1d/overlap_chunks.hpp"
#include "relayout/overlap.hpp"
#include "relayout/permute.hpp"

namespace relayout {
namespace {

constexpr std::int64_t kSampleBytes = 64 << 20;
constexpr int kRepeats = 3, kQueued = 16;

/// Seconds of the fastest of a few runs, after one that is not counted.
template <class Work>
double fastest(const Work& work) {
  double best = 0;
  for (int i = 0; i <= kRepeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i == 1 || (i > 1 && seconds < best)) best = seconds;
  }
  return std::max(best, 1e-9);
}

/// Whole items, or the start of one.
TensorView sample_of(const TensorView& input) {
  const std::int64_t sample_bytes = input.extent(1) * bytes_of(input.dtype());
  const std::int64_t samples = std::clamp<std::int64_t>(kSampleBytes / sample_bytes, 1, input.extent(2));
  const std::int64_t items =
      std::clamp<std::int64_t>(kSampleBytes / (samples * sample_bytes), 1, input.extent(0));
  return input.slice(0, 0, items).slice(2, 0, samples);
}

TensorView packed(void* memory, DType type, const TensorView& like, bool channels_last) {
  const Dims& shape = like.shape();
  return channels_last ? TensorView(memory, type, {shape[0], shape[2], shape[1]}).permuted({0, 2, 1})
                       : TensorView(memory, type, shape);
}

double quotient(double bytes, double rate) { return rate > 0 ? bytes / rate : 0; }

std::string gigabytes(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB/s", rate * 1e-9);
  return text;
}

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f ms", seconds * 1e3);
  return text;
}

}  // namespace

Conv1dRates measure_rates(const Stream& stream, const Conv1d& problem, const TensorView& input) {
  sizes_of(problem);
  check_host_view(input, {problem.batch, problem.in_channels, problem.length}, "the input");
  Conv1dRates rates;
  rates.concurrent = stream.device().kind() == DeviceKind::gpu;
  if (input.elements() == 0) return rates;
  const TensorView sample = sample_of(input);
  const std::size_t bytes = static_cast<std::size_t>(sample.elements()) * size_of(input.dtype());
  const PinnedBuffer staging(stream.device(), bytes);
  const Buffer target(stream.device(), bytes), other(stream.device(), bytes);
  const Stream host(Device::cpu());
  const double read = static_cast<double>(unique_bytes(sample));

  const bool last = is_channels_last(input);
  const auto host_rate = [&](DType type, bool channels_last) {
    const TensorView staged = packed(staging.data(), type, sample, channels_last);
    return read / fastest([&] { cast(host, sample, staged); });
  };
  rates.stage = host_rate(input.dtype(), last);
  rates.cast = host_rate(problem.dtype, last);
  rates.cast_transpose = last ? rates.cast : host_rate(problem.dtype, true);

  const auto copy_rate = [&](const void* source, std::size_t moved, int times) {
    return static_cast<double>(moved) * times / fastest([&] {
             for (int i = 0; i < times; ++i) stream.copy(target.data(), source, moved);
             stream.synchronize();
           });
  };
  const TensorView::ByteRange range = sample.byte_range();
  rates.pinned_link = copy_rate(staging.data(), bytes, 1);
  rates.input_link = copy_rate(static_cast<const char*>(input.data()) + range.begin,
                               std::min(bytes, static_cast<std::size_t>(range.end - range.begin)), 1);
  stream.copy(other.data(), staging.data(), bytes);
  rates.device = 2 * copy_rate(other.data(), bytes, kQueued);

  const Stream copies(stream.device());
  Event copied(stream.device());
  rates.seconds_per_chunk = fastest([&] {
                              for (int i = 0; i < kQueued; ++i) {
                                copies.copy(target.data(), staging.data(), std::min<std::size_t>(bytes, 256));
                                copied.record(copies);
                                stream.wait(copied);
                                stream.fill(other.data(), 0, std::min<std::size_t>(bytes, 256));
                              }
                              stream.synchronize();
                            }) /
                            kQueued;
  return rates;
}

std::string Conv1dEstimate::name() const {
  if (upload != Upload::overlap) return name_of(upload);
  if (host_work == HostWork::none) return "overlap without host work";
  return std::string("overlap with ") + name_of(host_work);
}

Conv1dChoice choose_upload(const Conv1d& problem, const TensorView& input, const Conv1dRates& rates,
                           const OverlapOptions& options) {
  const Conv1dSizes sizes = sizes_of(problem);
  const double operand = 2.0 * static_cast<double>(sizes.operand_elements);
  const double half = 2.0 * static_cast<double>(input.elements());
  const double whole = half / 2 * static_cast<double>(size_of(input.dtype()));
  const double read = static_cast<double>(unique_bytes(input));
  const TensorView::ByteRange range = input.byte_range();
  const double uploaded = static_cast<double>(range.end - range.begin);  // by Upload::device, gaps too

  Conv1dChoice choice;
  choice.rates = rates;
  const auto add = [&](Upload upload, HostWork work, double host, double link, double device, double chunks) {
    Conv1dEstimate estimate{
        upload, work, host + chunks * rates.seconds_per_chunk, link, quotient(device + operand, rates.device),
        0};
    const double sum = estimate.host + estimate.link + estimate.device;
    const double most = std::max({estimate.host, estimate.link, estimate.device});
    const bool overlaps = upload == Upload::overlap && rates.concurrent;
    estimate.seconds = overlaps ? most + (sum - most) / std::max(chunks, 1.0) : sum;
    choice.estimates.push_back(estimate);
  };
  add(Upload::device, HostWork::none, 0, quotient(uploaded, rates.input_link), whole, 0);
  add(Upload::host, HostWork::none, quotient(read, rates.cast_transpose), quotient(half, rates.pinned_link),
      half, 0);
  for (const HostWork work : {HostWork::none, HostWork::cast, HostWork::cast_transpose}) {
    if (work == HostWork::cast_transpose && is_channels_last(input)) continue;  // the same as cast
    OverlapOptions with = options;
    with.host_work = work;
    const OverlapChunks cut = overlap_chunks(problem, sizes, input, with);
    const double rate = work == HostWork::cast             ? rates.cast
                        : work == HostWork::cast_transpose ? rates.cast_transpose
                                                           : rates.stage;
    const double bytes = work == HostWork::none ? whole : half;
    add(Upload::overlap, work, cut.direct ? 0 : quotient(read, rate),
        quotient(bytes, cut.direct ? rates.input_link : rates.pinned_link), bytes,
        static_cast<double>(cut.chunks.size()));
  }
  std::stable_sort(choice.estimates.begin(), choice.estimates.end(),
                   [](const Conv1dEstimate& a, const Conv1dEstimate& b) { return a.seconds < b.seconds; });
  choice.upload = choice.estimates[0].upload;
  choice.overlap = options;
  choice.overlap.host_work =
      choice.upload == Upload::overlap ? choice.estimates[0].host_work : HostWork::cast;
  return choice;
}

std::string Conv1dChoice::explain() const {
  if (estimates.empty()) return "nothing was chosen";
  const Conv1dEstimate& best = estimates[0];
  std::string text = best.name() + ": " + milliseconds(best.seconds) + " up to A by the model (host " +
                     milliseconds(best.host) + ", link " + milliseconds(best.link) + ", device " +
                     milliseconds(best.device) + "), as the host casts " + gigabytes(rates.cast) +
                     " of the input, " + gigabytes(rates.cast_transpose) +
                     " with transposing, and the link carries " + gigabytes(rates.pinned_link) +
                     " from pinned memory, " + gigabytes(rates.input_link) + " from the input's";
  for (std::size_t i = 1; i < estimates.size(); ++i) {
    text += (i == 1 ? "; otherwise " : ", ") + estimates[i].name() + " " + milliseconds(estimates[i].seconds);
  }
  return text;
}

}  // namespace relayout
