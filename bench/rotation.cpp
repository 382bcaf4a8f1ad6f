#include "bench/rotation.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/plan/device_rates.hpp"
#include "tests/support/fill.hpp"

namespace relayout::bench {
namespace {

bool one_set = false;

/// The cache in front of the memory: a GPU's L2, a processor's last level. HIP does not tell of the one
/// behind the L2: 256 MiB on an MI300X, up to 128 MiB on RDNA (data sheets).
std::size_t last_cache_bytes(const Device& device) {
  std::size_t bytes = device.properties().l2_bytes;
  const auto is_of = [&](const char* family) { return plan::is_of_family(device.properties(), family); };
  if (is_of("gfx94") || is_of("gfx95")) bytes = std::max(bytes, std::size_t{256} << 20);
  if (is_of("gfx1")) bytes = std::max(bytes, std::size_t{128} << 20);
#if defined(_SC_LEVEL3_CACHE_SIZE)
  if (device.kind() != DeviceKind::gpu)
    bytes = std::max(bytes, static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE))));
#endif
  return bytes;
}

/// At least so many bytes of them, always the same; kept for the next buffer.
const std::vector<unsigned char>& random_numbers(DType dtype, std::size_t bytes) {
  static std::map<DType, std::vector<unsigned char>> of_types;
  std::vector<unsigned char>& numbers = of_types[dtype];
  if (numbers.size() >= bytes) return numbers;
  numbers.resize(bytes);
  const TensorView view(numbers.data(), dtype, {static_cast<std::int64_t>(bytes / size_of(dtype))});
  if (is_floating(dtype))
    test::fill_with(view, [](std::uint64_t i) { return 2 * test::uniform(i) - 1; });
  else
    test::fill_bits(view);
  return numbers;
}

}  // namespace

void use_one_set() { one_set = true; }

std::size_t rotation_bytes(const Device& device) {
  if (one_set || device.kind() == DeviceKind::emulated) return 1;  // an emulated device's times mean nothing
  // A shared server's whole L3 may be reported to a small machine on it: no more than 512 MB are spent.
  const std::size_t limit = device.kind() == DeviceKind::gpu ? std::size_t{4} << 30 : std::size_t{512} << 20;
  return std::min(4 * last_cache_bytes(device) + 1, limit);
}

std::size_t rotation_sets(const Device& device, std::int64_t bytes) {
  const std::size_t wanted = rotation_bytes(device);
  const std::size_t set = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  constexpr std::size_t kMaxSets = 512;
  return std::clamp<std::size_t>(divide_up(wanted, set), 1, kMaxSets);
}

std::int64_t Operand::bytes() const { return bytes_of(TensorView(nullptr, dtype, shape)); }

Operand contiguous_operand(DType dtype, const Dims& shape) {
  return {dtype, shape, contiguous_strides(shape)};
}

Buffer random_buffer(const Stream& stream, DType dtype, std::size_t bytes) {
  // A block of random numbers, repeated: making 2 GB of them one by one would take longer than measuring.
  constexpr std::int64_t kBlockElements = std::int64_t{1} << 20;
  const std::size_t block = std::min(bytes, static_cast<std::size_t>(kBlockElements) * size_of(dtype));
  const std::vector<unsigned char>& numbers = random_numbers(dtype, block);
  Buffer buffer(stream.device(), bytes);
  char* const target = static_cast<char*>(buffer.data());
  if (bytes == 0) return buffer;
  stream.copy(target, numbers.data(), block);
  for (std::size_t done = block; done < bytes;) {
    const std::size_t next = std::min(done, bytes - done);
    stream.copy(target + done, target, next);
    done += next;
  }
  stream.synchronize();
  return buffer;
}

Prepared prepare_rotated(const Stream& stream, const std::vector<Operand>& operands,
                         const std::function<void(const std::vector<TensorView>&)>& run) {
  std::int64_t set_bytes = 0;
  for (const Operand& operand : operands) set_bytes += operand.bytes();
  Prepared prepared;
  const std::size_t sets = rotation_sets(stream.device(), set_bytes);
  for (std::size_t set = 0; set < sets; ++set) {
    std::vector<TensorView> views;
    for (const Operand& operand : operands) {
      const std::size_t bytes = static_cast<std::size_t>(operand.bytes());
      prepared.memory.push_back(random_buffer(stream, operand.dtype, bytes));
      views.emplace_back(prepared.memory.back().data(), operand.dtype, operand.shape, operand.strides);
    }
    if (set == 0) {
      prepared.inputs.assign(views.begin(), views.end() - 1);
      prepared.output = views.back();
    }
    prepared.calls.push_back([run, views] { run(views); });
  }
  return prepared;
}

}  // namespace relayout::bench
