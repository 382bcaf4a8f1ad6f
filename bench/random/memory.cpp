#include "bench/random/memory.hpp"

#include <algorithm>
#include <cstring>

#include "bench/random/draw.hpp"
#include "bench/rotation.hpp"
#include "host/reference/scalar.hpp"

namespace relayout::bench::random {
namespace {

constexpr std::size_t kAlignment = 256;
/// Numbers are drawn once and repeated. A prime: extents and pitches do not lead to an equal element.
constexpr std::size_t kDrawn = 262147;

/// The type whose numbers serve elements of this one.
DType kind_of(DType type) { return is_integral(type) || type == DType::b128 ? DType::u64 : type; }

std::size_t padded(std::int64_t bytes) {
  return (static_cast<std::size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint64_t draw_bits(Draw& draw, DType type) {
  if (type == DType::u64) return draw.next();
  if (type == DType::bool_) return draw.next() & 1;
  const double unit = static_cast<double>(draw.next() >> 11) * 0x1p-53;
  const double number = draw.one_in(2) ? 0.125 + 0.875 * unit : 1 + 99 * unit;
  return reference::convert_bits(detail::bit_cast<std::uint64_t>(number), DType::f64, type);
}

void fill(const Stream& stream, DType type, const Buffer& buffer) {
  const std::size_t size = size_of(type);
  std::vector<unsigned char> drawn(kDrawn * size);
  Draw draw(static_cast<std::uint64_t>(type));
  for (std::size_t i = 0; i < kDrawn; ++i) {
    const std::uint64_t bits = draw_bits(draw, type);
    std::memcpy(drawn.data() + i * size, &bits, size);
  }
  char* const target = static_cast<char*>(buffer.data());
  const std::size_t bytes = buffer.bytes();
  stream.copy(target, drawn.data(), std::min(drawn.size(), bytes));
  for (std::size_t done = drawn.size(); done < bytes; done *= 2)
    stream.copy(target + done, target, std::min(done, bytes - done));
  stream.synchronize();
}

}  // namespace

std::size_t Memory::sets_of(const Problem& problem) const {
  return rotated_ ? rotation_sets(device_, problem.bytes()) : 1;
}

Memory::Memory(const Stream& stream, const std::vector<Problem>& problems, bool rotated)
    : device_(stream.device()), rotated_(rotated) {
  const std::size_t rotation = rotation_bytes(stream.device());
  std::map<DType, std::size_t> rooms;
  std::size_t out_room = 0;
  const auto enlarge = [&](std::size_t& room, std::size_t set, std::size_t sets) {
    room = std::max({room, set, std::min(set * sets, rotation)});
  };
  for (const Problem& problem : problems) {
    const std::size_t sets = sets_of(problem);
    std::map<DType, std::size_t> set;
    for (const Tensor& input : problem.inputs) set[kind_of(input.type)] += padded(input.footprint());
    for (const auto& [kind, bytes] : set) enlarge(rooms[kind], bytes, sets);
    enlarge(out_room, padded(problem.out.footprint()), sets);
  }
  for (const auto& [kind, bytes] : rooms) {
    Piece& piece = inputs_[kind];
    piece.memory = Buffer(stream.device(), bytes);
    fill(stream, kind, piece.memory);
  }
  output_.memory = Buffer(stream.device(), out_room);
}

char* Memory::Piece::next(std::int64_t bytes) {
  const std::size_t room = padded(bytes);
  if (at + room > memory.bytes()) at = 0;
  char* const piece = static_cast<char*>(memory.data()) + at;
  at += room;
  return piece;
}

const void* Memory::next_input(DType type, std::int64_t bytes) {
  return inputs_.at(kind_of(type)).next(bytes);
}

void* Memory::next_output(std::int64_t bytes) { return output_.next(bytes); }

}  // namespace relayout::bench::random
