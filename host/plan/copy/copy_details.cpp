// What a planned copy does, in numbers.
#include <algorithm>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "core/window_geometry.hpp"
#include "host/plan/copy/copy_nest.hpp"
#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/copy/sectors.hpp"
#include "host/plan/copy/tile_banks.hpp"
#include "host/plan/window/window_banks.hpp"

namespace relayout::plan {
namespace {

class CopyDetailsBuilder {
 public:
  CopyDetailsBuilder(const PlannedCopy& copy, const TensorView& in, const TensorView& out,
                     const DeviceProperties& device, const CopyMeasurement& measurement)
      : copy_(copy), device_(device), details_() {
    details_.kernel = copy_.kernel;
    details_.reason = copy_.reason;
    details_.microseconds = copy_.microseconds;
    details_.measurement = measurement;
    details_.extents = copy_.nest.extents;
    if (copy_.nest.operands() > 0) details_.out_strides = copy_.nest.strides[0];
    if (copy_.nest.operands() > 1) details_.in_strides = copy_.nest.strides[1];
    details_.in.bytes = unique_bytes(in);
    details_.out.bytes = unique_bytes(out);
    details_.in.alignment = copy_.in.alignment;
    details_.out.alignment = copy_.out.alignment;
    details_.scale = copy_.options.scale;
    details_.indirect = copy_.options.indirect;
  }

  CopyDetails describe() {
    switch (copy_.kernel) {
      case CopyKernel::nothing:
      case CopyKernel::native:
        return details_;
      case CopyKernel::tile:
        tile();
        break;
      case CopyKernel::window:
        window();
        break;
      case CopyKernel::stream:
        stream();
        break;
      case CopyKernel::rows:
        rows();
        break;
      case CopyKernel::gather:
        gather();
        break;
    }
    for (const CopyCandidate& other : copy_candidates(copy_, device_)) {
      if (other.kernel != copy_.kernel)
        details_.others.push_back({other.kernel, other.possible, other.reason, other.microseconds});
    }
    return details_;
  }

 private:
  void tile() {
    const TilePlan& tile = copy_.tile;
    details_.threads = tile.threads;
    details_.shared_bytes = tile.shared_bytes + copy_.table_bytes();
    details_.blocks = 1;
    Dims step;
    for (std::size_t axis = 0; axis < details_.extents.size(); ++axis) {
      details_.tile.push_back(tile.extent[axis]);
      step.push_back(tile.step[axis]);
      details_.blocks *= divide_up(details_.extents[axis], tile.step[axis]);
    }
    details_.in.vector_bytes = details_.out.vector_bytes = kVectorBytes;
    details_.in.aligned_vectors = !tile.unaligned;
    details_.out.aligned_vectors = tile.assembly != Assembly::scattered && !is_unaligned(tile.assembly);
    count_sectors(details_.tile, step);
    if (is_unaligned(tile.assembly)) {  // each run is written from a sector boundary on
      details_.out.sectors_touched = details_.out.sectors_needed;
      details_.out.unbroken_bytes = details_.extents.back() * out_bytes();
    }
    if (tile.assembly == Assembly::words) {  // a lane takes vectors of neighbours along the input's runs
      Dims one_of_them = within_the_nest(details_.tile);
      one_of_them[static_cast<std::size_t>(fastest_input_axis(copy_.nest))] = 1;
      details_.out.unbroken_bytes = out_traffic(one_of_them).run_elements * out_bytes();
    }
    count_banks(std::get<TileParams>(copy_.params));
  }

  void window() {
    const auto& params = std::get<WindowParams>(copy_.params);
    const int channel = copy_.nest.rank() - 1, time = fastest_input_axis(copy_.nest);
    details_.tile.assign(details_.extents.size(), 1);
    details_.tile[static_cast<std::size_t>(channel)] = params.tile_channels;
    details_.tile[static_cast<std::size_t>(time)] = params.tile_positions;
    details_.threads = kVectorWindowThreads;
    details_.shared_bytes = params.shared_bytes;
    finish_blocks();
    details_.in.vector_bytes = details_.out.vector_bytes = kVectorBytes;
    details_.in.aligned_vectors = details_.out.aligned_vectors = true;
    count_sectors(details_.tile, details_.tile);
    count_banks(params);
  }

  void stream() {
    const auto& params = std::get<StreamParams>(copy_.params);
    details_.threads = params.threads;
    details_.shared_bytes = copy_.table_bytes();
    const auto larger = static_cast<std::int64_t>(std::max(size_of(copy_.in_type), size_of(copy_.out_type)));
    details_.tile.assign(details_.extents.size(), 1);
    details_.tile.back() = std::int64_t{params.threads} * params.bytes_per_thread / larger;
    finish_blocks();
    const auto vector_of = [&](DType type) {
      if (!params.unaligned) return params.access;
      return static_cast<int>(kStreamVectorBytes / larger * static_cast<std::int64_t>(size_of(type)));
    };
    details_.in.vector_bytes = vector_of(copy_.in_type);
    details_.out.vector_bytes = vector_of(copy_.out_type);
    details_.in.aligned_vectors = !params.unaligned;
    details_.out.aligned_vectors = true;
    count_sectors(details_.tile, details_.tile);
  }

  /// A block takes so many elements in the output's order: about the innermost axes of the nest.
  void take_in_order(std::int64_t elements) {
    details_.tile.assign(details_.extents.size(), 1);
    for (std::size_t axis = details_.extents.size(); axis-- > 0 && elements > 1;) {
      details_.tile[axis] = std::min(details_.extents[axis], elements);
      elements /= details_.tile[axis];
    }
  }

