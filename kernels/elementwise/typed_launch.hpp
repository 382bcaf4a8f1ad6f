// Launches the instances of the typed kernels: of types, of cheap and costly operations, and of where
// operands lie.
#pragma once

#include "kernels/elementwise/typed_tables.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class A, class B, class R, class C, OperandRows kRows, Steps kSteps = Steps::cheap>
void launch_typed_of(const LaunchContext& context, const ElementwiseParams& p) {
  const char* const name = name_of(p.step[0].operation);
  if constexpr (kRows == OperandRows::tables) {
    launch(name, context, table_shape(p), typed_tables_kernel<A, B, R, C, kSteps>, p);
  } else {
    using Typed = TypedElementwise<A, B, R, C, kRows>;
    LaunchShape shape;
    shape.blocks_x = (p.vectors + Typed::kPerBlock - 1) / Typed::kPerBlock;
    shape.threads_x = Typed::kThreads;
    const ElementwiseParams placed = with_block_rows(p, Typed::kPerBlock);
    shape.shared_bytes = static_cast<std::size_t>(placed.block_rows) * sizeof(RowOffsets);
    launch(name, context, shape, typed_kernel<A, B, R, C, kRows, kSteps>, placed);
  }
}

/// Operands of one type, to the same or to bool.
template <class T, class C, OperandRows kRows>
void launch_typed_of(const LaunchContext& context, const ElementwiseParams& p) {
  if (p.result == DType::bool_) return launch_typed_of<T, T, bool, C, kRows>(context, p);
  launch_typed_of<T, T, T, C, kRows>(context, p);
}

template <OperandRows kRows>
void launch_typed_reals(const LaunchContext& context, const ElementwiseParams& p) {
  const DType a = p.tensor[0].type, b = p.tensor[1].type;
  if (a == b) {
    switch (a) {
      case DType::f16:
        return launch_typed_of<f16, float, kRows>(context, p);
      case DType::bf16:
        return launch_typed_of<bf16, float, kRows>(context, p);
      case DType::f32:
        return launch_typed_of<float, float, kRows>(context, p);
      default:
        return launch_typed_of<double, double, kRows>(context, p);
    }
  }
  if (a == DType::f16) return launch_typed_of<f16, float, float, float, kRows>(context, p);
  if (a == DType::bf16) return launch_typed_of<bf16, float, float, float, kRows>(context, p);
  if (b == DType::f16) return launch_typed_of<float, f16, float, float, kRows>(context, p);
  launch_typed_of<float, bf16, float, float, kRows>(context, p);
}

/// Unsigned integers of 32 and 64 bits share the instances of their size: the operation knows.
template <OperandRows kRows>
void launch_typed_integers(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.tensor[0].type) {
    case DType::bool_:
      return launch_typed_of<bool, bool, bool, std::int32_t, kRows>(context, p);
    case DType::u8:
      return launch_typed_of<std::uint8_t, std::int32_t, kRows>(context, p);
    case DType::i8:
      return launch_typed_of<std::int8_t, std::int32_t, kRows>(context, p);
    case DType::u16:
      return launch_typed_of<std::uint16_t, std::int32_t, kRows>(context, p);
    case DType::i16:
      return launch_typed_of<std::int16_t, std::int32_t, kRows>(context, p);
    case DType::u32:
    case DType::i32:
      return launch_typed_of<std::int32_t, std::int32_t, kRows>(context, p);
    default:
      return launch_typed_of<std::int64_t, std::int64_t, kRows>(context, p);
  }
}

/// An operation of many instructions, to the operands' type.
template <class T, class C, OperandRows kRows>
void launch_typed_costly_of(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_of<T, T, T, C, kRows, Steps::costly>(context, p);
}

template <OperandRows kRows>
void launch_typed_costly_reals(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.common) {
    case DType::f16:
      return launch_typed_costly_of<f16, float, kRows>(context, p);
    case DType::bf16:
      return launch_typed_costly_of<bf16, float, kRows>(context, p);
    case DType::f32:
      return launch_typed_costly_of<float, float, kRows>(context, p);
    default:
      return launch_typed_costly_of<double, double, kRows>(context, p);
  }
}

template <OperandRows kRows>
void launch_typed_costly_integers(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.common) {
    case DType::u8:
      return launch_typed_costly_of<std::uint8_t, std::int32_t, kRows>(context, p);
    case DType::i8:
      return launch_typed_costly_of<std::int8_t, std::int32_t, kRows>(context, p);
    case DType::u16:
      return launch_typed_costly_of<std::uint16_t, std::int32_t, kRows>(context, p);
    case DType::i16:
      return launch_typed_costly_of<std::int16_t, std::int32_t, kRows>(context, p);
    case DType::u32:
      return launch_typed_costly_of<std::uint32_t, std::int32_t, kRows>(context, p);
    case DType::i32:
      return launch_typed_costly_of<std::int32_t, std::int32_t, kRows>(context, p);
    case DType::u64:
      return launch_typed_costly_of<std::uint64_t, std::int64_t, kRows>(context, p);
    default:
      return launch_typed_costly_of<std::int64_t, std::int64_t, kRows>(context, p);
  }
}

template <OperandRows kRows>
void launch_typed(const LaunchContext& context, const ElementwiseParams& p) {
  if (is_floating(p.tensor[0].type)) return launch_typed_reals<kRows>(context, p);
  launch_typed_integers<kRows>(context, p);
}
template <OperandRows kRows>
void launch_typed_costly(const LaunchContext& context, const ElementwiseParams& p) {
  if (is_floating(p.common)) return launch_typed_costly_reals<kRows>(context, p);
  launch_typed_costly_integers<kRows>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
