// The transposition of blocks in vector registers. micro_transpose.cpp includes it once for each instruction
// set, inside a namespace of its own that says how wide its vectors are: kVectorBytes, 16 or 32.

template <int Size>
struct Element;
template <>
struct Element<1> {
  using type = std::uint8_t;
};
template <>
struct Element<2> {
  using type = std::uint16_t;
};
template <>
struct Element<4> {
  using type = std::uint32_t;
};
template <>
struct Element<8> {
  using type = std::uint64_t;
};

template <int Size, int Bytes>
struct VectorOf {
  using T = typename Element<Size>::type;
  typedef T type __attribute__((vector_size(Bytes)));
};

/// Interleaves, in every 16-byte lane, the elements of the lower (upper) halves of a and b. Vectors are
/// passed by reference: by value they would need the calling convention of one instruction set.
template <int Lane, bool Upper, class V, int... I>
RELAYOUT_INLINE void interleave(const V& a, const V& b, V& out, std::integer_sequence<int, I...>) {
  constexpr int kCount = sizeof...(I);
  out = __builtin_shufflevector(
      a, b, (I / Lane * Lane + I % Lane / 2 + (Upper ? Lane / 2 : 0) + I % 2 * kCount)...);
}

/// Loads `Bytes` bytes of a line from its element `at` on.
template <int Size>
struct LoadSame {
  static constexpr int kSize = Size;
  template <class V>
  RELAYOUT_INLINE static void load(const char* line, std::int64_t at, V& out) {
    std::memcpy(&out, line + at * Size, sizeof(V));
  }
  RELAYOUT_INLINE static void move(const char* line, std::int64_t at, char* out) {
    std::memcpy(out, line + at * Size, Size);
  }
};

template <int Size>
RELAYOUT_INLINE const char* line_of(ConstLines in, std::int64_t line) {
  return in.data + line * in.pitch;
}
template <int Size>
RELAYOUT_INLINE const char* line_of(GatheredLines in, std::int64_t line) {
  return in.data + in.offsets[line] * Size;
}

/// Bytes / Size rows of 16 / Size elements, from pieces of `Bytes` of as many lines: interleaving the first
/// half of the lines with the second, as often as a lane's elements can be halved, transposes each lane.
template <class Load, int Bytes, class In>
RELAYOUT_INLINE void transpose_square(In in, std::int64_t line, std::int64_t at, Lines out) {
  constexpr int kSize = Load::kSize, kLane = 16 / kSize;
  using V = typename VectorOf<kSize, Bytes>::type;
  using Indices = std::make_integer_sequence<int, Bytes / kSize>;
  V a[kLane], b[kLane];
#pragma GCC unroll 16
  for (int j = 0; j < kLane; ++j) Load::load(line_of<kSize>(in, line + j), at, a[j]);
#pragma GCC unroll 4
  for (int step = 1; step < kLane; step *= 2) {
#pragma GCC unroll 8
    for (int j = 0; j < kLane / 2; ++j) {
      interleave<kLane, false>(a[j], a[j + kLane / 2], b[2 * j], Indices());
      interleave<kLane, true>(a[j], a[j + kLane / 2], b[2 * j + 1], Indices());
    }
#pragma GCC unroll 16
    for (int j = 0; j < kLane; ++j) a[j] = b[j];
  }
#pragma GCC unroll 16
  for (int j = 0; j < kLane; ++j) {
#pragma GCC unroll 2
    for (int lane = 0; lane < Bytes / 16; ++lane)
      std::memcpy(out.data + (at + lane * kLane + j) * out.pitch + line * kSize,
                  reinterpret_cast<const char*>(&a[j]) + 16 * lane, 16);
  }
}

template <class Load, class In>
inline void transpose_elements(In in, Lines out, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      Load::move(line_of<Load::kSize>(in, j), i, out.data + i * out.pitch + j * Load::kSize);
  }
}

/// Transposes squares from the first to the last. Where the sides do not divide, the last squares overlap
/// their neighbours and write the same values again. False when a side is shorter than a square.
template <class Load, int Bytes, class In>
inline bool transpose_squares(In in, Lines out, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kRows = Bytes / Load::kSize, kColumns = 16 / Load::kSize;
  if (rows < kRows || columns < kColumns) return false;
  for (std::int64_t j = 0; j < columns; j += kColumns) {
    const std::int64_t column = std::min(j, columns - kColumns);
    for (std::int64_t i = 0; i < rows; i += kRows)
      transpose_square<Load, Bytes>(in, column, std::min(i, rows - kRows), out);
  }
  return true;
}

template <class Load, class In>
void transpose(In in, Lines out, std::int64_t rows, std::int64_t columns) {
  if constexpr (Load::kSize < 16) {
    if constexpr (kVectorBytes > 16) {
      if (transpose_squares<Load, kVectorBytes>(in, out, rows, columns)) return;
    }
    if (transpose_squares<Load, 16>(in, out, rows, columns)) return;
  }
  transpose_elements<Load>(in, out, rows, columns);
}
