// Words that the sentences of several plans share.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <string>

#include "host/plan/copy/bank_model.hpp"
#include "relayout/device.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout::plan {

/// What sentences are written to. It lets std::bad_alloc out; a plain stream would keep it to itself, and the
/// rest of the text would be missing.
class SentenceStream : public std::ostringstream {
 public:
  SentenceStream() { exceptions(std::ios::badbit); }
};

/// "1 byte", "2 bytes".
std::string plural(std::int64_t count, const std::string& word);

/// "12.3 us", "0.0456 us", "1.23e+04 us".
std::string time_words(double microseconds);

/// "pad: f32[1, 2, 3] -> f16[1, 2, 5], on gpu(0), NVIDIA H200.\n"; `device` is empty where only properties
/// are known.
std::string heading(const std::string& operation, std::initializer_list<const TensorView*> inputs,
                    const TensorView& out, const std::string& device, const DeviceProperties& properties);

/// "Not NAME: REASON.\n"
std::string refusal(const char* kernel, const std::string& reason);

/// "writes take 12 passes of 32 banks a tile, none of them for conflicts"
std::string bank_words(const char* accesses, const BankModel& model, SharedAccess access,
                       const BankCount& count);

}  // namespace relayout::plan
