// Element-wise operations of your own, in one pass over the memory: a functor that is compiled with your
// file, for the processor and, by nvcc or hipcc, for GPUs. relayout/functors.hpp has ready ones and chains of
// them.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include <relayout/functors.hpp>
#include <relayout/map/launch.hpp>
#include <relayout/map/rows.hpp>
#include <relayout/map/vectors.hpp>

namespace relayout {
namespace detail {
inline namespace RELAYOUT_COMPILED_BY {

template <class Signature>
struct Map {
  static_assert(!std::is_same_v<Signature, Signature>, "element types are named as in map<f16(f16, float)>");
};

template <class Out, class... In>
struct Map<Out(In...)> {
  static constexpr int kOperands = static_cast<int>(sizeof...(In));
  static_assert(kOperands >= 1 && kOperands <= kMaxMapOperands, "1 to 8 operands");
  using Thread = MapThread<Out(In...)>;

  static MapCall call() {
    return {kCompiledFor, {dtype_of<Out>, dtype_of<In>...}, kOperands, Thread::kWidth};
  }

  template <class Functor>
  static void run(const Stream& stream, const Functor& functor, const MapNest& nest) {
    static_assert(std::is_trivially_copyable_v<Functor>, "a functor is copied to the GPU byte by byte");
    static_assert(std::is_invocable_v<const Functor&, Value<In>...>,
                  "the functor takes one number an operand, in a const operator()");
    if (nest.elements == 0) return;
    if (nest.width == 1) {
      run_nest<1>(stream, functor, nest);
    } else {
      run_nest<Thread::kWidth>(stream, functor, nest);
    }
  }

 private:
  template <int kVector, class Functor>
  static void run_nest(const Stream& stream, const Functor& functor, const MapNest& nest) {
    struct Call {
      const MapNest& nest;
      const Functor& functor;
    };
    const Call call{nest, functor};
    switch (stream.device().kind()) {
      case DeviceKind::cpu:
        return run_ranges(
            nest.elements, nest.elements,
            [](const void* context, std::int64_t begin, std::int64_t end) {
              const auto& c = *static_cast<const Call*>(context);
              MapRows<Out(In...)>::run(c.nest, c.functor, begin, end);
            },
            &call);
      case DeviceKind::emulated:
        return run_ranges(
            nest.vectors, nest.elements,
            [](const void* context, std::int64_t begin, std::int64_t end) {
              const auto& c = *static_cast<const Call*>(context);
              for (std::int64_t i = begin; i < end; ++i) Thread::template run<kVector>(c.nest, c.functor, i);
            },
            &call);
      case DeviceKind::gpu:
#if defined(RELAYOUT_GPU)
        launch_map<kVector, Functor, Out, In...>(stream, nest, functor);
#endif
        return;
    }
  }
};

}  // namespace RELAYOUT_COMPILED_BY
}  // namespace detail

// These, too, are compiled in several ways in one program.
inline namespace RELAYOUT_COMPILED_BY {

/// out = cast(functor(operands..)), element by element, in one pass. Out(In..) are the element types, of out
/// and of 1 to 8 operands: bool, integers, f16, bf16, float or double.
///
///     struct BiasRelu {
///       RELAYOUT_HOST_DEVICE float operator()(float x, float bias) const {
///         return x + bias > 0 ? x + bias : 0;
///       }
///     };
///     map<f16(f16, float)>(stream, BiasRelu{}, {x, bias}, y);
///
/// The functor is given f16 and bf16 as float, other elements as what they are; it returns a number, which is
/// converted once to out's type, as a cast without options converts it (docs/arithmetic.md). It is trivially
/// copyable, up to 1 KiB, depends on nothing but its operands and members, and throws nothing.
///
/// Shapes broadcast by numpy's rules to out's; operands have any strides, and may share memory with each
/// other. out has strides under which no two elements share an address. It may be the same memory as an
/// operand of the same shape, strides and element size; else it shares no byte with any.
///
/// On a GPU the call queues one kernel, which nvcc or hipcc has compiled together with the file that calls
/// map(). It allocates no device memory, and can be recorded in a Graph. On cpu() and emulated devices the
/// functor is ordinary host code, and any C++17 compiler may have compiled the file.
///
/// Errors, in the order of their checks: unsupported on a GPU where this file was not compiled for it;
/// invalid_argument for the number of operands; dtype for a view of another element type; shape, rank;
/// output_overlap, partial_overlap; for views with elements, null_pointer and invalid_argument (no multiple
/// of the element size); launch.
template <class Signature, class Functor>
void map(const Stream& stream, const Functor& functor, const std::vector<TensorView>& operands,
         const TensorView& out) {
  using Map = detail::Map<Signature>;
  Map::run(stream, functor, detail::map_nest(stream.device(), Map::call(), operands, out));
}

/// A call of map() that was checked and planned: immutable, safe to use from several threads at once.
template <class Signature, class Functor>
class MapPlan {
 public:
  /// What plan_map makes.
  MapPlan(const Device& device, const Functor& functor, const std::vector<TensorView>& operands,
          const TensorView& out)
      : device_(device),
        functor_(functor),
        nest_(detail::map_nest(device, detail::Map<Signature>::call(), operands, out)) {}

  /// Queues the call between the planned views. Error{invalid_argument} for a stream of another device.
  void run(const Stream& stream) const {
    detail::check_map_stream(device_, stream);
    detail::Map<Signature>::run(stream, functor_, nest_);
  }
  /// The plan in plain words: types, loop nest, vectors.
  std::string explain() const { return detail::explain_map(device_, detail::Map<Signature>::call(), nest_); }

 private:
  Device device_;
  Functor functor_;
  detail::MapNest nest_;
};

/// The twin of map(), whose errors it has: checked and planned once, run often.
template <class Signature, class Functor>
MapPlan<Signature, Functor> plan_map(const Device& device, const Functor& functor,
                                     const std::vector<TensorView>& operands, const TensorView& out) {
  return MapPlan<Signature, Functor>(device, functor, operands, out);
}

}  // namespace RELAYOUT_COMPILED_BY
}  // namespace relayout
