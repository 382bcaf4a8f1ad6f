// The rows kernel's part in a copy: outputs of runs, made vector by vector.
#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/copy/order_traffic.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {
namespace {

constexpr CopyKernel kKernel = CopyKernel::rows;
/// Indices have 31 bits, and a vector may begin in front of its run or end behind it.
constexpr std::int64_t kMaxIndex = 0x7fffffff - 64;
/// Vectors whose lanes find in the first cache what one of them brought; the price of a byte that comes from
/// the second cache, beside one from the memory. Fitted.
constexpr double kNeighbours = 160, kOfCache = 0.57;
/// Elements of a block of lanes, at most.
constexpr std::int64_t kMaxBlockElements = 8 * kRowsThreads * rows_vectors_per_thread(RowsRead::lanes);

/// Instructions of a lane for a vector: of its place, of two pieces and their joining, of an element, of a
/// cast and of an element's conversion; and for each axis of a row's place. Fitted to random slices and casts
/// on an H200.
constexpr double kOfVector = 45, kOfPieces = 80, kOfElement = 12.5, kOfCast = 18, kOfConversion = 6,
                 kOfAxis = 11;
/// Instructions of an element's conversion by a table, of bytes to bytes: counted.
constexpr double kOfLookUp = 5;
/// RowsRead::lanes, counted: of a chunk, of a row's origin, and of an element with an address of its own and
/// of one among a lane's elements of one row.
constexpr double kOfChunk = 55, kOfOrigin = 30, kOfLaneElement = 14, kOfNeighbour = 4;
/// Stores of single elements at the ends of runs that the multiprocessors get through in a microsecond: each
/// meets a sector of its own.
constexpr double kEndsPerMicrosecond = 2e5;
/// The share of the issue slots that the kernel reaches.
constexpr double kIssueShare = 0.585;

/// The share of the memory's speed that it reaches with elements of so many bytes, beside what is predicted
/// of tiles; and where vectors are moved in pieces, which are joined from the words around them.
constexpr double memory_share(std::int64_t bytes) { return bytes == 1 ? 1 : bytes == 2 ? 0.97 : 0.93; }
constexpr double share_of_moved_pieces(std::int64_t bytes) {
  return bytes < 4 ? 0.97 : bytes == 4 ? 0.75 : 1;
}
/// What is lost of it where vectors that two pieces share come in every warp: up to rows of so many bytes,
/// and from there on in as many of the warps as have one. Fitted.
constexpr double kLostByPieces = 0.17, kPieceBytes = 512;
/// Microseconds until the first byte, beside those of any kernel: of vectors from pieces and element by
/// element, and of single elements. Fitted to small copies.
constexpr double kStartOfPieces = 0.68, kStartOfElements = 0.63, kStartOfLanes = 0.9;
/// What is left of the speed with one block. Fitted.
constexpr double kIdle = 0.24;
/// Lines that the first cache looks up in a clock, where elements of a warp lie in many. Fitted.
constexpr double kLinesAClock = 1.06;

/// The same of lanes that move bytes to bytes: an access brings 32 of them, and the multiprocessor's accesses
/// are the bound (docs/notes/operations.md: 0.83 to 0.91 of what vectors reach).
constexpr double kLanesOfBytes = 0.624;

class RowsBuilder {
 public:
  /// lanes: RowsRead::lanes, else vectors.
  RowsBuilder(const CopyProblem& problem, const DeviceProperties& device, bool lanes)
      : problem_(problem), device_(device), nest_(problem.nest), params_() {
    params_.read = lanes ? RowsRead::lanes : RowsRead::elements;
  }

  CopyCandidate build() {
    set_operation(problem_, params_);
    params_.streaming = is_streaming(problem_, device_);
    fill_axes();
    params_.rows = params_.rank == 1 ? 1 : nest_.elements() / params_.row_elements;
    if (lanes()) {
      if (nest_.elements() > kMaxIndex - kMaxBlockElements || std::abs(params_.in_step) > kMaxIndex)
        return refused(kKernel, "there are more elements than its lanes' indices count");
      params_.count = std::max(in_size(), out_size()) == 8 ? 4 : 8;
      params_.vectors = divide_up(nest_.elements(), static_cast<std::int64_t>(params_.count));
    } else {
      choose_vectors();
      const ByteRange readable = input_bytes(problem_);
      params_.in_begin = readable.begin;
      params_.in_end = readable.end;
      const std::int64_t runs = nest_.elements() / params_.run_elements;
      const bool few =
          run_vectors_ <= kMaxIndex && !__builtin_mul_overflow(runs, run_vectors_, &params_.vectors);
      if (!few || params_.vectors > kMaxIndex || params_.rows > kMaxIndex)
        return refused(kKernel, "there are more vectors or rows than its indices count");
      params_.run_vectors = make_divisor(static_cast<std::uint32_t>(run_vectors_));
    }
    const std::int64_t block = vectors_of_block() * params_.count + params_.count;
    params_.table_rows = params_.rank == 1 ? 1 : static_cast<std::uint32_t>(block / params_.row_elements + 3);

    CopyCandidate candidate;
    candidate.kernel = kKernel;
    candidate.possible = true;
    candidate.reason =
        params_.read == RowsRead::pieces
            ? "the output consists of runs, whose vectors are one or two pieces of the input"
        : lanes() ? "the output consists of runs, of which neighbouring lanes have neighbouring elements"
                  : "the output consists of runs, whose vectors are put together element by element";
    candidate.microseconds = predicted();
    add_start(candidate, problem_, device_, start());
    const double left_over = 16 / static_cast<double>(out_size()) - 1;
    add_output_gaps(candidate, problem_, device_, lanes() ? kOfElementRow : kOfVectorRowElement * left_over);
    candidate.params = params_;
    return candidate;
  }

