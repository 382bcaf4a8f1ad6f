#include "host/plan/copy/order_traffic.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/sector.hpp"

namespace relayout::plan {
namespace {

/// The share of the second cache that one operand's sectors find room in.
constexpr double kRoom = 0.4;
/// Bytes of a line of the first cache, and lanes of the largest warps.
constexpr std::int64_t kLineBytes = 128;
constexpr int kMaxLanes = 64;
/// An H200's, where a device does not say.
constexpr double kUsualCache = 60e6;

/// A box of an operand's elements: extents, which need not be whole numbers, and strides in bytes by the
/// axes of the smallest strides first.
class Box {
 public:
  Box(std::int64_t size, std::int64_t alignment)
      : size_(size), alignment_(std::gcd(alignment, kSectorBytes)) {}
  Box(const Box& other) { *this = other; }
  /// Copies only the axes in use, since a box is copied for each length that is tried.
  Box& operator=(const Box& other) {
    size_ = other.size_;
    alignment_ = other.alignment_;
    count_ = other.count_;
    std::copy(other.axes_, other.axes_ + count_, axes_);
    return *this;
  }

  void add(double extent, std::int64_t stride) {
    if (stride == 0 || extent <= 1) return;
    int at = count_++;
    for (; at > 0 && axes_[at - 1].stride > stride; --at) axes_[at] = axes_[at - 1];
    axes_[at] = {extent, stride};
  }

  /// Bytes of the sectors that its elements lie in.
  double sectors() const {
    double run = static_cast<double>(size_), runs = 1, pitch = 0;
    std::int64_t boundary = alignment_;
    for (int at = 0; at < count_; ++at) {
      const auto stride = static_cast<double>(axes_[at].stride);
      if (pitch == 0 && stride <= std::max(run, static_cast<double>(kSectorBytes))) {
        run += (axes_[at].extent - 1) * stride;
        continue;
      }
      if (pitch == 0) pitch = stride;
      runs *= axes_[at].extent;
      boundary = std::gcd(boundary, axes_[at].stride);
    }
    // On the average over all starts that many bytes apart.
    boundary = std::gcd(boundary, static_cast<std::int64_t>(run));
    double bytes = run + static_cast<double>(kSectorBytes - boundary);
    if (pitch > 0) bytes = std::min(bytes, std::max(pitch, run));
    return runs * bytes;
  }

 private:
  struct Axis {
    double extent;
    std::int64_t stride;
  };
  std::int64_t size_, alignment_;
  Axis axes_[kMaxRank];
  int count_ = 0;
};

/// The sectors of all boxes of the elements that follow each other while `fits` holds of a box.
template <class Fits>
double sectors_of_boxes(const Dims& extents, const Dims& strides, std::int64_t size, std::int64_t alignment,
                        const Fits& fits) {
  Box box(size, alignment);
  double boxes = 1, elements = 1;
  bool full = false;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    const auto extent = static_cast<double>(extents[axis]);
    const std::int64_t stride = std::abs(strides[axis]) * size;
    double inner = full ? 1 : extent;
    while (!full && inner > 1) {
      Box longer = box;
      longer.add(inner, stride);
      if (fits(elements * inner, longer)) {
        box = longer;
        break;
      }
      inner = inner > 2 ? inner / 2 : 1;
    }
    full = full || inner < extent;
    elements *= inner;
    if (stride != 0) boxes *= extent / inner;
  }
  return boxes * box.sectors();
}

}  // namespace

OrderTraffic traffic_in_order(const DeviceProperties& device, const Dims& extents, const Dims& strides,
                              std::int64_t size, std::int64_t alignment, double neighbours) {
  const double room = kRoom * (device.l2_bytes > 0 ? static_cast<double>(device.l2_bytes) : kUsualCache);
  OrderTraffic traffic;
  traffic.memory = sectors_of_boxes(extents, strides, size, alignment,
                                    [&](double, const Box& box) { return box.sectors() <= room; });
  traffic.cache = sectors_of_boxes(extents, strides, size, alignment,
                                   [&](double elements, const Box&) { return elements <= neighbours; });
  return traffic;
}

int lines_of_access(const Dims& extents, const Dims& strides, std::int64_t size, int lanes, int step) {
  const int rank = static_cast<int>(extents.size());
  std::int64_t lines[kMaxLanes], index[kMaxRank] = {}, offset = 0;
  int count = 0;
  for (int lane = 0; lane < std::min(lanes, kMaxLanes); ++lane) {
    const std::int64_t line = (offset * size) & -kLineBytes;
    if (std::find(lines, lines + count, line) == lines + count) lines[count++] = line;
    std::int64_t carry = step;
    int axis = rank - 1;
    for (; carry != 0 && axis >= 0; --axis) {
      std::int64_t next = index[axis] + carry;
      carry = next < extents[axis] ? 0 : next / extents[axis];
      next -= carry * extents[axis];
      offset += (next - index[axis]) * strides[axis];
      index[axis] = next;
    }
    if (carry != 0) break;
  }
  return count;
}

}  // namespace relayout::plan
