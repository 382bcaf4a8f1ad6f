// The operands on the host, read from files or generated from a seed.
#pragma once

#include <cstdint>

#include <relayout/buffer.hpp>
#include <relayout/tensor_view.hpp>

#include "options.hpp"

namespace example {

/// Host memory with its contents. It is pinned, unless the input shall be pageable.
struct HostTensor {
  relayout::PinnedBuffer memory;
  relayout::TensorView view;
};

struct Data {
  HostTensor input;    // view [batch, ci, hi] whatever the layout in memory
  HostTensor weights;  // view [co, ci / groups, hk]
  HostTensor bias;     // view [co], f32, contiguous; or a default view: none
};

/// 64 random bits: number `index` of stream `seed`, the same on every machine.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) noexcept;

/// Number `index` of stream `seed` of N(0, 1) numbers: the same on every machine up to its log and cos.
double normal(std::uint64_t seed, std::uint64_t index) noexcept;

/// Throws InputError when a file cannot be read.
Data load(const relayout::Device& device, const Arguments& arguments, Job& job);

/// Throws InputError when this machine's memory cannot hold what the job needs on the host (without
/// verification).
void check_memory_need(const Arguments& arguments, const Job& job, const relayout::Device& device);

}  // namespace example
