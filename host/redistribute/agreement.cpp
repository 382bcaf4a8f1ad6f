#include "host/redistribute/agreement.hpp"

#include <string>
#include <vector>

#include "relayout/error.hpp"

namespace relayout {
namespace {

/// FNV-1a, of whole words.
class Digest {
 public:
  Digest& add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) value_ = (value_ ^ (word >> (8 * byte) & 0xFF)) * 0x100000001b3u;
    return *this;
  }
  template <class Words>
  Digest& add_all(const Words& words) {
    add(words.size());
    for (const auto word : words) add(static_cast<std::uint64_t>(word));
    return *this;
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

std::uint64_t digest_of(const Distribution& distribution) {
  Digest digest;
  digest.add_all(distribution.shape()).add(static_cast<std::uint64_t>(distribution.ranks()));
  for (int rank = 0; rank < distribution.ranks(); ++rank)
    digest.add_all(distribution.box(rank).begin).add_all(distribution.box(rank).end);
  return digest.value();
}

constexpr const char* kNames[] = {"input distribution", "order of axes", "output distribution",
                                  "element types",      "cast or route", "kind of device"};

}  // namespace

PlanDigest digest_of(const Group& group, const Distribution& in, const std::vector<int>& axes,
                     const Distribution& out, DType in_type, DType out_type,
                     const RedistributeOptions& options) {
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  const CastOptions& cast = options.cast;
  PlanDigest digest;
  digest.words = {digest_of(in),
                  Digest().add_all(axes).value(),
                  digest_of(out),
                  Digest().add(number(in_type)).add(number(out_type)).value(),
                  Digest()
                      .add(cast.rounding ? number(*cast.rounding) + 1 : 0)
                      .add(number(cast.saturate_fp8))
                      .add(number(cast.integer_overflow))
                      .add(options.route ? number(*options.route) + 1 : 0)
                      .value(),
                  Digest().add_all(group.state().streams.front().device().properties().architecture).value()};
  return digest;
}

void agree(const Group& group, const PlanDigest& digest, bool could_plan) {
  const Group::State& state = group.state();
  if (state.communicator == nullptr) return;
  constexpr std::size_t kWords = Group::State::kAgreementWords;
  static_assert(kWords == std::tuple_size<decltype(PlanDigest::words)>::value + 1);
  using Words = std::array<std::uint64_t, kWords>;
  state.check_earlier();
  auto* const all = static_cast<Words*>(state.agreement_here.data());
  Words& own = all[group.ranks()];
  own[0] = could_plan ? 1u : 0u;
  for (std::size_t i = 0; i < digest.words.size(); ++i) own[i + 1] = digest.words[i];

  const Stream& stream = state.sides.front();
  auto* const memory = static_cast<Words*>(state.agreement.data());
  stream.copy(memory + group.ranks(), &own, sizeof own);
  state.communicator->all_gather(memory + group.ranks(), memory, sizeof own, stream.native());
  stream.copy(all, memory, static_cast<std::size_t>(group.ranks()) * sizeof own);
  state.wait_for(stream, "their plans");
  if (!could_plan) return;
  const std::string here = std::to_string(group.local_ranks().front());
  for (int rank = 0; rank < group.ranks(); ++rank) {
    std::string sentence = "redistribute: rank " + std::to_string(rank);
    if (all[rank][0] != 1)
      throw Error(ErrorCode::invalid_argument, sentence + " could not plan; its own error says why");
    for (std::size_t i = 0; i < digest.words.size(); ++i)
      if (all[rank][i + 1] != own[i + 1]) {
        sentence.append(" plans with another ").append(kNames[i]).append(" than rank ").append(here);
        throw Error(ErrorCode::invalid_argument, sentence);
      }
  }
}

}  // namespace relayout