  void rows() {
    const auto& params = std::get<RowsParams>(copy_.params);
    const std::int64_t vectors = std::int64_t{kRowsThreads} * rows_vectors_per_thread(params.read);
    details_.threads = kRowsThreads;
    const bool lanes = params.read == RowsRead::lanes;
    details_.shared_bytes =
        static_cast<std::int64_t>((lanes ? 2 : 1) * params.table_rows * sizeof(std::int64_t)) +
        copy_.table_bytes();
    details_.blocks = divide_up(params.vectors, vectors);
    take_in_order(vectors * params.count);
    const bool pieces = params.read == RowsRead::pieces;
    details_.in.vector_bytes = static_cast<int>(size_of(copy_.in_type)) * (pieces ? params.count : 1);
    details_.out.vector_bytes = static_cast<int>(size_of(copy_.out_type)) * (lanes ? 1 : params.count);
    details_.in.aligned_vectors = !pieces;
    details_.out.aligned_vectors = true;
    count_sectors(details_.tile, details_.tile);
  }

  void gather() {
    if (const auto* const near = std::get_if<NearGatherParams>(&copy_.params)) return gather_by(*near);
    if (const auto* const far = std::get_if<FarGatherParams>(&copy_.params)) return gather_by(*far);
    gather_by(std::get<HugeGatherParams>(copy_.params));
  }

  template <class Params>
  void gather_by(const Params& params) {
    const std::size_t in_bytes = size_of(params.in_type);
    const std::int64_t elements = std::int64_t{params.threads} * gather_elements_per_thread(in_bytes);
    details_.threads = params.threads;
    details_.blocks = divide_up(params.elements, elements);
    take_in_order(elements * (copy_.nest.elements() / params.elements));
    details_.in.vector_bytes = static_cast<int>(in_bytes);
    details_.out.vector_bytes = static_cast<int>(size_of(params.out_type));
    details_.in.aligned_vectors = copy_.in.alignment >= std::min(details_.in.vector_bytes, kVectorBytes);
    details_.out.aligned_vectors = copy_.out.alignment >= std::min(details_.out.vector_bytes, kVectorBytes);
    count_sectors(details_.tile, details_.tile);
  }

  void finish_blocks() {
    details_.blocks = 1;
    for (std::size_t axis = 0; axis < details_.extents.size(); ++axis)
      details_.blocks *= divide_up(details_.extents[axis], details_.tile[axis]);
  }

  Dims within_the_nest(Dims box) const {
    for (std::size_t axis = 0; axis < box.size(); ++axis)
      box[axis] = std::min(box[axis], details_.extents[axis]);
    return box;
  }
  bool on_sectors(const CopySide& side, const Dims& strides, std::int64_t element_bytes) const {
    if (side.alignment < kVectorBytes) return false;
    for (std::size_t axis = 0; axis < strides.size(); ++axis)
      if (details_.extents[axis] > 1 && strides[axis] != 1 &&
          strides[axis] * element_bytes % kSectorBytes != 0)
        return false;
    return true;
  }
  std::int64_t out_bytes() const { return bytes_of(copy_.out_type); }
  BoxTraffic out_traffic(const Dims& box) const {
    return traffic_of(box, details_.out_strides, out_bytes(), copy_.out.start(copy_.out.data));
  }

  /// read: extents of what a tile reads; own: of what is its own, which another tile does not move as well.
  void count_sectors(const Dims& read, const Dims& own) {
    const Dims inside_read = within_the_nest(read), inside_own = within_the_nest(own);
    const BoxTraffic out = out_traffic(inside_own);
    details_.out.run_bytes = details_.out.unbroken_bytes = out.run_elements * out_bytes();
    details_.out.on_sectors = on_sectors(details_.out, details_.out_strides, out_bytes());
    details_.out.sectors_needed = out.needed;
    details_.out.sectors_touched = out.touched;
    if (copy_.nest.operands() < 2) return;
    const std::int64_t in_bytes = bytes_of(copy_.in_type);
    const std::uintptr_t start = copy_.in.start(copy_.in.data);
    const BoxTraffic in = traffic_of(inside_read, details_.in_strides, in_bytes, start);
    details_.in.run_bytes = details_.in.unbroken_bytes = in.run_elements * in_bytes;
    details_.in.on_sectors = on_sectors(details_.in, details_.in_strides, in_bytes);
    details_.in.sectors_needed = traffic_of(inside_own, details_.in_strides, in_bytes, start).needed;
    details_.in.sectors_touched = in.touched;
  }

  template <class Params>
  void count_banks(Params params) {
    params.in = reinterpret_cast<const void*>(copy_.in.start(copy_.in.data));
    params.out = reinterpret_cast<void*>(copy_.out.start(copy_.out.data));
    const BankModel model = bank_model(device_);
    const BankReport report = count_conflicts(params, device_);
    const auto banks_of = [&](SharedAccess access, const BankCount& count) {
      return CopyBanks{model.banks(access), count.passes, count.least, count.worst};
    };
    details_.shared_writes = banks_of(SharedAccess::write, report.fill);
    details_.shared_reads = banks_of(SharedAccess::read, report.drain);
  }

  const PlannedCopy& copy_;
  const DeviceProperties& device_;
  CopyDetails details_;
};

}  // namespace

CopyDetails copy_details(const PlannedCopy& copy, const TensorView& in, const TensorView& out,
                         const DeviceProperties& device, const CopyMeasurement& measurement) {
  return CopyDetailsBuilder(copy, in, out, device, measurement).describe();
}

}  // namespace relayout::plan
