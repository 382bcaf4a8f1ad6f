// The state behind a stream of cpu and emulated devices. Both are synchronous: a call returns when its work
// is done.
#pragma once

#include "relayout/device.hpp"

namespace relayout::cpu {

struct EmulatedStream {
  /// workers 0: one per processor, at most 16, for every suspended GPU thread costs two memory mappings. One
  /// in AddressSanitizer builds (shared memory is a plain static there), 2 to 4 under ThreadSanitizer (8192
  /// fibers at most; races between blocks show between workers).
  EmulationOptions options;
};

}  // namespace relayout::cpu
