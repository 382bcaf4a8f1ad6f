// Which upload takes a conv1d's input to the device fastest on this machine, by rates measured here.
#pragma once

#include <string>
#include <vector>

#include <relayout/conv1d.hpp>

namespace relayout {

/// Bytes per second, and one time. Rates of the host count the bytes of the input that it reads.
struct Conv1dRates {
  double cast = 0, cast_transpose = 0;
  double stage = 0;              // into pinned memory, nothing changed
  double pinned_link = 0;        // from pinned memory to the device
  double input_link = 0;         // from where the input lies to the device
  double device = 0;             // read and written by a copy on the device
  double seconds_per_chunk = 0;  // to queue one chunk's copy and wait for its turn
  bool concurrent = true;        // the device works beside the host; false where it is the host
};

/// Measures on a sample of the input, 64 MiB at most, and on buffers of its own, which are freed. Waits.
/// Errors as Conv1dOverlap's.
Conv1dRates measure_rates(const Stream& stream, const Conv1d& problem, const TensorView& input);

/// What one upload is expected to take up to A.
struct Conv1dEstimate {
  Upload upload = Upload::device;
  HostWork host_work = HostWork::none;    // of Upload::overlap
  double host = 0, link = 0, device = 0;  // seconds of its three parts, each alone
  double seconds = 0;
  /// "overlap with cast", "device"
  std::string name() const;
};

struct Conv1dChoice {
  Upload upload = Upload::device;
  OverlapOptions overlap;
  Conv1dRates rates;
  std::vector<Conv1dEstimate> estimates;  // fastest first
  /// One sentence: the upload, and the figures that speak for it.
  std::string explain() const;
};

/// Uploads host and device do their parts one after another: host + link + device. Of overlap's n chunks only
/// one shows its other parts: max + (host + link + device - max) / n, where the device is concurrent. Looks
/// at the input's view, not at its elements; `options` are kept but for the host's work. Errors: those of
/// sizes_of.
Conv1dChoice choose_upload(const Conv1d& problem, const TensorView& input, const Conv1dRates& rates,
                           const OverlapOptions& options = {});

}  // namespace relayout