 private:
  bool lanes() const { return params_.read == RowsRead::lanes; }
  std::int64_t in_size() const { return bytes_of(problem_.in_type); }
  std::int64_t out_size() const { return bytes_of(problem_.out_type); }
  int inner_rank() const { return params_.rank - params_.outer_rank; }
  std::int64_t vectors_of_block() const {
    return std::int64_t{kRowsThreads} * rows_vectors_per_thread(params_.read);
  }

  /// Runs end where the output has a gap, or where their elements cannot be counted in 31 bits.
  void fill_axes() {
    params_.rank = params_.outer_rank = nest_.rank();
    while (params_.outer_rank > 0) {
      const int axis = params_.outer_rank - 1;
      const bool follows = nest_.strides[0][axis] == params_.run_elements;
      const bool fits = inner_rank() == 0 || params_.run_elements <= kMaxIndex / nest_.extents[axis];
      if (!follows || !fits) break;
      params_.run_elements *= nest_.extents[axis];
      params_.outer_rank = axis;
    }
    for (int axis = 0; axis < params_.rank; ++axis) {
      ByteAxis& to = params_.axes[axis];
      to.extent = make_divisor(static_cast<std::uint32_t>(std::min(nest_.extents[axis], kMaxIndex)));
      to.in = nest_.strides[1][axis] * in_size();
      to.out = nest_.strides[0][axis] * out_size();
    }
    params_.row_elements = nest_.extents.back();
    params_.in_step = params_.axes[params_.rank - 1].in;
    params_.run_rows = static_cast<std::uint32_t>(params_.run_elements / params_.row_elements);
  }

  void choose_vectors() {
    const std::int64_t most = 16 / std::max(in_size(), out_size());
    const bool pieces = nest_.strides[1].back() == 1 && most * in_size() >= 4 && params_.row_elements >= most;
    params_.read = pieces ? RowsRead::pieces : RowsRead::elements;
    params_.count = static_cast<int>(pieces ? most : std::min<std::int64_t>(most, 8));
    const std::int64_t bytes = params_.count * out_size();
    bool aligned = problem_.out.alignment % bytes == 0;
    for (int axis = 0; axis < params_.outer_rank; ++axis)
      aligned = aligned && params_.axes[axis].out % bytes == 0;
    run_vectors_ = divide_up(params_.run_elements + (aligned ? 0 : params_.count - 1),
                             static_cast<std::int64_t>(params_.count));
    const std::int64_t ends = aligned ? params_.run_elements % params_.count : params_.count - 1;
    end_elements_ = static_cast<double>(std::min(ends, params_.run_elements)) *
                    static_cast<double>(nest_.elements() / params_.run_elements);
  }

  /// Instructions of the conversion of so many elements together.
  double cast_of(double count) const {
    return problem_.table_bytes() > 0 ? kOfLookUp * count : kOfCast + kOfConversion * count;
  }

  /// Instructions of a lane for its elements of a chunk.
  double instructions_of_chunk() const {
    const auto count = static_cast<double>(params_.count), row = static_cast<double>(params_.row_elements);
    const double reach = (count - 1) * kRowsChunkLanes;
    const double in_one_row = params_.in_step == in_size() ? std::max(0.0, 1 - reach / row) : 0;
    return kOfChunk + count * (kOfNeighbour + (1 - in_one_row) * (kOfLaneElement - kOfNeighbour)) +
           count / row * (kOfOrigin + kOfAxis * (params_.rank - 1)) + cast_of(count);
  }

  double instructions_of_vector() const {
    if (lanes()) return instructions_of_chunk();
    const auto count = static_cast<double>(params_.count);
    double instructions = kOfVector + kOfAxis * params_.outer_rank;
    instructions += params_.read == RowsRead::pieces ? kOfPieces : kOfElement * count;
    if (params_.rank > 1) {
      const double rows = std::max(1.0, count / static_cast<double>(params_.row_elements));
      instructions += kOfAxis * rows * (params_.rank - 1);
    }
    if (problem_.converts()) instructions += cast_of(count);
    return instructions;
  }

