// Which upload takes a conv1d's input to the device fastest on this machine, by rates measured here.
#pragma once

#include <string>
#include <vector>

#include <relayout/conv1d.hpp>
#include <relayout/export.hpp>

namespace relayout {

/// What was measured: rates in bytes per second, and one time. Rates of the host count the bytes of the input
/// that it reads.
struct Conv1dRates {
  double cast = 0;               ///< the host's cast to 16 bits
  double cast_transpose = 0;     ///< the host's cast and transpose
  double stage = 0;              ///< the host's copy into pinned memory
  double pinned_link = 0;        ///< from pinned memory to the device
  double input_link = 0;         ///< from where the input lies to the device
  double device = 0;             ///< bytes that a copy on the device reads and writes
  double seconds_per_chunk = 0;  ///< seconds to queue one chunk's copy and wait for its turn
  bool concurrent = true;        ///< whether the device works beside the host; false where it is the host
};

/// Measures on a sample of the input, 64 MiB at most, and on buffers of its own, which are freed. Waits for
/// the stream. Errors: those of Conv1dOverlap.
RELAYOUT_API Conv1dRates measure_rates(const Stream& stream, const Conv1d& problem, const TensorView& input);

/// What one upload is expected to take up to A.
struct RELAYOUT_API Conv1dEstimate {
  Upload upload = Upload::device;       ///< the upload
  HostWork host_work = HostWork::none;  ///< what the host does on Upload::overlap
  double host = 0;                      ///< seconds of the host's work alone
  double link = 0;                      ///< seconds of the copies alone
  double device = 0;                    ///< seconds of the device's work alone
  double seconds = 0;                   ///< seconds of all together
  /// The upload in words: "overlap with cast", "device".
  std::string name() const;
};

/// The upload that choose_upload() takes, and why.
struct RELAYOUT_API Conv1dChoice {
  Upload upload = Upload::device;         ///< the fastest upload by estimate
  OverlapOptions overlap;                 ///< options for Upload::overlap
  Conv1dRates rates;                      ///< the rates that it goes by
  std::vector<Conv1dEstimate> estimates;  ///< fastest first
  /// One sentence: the upload, and the figures that speak for it.
  std::string explain() const;
};

/// Estimates every upload to A and takes the fastest. Uploads host and device do their parts one after
/// another: host + link + device. On overlap, where the device is concurrent, the largest part counts, and
/// one of n chunks adds the other parts: max + (host + link + device - max) / n. Looks at the input's view,
/// not at its elements. `options` are kept, except for the host's work. Errors: those of sizes_of.
RELAYOUT_API Conv1dChoice choose_upload(const Conv1d& problem, const TensorView& input,
                                        const Conv1dRates& rates, const OverlapOptions& options = {});

}  // namespace relayout
