// One redistribution over a group against its oracle: every element of every rank bit for bit, no byte
// written outside them and the workspaces, no input changed.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "host/reference/redistribute.hpp"
#include "tests/cases/redistribute_case.hpp"
#include "tests/support/checks.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {

using cases::RedistributeCase;
using cases::transposition;

/// The ranks' parts of one side.
class RankBuffers {
 public:
  RankBuffers(const Group& group, Role role, const cases::DistributedTensor& tensor) : tensor_(tensor) {
    for (int rank = 0; rank < group.ranks(); ++rank)
      buffers_.emplace_back(group.stream(rank), role, tensor.type, tensor.distribution.box(rank).shape(),
                            tensor.strides_of(rank), tensor.misaligned_of(rank));
  }

  /// Data by the index in the global tensor, so that replicas are equal.
  void fill(DType to, std::uint64_t seed) {
    const Distribution& distribution = tensor_.distribution;
    const TensorView shape(nullptr, tensor_.type, distribution.shape());
    std::vector<unsigned char> bytes(static_cast<std::size_t>(shape.byte_range().end));
    const TensorView global(bytes.data(), tensor_.type, distribution.shape());
    fill_for(global, to, seed);
    for (int rank = 0; rank < distribution.ranks(); ++rank) {
      const GuardedBuffer& buffer = buffers_[static_cast<std::size_t>(rank)];
      reference::for_each_index(buffer.host().shape(), [&](const Dims& index) {
        Dims from = index;
        for (std::size_t axis = 0; axis < from.size(); ++axis)
          from[axis] += distribution.box(rank).begin[axis];
        reference::store_bits(buffer.host(), index, reference::load_bits(global, from));
      });
      buffer.upload();
    }
  }

  std::vector<TensorView> host() const {
    std::vector<TensorView> views;
    for (const GuardedBuffer& buffer : buffers_) views.push_back(buffer.host());
    return views;
  }
  std::vector<TensorView> device() const {
    std::vector<TensorView> views;
    for (const GuardedBuffer& buffer : buffers_) views.push_back(buffer.device());
    return views;
  }
  const GuardedBuffer& of(int rank) const { return buffers_[static_cast<std::size_t>(rank)]; }
  void expect(NanRule rule) const {
    for (std::size_t rank = 0; rank < buffers_.size(); ++rank)
      EXPECT_TRUE(buffers_[rank].check(rule)) << "rank " << rank;
  }

 private:
  cases::DistributedTensor tensor_;
  std::deque<GuardedBuffer> buffers_;
};

/// Workspaces for a plan, between guard bands.
class Workspaces {
 public:
  Workspaces(const Group& group, const RedistributePlan& plan) {
    for (const int rank : group.local_ranks())
      buffers_.emplace_back(group.stream(rank), Role::output, DType::u8,
                            Dims{static_cast<std::int64_t>(plan.workspace_bytes(rank))});
  }
  std::vector<void*> pointers() const {
    std::vector<void*> pointers;
    for (const GuardedBuffer& buffer : buffers_) pointers.push_back(buffer.device().data());
    return pointers;
  }
  void expect() const {
    for (const GuardedBuffer& buffer : buffers_) EXPECT_TRUE(buffer.check_outside());
  }

 private:
  std::deque<GuardedBuffer> buffers_;
};

/// What the outputs must hold once the inputs, as they are now, were redistributed.
inline void compute_expected(const RedistributeCase& c, const RankBuffers& in, const RankBuffers& out) {
  reference::redistribute(c.in.distribution, in.host(), c.axes, c.out.distribution, out.host(),
                          c.options.cast);
}

/// Without memory, as if it were aligned.
inline RedistributePlan plan_of(const Group& group, const RedistributeCase& c) {
  return plan_redistribute(group, c.in.distribution, c.axes, c.out.distribution, c.in.type, c.out.type,
                           c.options);
}
inline RedistributePlan plan_of(const Group& group, const RedistributeCase& c, const RankBuffers& in,
                                const RankBuffers& out) {
  return plan_redistribute(group, c.in.distribution, in.device(), c.axes, c.out.distribution, out.device(),
                           c.options);
}

/// Plans and runs the case twice: what the first run left must not disturb the second.
inline void check(const Group& group, const RedistributeCase& c, std::uint64_t seed = 0) {
  SCOPED_TRACE(::testing::PrintToString(c));
  RankBuffers in(group, Role::input, c.in), out(group, Role::output, c.out);
  const RedistributePlan plan = plan_of(group, c, in, out);
  const Workspaces workspaces(group, plan);
  const bool works = plan.details().workspace_bytes > 0;
  for (std::uint64_t turn = 0; turn < 2; ++turn) {
    in.fill(c.out.type, seed + turn);
    compute_expected(c, in, out);
    plan.run(works ? workspaces.pointers() : std::vector<void*>{});
    group.synchronize();
    const NanRule rule = nan_rule(c.in.type, c.out.type);
    out.expect(rule);
    in.expect(NanRule::exact);
    workspaces.expect();
  }
}

}  // namespace relayout::test