  /// What an operand costs the memory, in bytes. Neighbours share the first cache.
  double bytes_met(std::size_t operand, std::int64_t size, std::int64_t alignment) const {
    const double neighbours = kNeighbours * params_.count;
    return traffic_in_order(device_, nest_.extents, nest_.strides[operand], size, alignment, neighbours)
        .bytes(kOfCache);
  }

  /// Clocks of a multiprocessor in which the first cache looks up the lines of all elements.
  double look_ups() const {
    if (params_.read == RowsRead::pieces) return 0;
    const int lines = lines_of_access(nest_.extents, nest_.strides[1], in_size(), device_.warp_size,
                                      lanes() ? 1 : params_.count);
    return static_cast<double>(nest_.elements()) / device_.warp_size * lines / kLinesAClock;
  }

  double start() const {
    return lanes() ? kStartOfLanes : params_.read == RowsRead::pieces ? kStartOfPieces : kStartOfElements;
  }

  /// What pieces leave of the memory's speed.
  double pieces_share() const {
    if (params_.read != RowsRead::pieces || params_.rank == 1) return 1;
    return 1 -
           kLostByPieces * std::min(1.0, kPieceBytes / static_cast<double>(params_.row_elements * in_size()));
  }

  double predicted() const {
    const TileTuning& tuning = tile_tuning(device_);
    const DeviceRates rates = device_rates(device_);
    const double busy = busy_share(kIdle, tuning.busy_tiles * static_cast<double>(device_.multiprocessors),
                                   static_cast<double>(divide_up(params_.vectors, vectors_of_block())));
    const double moved =
        bytes_met(0, out_size(), problem_.out.alignment) + bytes_met(1, in_size(), problem_.in.alignment);
    const bool bytes = in_size() == 1 && out_size() == 1;
    const bool moves_pieces = params_.read == RowsRead::pieces && !problem_.converts();
    const double share = (lanes() && bytes ? kLanesOfBytes
                          : moves_pieces   ? share_of_moved_pieces(in_size())
                                           : memory_share(std::min(in_size(), out_size()))) *
                         pieces_share() * busy;
    const double memory = moved / (rates.bytes_per_microsecond * share);
    const double issued = static_cast<double>(params_.vectors) / device_.warp_size *
                          instructions_of_vector() /
                          (rates.instructions_per_microsecond * device_.multiprocessors * busy * kIssueShare);
    const double looked_up = look_ups() / (rates.accesses_per_microsecond * device_.multiprocessors * busy);
    return tuning.launch_microseconds +
           time_together({memory, issued, looked_up, end_elements_ / kEndsPerMicrosecond});
  }

  const CopyProblem& problem_;
  const DeviceProperties& device_;
  const LoopNest& nest_;
  RowsParams params_;
  std::int64_t run_vectors_ = 0;
  double end_elements_ = 0;  // that are stored one by one
};

const char* why_no_rows(const CopyProblem& problem) {
  if (!problem.common()) return "the two shapes have no loop nest in common";
  if (is_scaled(problem.options.scale)) return "it has no alpha and beta";
  if (problem.in_type != problem.out_type &&
      !element_cast(problem.in_type, problem.out_type, problem.options.cast).quick)
    return "of casts it has those with the default rounding and overflow";
  const LoopNest& nest = problem.nest;
  if (nest.rank() == 0 || nest.strides[0].back() != 1)
    return "no two elements of the output follow each other in memory";
  for (int axis = 0; axis < nest.rank(); ++axis) {
    if (nest.rank() > 1 && nest.extents[axis] > kMaxIndex)
      return "an axis has more elements than its indices count";
  }
  return nullptr;
}

}  // namespace

CopyCandidate rows_candidate(const CopyProblem& problem, const DeviceProperties& device, bool lanes) {
  if (const char* why = why_no_rows(problem)) return refused(kKernel, why);
  if (lanes && !problem.converts()) return refused(kKernel, "its lanes have single elements in casts only");
  return RowsBuilder(problem, device, lanes).build();
}

CopyCandidate rows_candidate(const CopyProblem& problem, const DeviceProperties& device) {
  CopyCandidate vectors = rows_candidate(problem, device, false);
  CopyCandidate lanes = rows_candidate(problem, device, true);
  if (!lanes.possible || !vectors.possible) return lanes.possible ? lanes : vectors;
  // Where the memory takes the time of both: neighbouring elements meet fewer sectors at a time than those of
  // neighbouring vectors do.
  const bool by_elements = std::get<RowsParams>(vectors.params).read == RowsRead::elements;
  const bool faster =
      by_elements ? lanes.microseconds <= vectors.microseconds : lanes.microseconds < vectors.microseconds;
  return faster ? lanes : vectors;
}

}  // namespace relayout::plan
