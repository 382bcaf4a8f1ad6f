// Casts between elements of 1 byte. There are 256 of them: a block converts each once, into a table in shared
// memory, and then an element takes a load from there. That is a quarter of the instructions of a conversion,
// and the same for every pair of types. The table's 64 words lie in the banks twice, so that the lanes of a
// warp meet a bank with two different words at most. Any other function of a byte is a table that the
// parameters bring along (WithTable).
#pragma once

#include "core/copy_params.hpp"
#include "kernels/copy/generic_cast.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class T, class To>
constexpr bool has_cast_table = sizeof(T) == 1 && sizeof(To) == 1;

/// Behind a kernel's own shared memory.
template <class T, class To>
constexpr std::int64_t cast_table_bytes = has_cast_table<T, To> ? kCastTableBytes : 0;

/// All lanes of the block take part; a barrier follows. table: on a boundary of 4 bytes.
__device__ __forceinline__ void fill_cast_table(const CopyOperands& p, unsigned char* table) {
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < kCastTableBytes / 4; i += blockDim.x) {
    Vector<std::uint8_t, 4> in;
    const std::uint32_t bytes = 0x03020100u + i * 0x04040404u;
    memcpy(&in, &bytes, 4);
    *reinterpret_cast<Vector<std::uint8_t, 4>*>(table + 4 * i) =
        convert_vector<std::uint8_t, std::uint8_t>(p, in);
  }
}

/// The same with the table that the parameters have.
template <class Params>
__device__ __forceinline__ void fill_cast_table(const WithTable<Params>& p, unsigned char* table) {
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < kCastTableBytes / 4; i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(table)[i] = reinterpret_cast<const std::uint32_t*>(p.table.values)[i];
}

template <int kCount>
__device__ __forceinline__ Vector<std::uint8_t, kCount> look_up(const unsigned char* table,
                                                                const Vector<std::uint8_t, kCount>& in) {
  std::uint32_t words[kCount / 4];
  memcpy(words, &in, kCount);
#pragma unroll
  for (int i = 0; i < kCount / 4; ++i) {
    const std::uint32_t word = words[i];
    const std::uint32_t low = permute_bytes<0x5140>(table[word & 0xff], table[word >> 8 & 0xff]);
    const std::uint32_t high = permute_bytes<0x5140>(table[word >> 16 & 0xff], table[word >> 24]);
    words[i] = permute_bytes<0x5410>(low, high);
  }
  Vector<std::uint8_t, kCount> out;
  memcpy(&out, words, kCount);
  return out;
}

/// The elements by the table, where their types have one, else by their conversion.
template <class T, class To, int kCount>
__device__ __forceinline__ Vector<To, kCount> quick_vector_by(const unsigned char* table,
                                                              const CopyOperands& p,
                                                              const Vector<T, kCount>& in) {
  if constexpr (has_cast_table<T, To>) {
    return look_up(table, in);
  } else {
    return quick_vector<T, To>(p.cast, in);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
