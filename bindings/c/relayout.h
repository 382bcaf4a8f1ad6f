/* relayout in C: tensors from one memory layout to another, on GPUs and on the CPU.
 *
 *     relayout_device* device;
 *     relayout_stream* stream;
 *     if (relayout_device_best(&device) != RELAYOUT_OK) puts(relayout_last_error());
 *     relayout_stream_create(device, &stream);
 *     relayout_transpose(stream, &in, &out, NULL);
 *     relayout_stream_synchronize(stream);
 *
 * Each function returns a relayout_status. It is RELAYOUT_OK, or what went wrong; relayout_last_error() then
 * has the sentence. Arguments are checked before anything is launched or written. Functions that end in
 * _destroy return nothing and take null pointers.
 *
 * relayout_X(stream, ..) queues the operation X. relayout_plan_X(device, .., &plan) checks and plans it, and
 * relayout_run(plan, stream) queues it as often as is wanted. CPU and emulated devices finish the work in the
 * call.
 *
 * Options are structs, and a null pointer stands for the defaults. relayout_X_options_init(&options, sizeof
 * options) sets all defaults, and must be called before a field is set: so a later version of the library may
 * add fields.
 *
 * Handles are the library's own and are freed by their _destroy function. A plan outlives its device and its
 * streams. Plans may be used by several threads at once.
 *
 * Operations are those of the C++ headers of the same names, which say what is computed and which errors
 * there are.
 *
 * The parts of this header: versions and errors; tensors; devices and streams; plans; copies; element-wise
 * operations; windows; depthwise convolutions, those of sequences, and gradients; GEMM and whole
 * convolutions; tensors over many GPUs. */
#ifndef RELAYOUT_H
#define RELAYOUT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RELAYOUT_C_API __attribute__((visibility("default")))
#else
#define RELAYOUT_C_API
#endif

/* ---- Versions and errors ---- */

/* Programs that were compiled with one number run with every library of that number. */
#define RELAYOUT_ABI_VERSION 1

/* The RELAYOUT_ABI_VERSION of the library that is loaded. */
RELAYOUT_C_API int32_t relayout_abi_version(void);
/* The library's version, as in "0.2.0". */
RELAYOUT_C_API const char* relayout_version(void);
/* The back ends in the library, as in "cpu,cuda". */
RELAYOUT_C_API const char* relayout_built_with(void);

typedef int32_t relayout_status;
enum {
  RELAYOUT_OK = 0,
  RELAYOUT_INVALID_ARGUMENT = 1,  /* a value outside its documented range */
  RELAYOUT_INVALID_SHAPE = 2,     /* a geometry without output, or sizes that do not fit 63 bits */
  RELAYOUT_PAD_TOO_LARGE = 3,     /* the pad reaches further than the signal */
  RELAYOUT_SHAPE = 4,             /* tensors whose shapes do not go together */
  RELAYOUT_DTYPE = 5,             /* an element type that the operation does not take */
  RELAYOUT_PROMOTION = 6,         /* element types without a common type */
  RELAYOUT_ROUNDING_MODE = 7,     /* a rounding where nothing is rounded */
  RELAYOUT_PADDING_MODE = 8,      /* a padding of tiles that the element type does not have */
  RELAYOUT_RANK = 9,              /* a number of axes that the operation does not take */
  RELAYOUT_LITERAL_RANGE = 10,    /* a constant that the element type cannot hold */
  RELAYOUT_STRIDE_ALIGNMENT = 11, /* a byte stride that is no multiple of the element size */
  RELAYOUT_SCALE = 12,            /* a scale that is not finite and above 0 */
  RELAYOUT_OUTPUT_OVERLAP = 13,   /* two indices of an output may hit one address */
  RELAYOUT_PARTIAL_OVERLAP = 14,  /* an output that shares bytes with an input */
  RELAYOUT_NULL_POINTER = 15,     /* a null pointer */
  RELAYOUT_NOT_BUILT = 16,        /* a back end that the library does not contain */
  RELAYOUT_NO_DEVICE = 17,        /* a GPU that does not exist */
  RELAYOUT_OUT_OF_MEMORY = 18,    /* an allocation failed */
  RELAYOUT_UNSUPPORTED = 19,      /* legal in principle, but not offered by this back end */
  RELAYOUT_LAUNCH = 20,           /* a launch was refused or a kernel failed */
  RELAYOUT_VENDOR = 21,           /* any other error of the vendor's runtime */
  RELAYOUT_INTERNAL = 22,         /* a fault in the library */
  RELAYOUT_TIMEOUT = 23           /* another rank did not come within the time limit of a group */
};

/* What the last function that failed on this thread had to say: one sentence. It stays until the next
 * failure. */
RELAYOUT_C_API const char* relayout_last_error(void);
/* The name of a status, as in "null_pointer". */
RELAYOUT_C_API const char* relayout_status_name(relayout_status status);

/* ---- Tensors: the structs of DLPack, byte for byte ---- */

/* Kinds of memory. CPU and emulated devices take host memory, pinned memory and managed memory. GPUs take
 * their own memory, pinned memory and managed memory. */
enum {
  RELAYOUT_DL_CPU = 1,
  RELAYOUT_DL_CUDA = 2,
  RELAYOUT_DL_CUDA_HOST = 3,
  RELAYOUT_DL_ROCM = 10,
  RELAYOUT_DL_ROCM_HOST = 11,
  RELAYOUT_DL_CUDA_MANAGED = 13
};

/* Classes of element types. Types of other classes, and vectors, are moved between tensors of one type by
 * permute, transpose, copy and contiguous, if an element has 1, 2, 4, 8 or 16 bytes. */
enum {
  RELAYOUT_DL_INT = 0,   /* 8, 16, 32 or 64 bits */
  RELAYOUT_DL_UINT = 1,  /* 8, 16, 32 or 64 bits */
  RELAYOUT_DL_FLOAT = 2, /* 16, 32 or 64 bits */
  RELAYOUT_DL_OPAQUE_HANDLE = 3,
  RELAYOUT_DL_BFLOAT = 4, /* 16 bits */
  RELAYOUT_DL_COMPLEX = 5,
  RELAYOUT_DL_BOOL = 6,           /* 8 bits */
  RELAYOUT_DL_FLOAT8_E4M3FN = 10, /* 8 bits */
  RELAYOUT_DL_FLOAT8_E5M2 = 12,   /* 8 bits */
  RELAYOUT_DL_TF32 = 128          /* 32 bits; relayout's own number, DLPack has none */
};

typedef struct {
  int32_t device_type; /* RELAYOUT_DL_CPU, .. */
  int32_t device_id;   /* the number of the GPU; not looked at for host memory */
} relayout_dl_device;

typedef struct {
  uint8_t code; /* RELAYOUT_DL_INT, .. */
  uint8_t bits; /* of one lane */
  uint16_t lanes;
} relayout_dl_dtype;

/* A DLTensor. Nothing here is written to or kept: shape and strides may be freed when the call returns. */
typedef struct {
  void* data; /* null: planned as a multiple of every power of two, and given to relayout_run_on */
  relayout_dl_device device;
  int32_t ndim; /* 0 to 32 */
  relayout_dl_dtype dtype;
  int64_t* shape;
  int64_t* strides; /* in elements, of any sign; null: C order without gaps */
  uint64_t byte_offset;
} relayout_tensor;

/* ---- Devices and streams ---- */

typedef struct relayout_device relayout_device;
typedef struct relayout_stream relayout_stream;
typedef struct relayout_plan relayout_plan;

/* Native code on this machine's processor. */
RELAYOUT_C_API relayout_status relayout_device_cpu(relayout_device** device);
/* The GPU kernels, run on the processor with warps of 32 or 64 lanes. */
RELAYOUT_C_API relayout_status relayout_device_emulated(int32_t warp_size, relayout_device** device);
/* GPU number `index`. */
RELAYOUT_C_API relayout_status relayout_device_gpu(int32_t index, relayout_device** device);
/* GPU 0 where there is one, else the processor. */
RELAYOUT_C_API relayout_status relayout_device_best(relayout_device** device);
/* How many GPUs there are. */
RELAYOUT_C_API relayout_status relayout_gpu_count(int32_t* count);
/* A short name, as in "gpu(0)", which lives as long as the device. */
RELAYOUT_C_API relayout_status relayout_device_name(const relayout_device* device, const char** name);
RELAYOUT_C_API void relayout_device_destroy(relayout_device* device);

/* A new stream of the device. */
RELAYOUT_C_API relayout_status relayout_stream_create(const relayout_device* device,
                                                      relayout_stream** stream);
/* The caller's own stream of a GPU: a cudaStream_t or hipStream_t; null is the default stream. It is never
 * destroyed. */
RELAYOUT_C_API relayout_status relayout_stream_from_native(const relayout_device* device, void* native,
                                                           relayout_stream** stream);
/* Waits for all queued work, and reports a kernel that failed. */
RELAYOUT_C_API relayout_status relayout_stream_synchronize(const relayout_stream* stream);
RELAYOUT_C_API void relayout_stream_destroy(relayout_stream* stream);

/* ---- Plans ---- */

/* Queues the planned work between the planned tensors. */
RELAYOUT_C_API relayout_status relayout_run(const relayout_plan* plan, const relayout_stream* stream);
/* The same between other memory with the planned shapes, strides and types. `inputs` are the addresses of the
 * first elements: of a copy, a pad and an img2col the input; of an element-wise operation every tensor among
 * the operands, codes among them; of fill none; of gemm `a`; of depthwise_conv1d and conv1d the input; of
 * depthwise_update the samples; of depthwise_varlen and depthwise_varlen_states the input; of
 * depthwise_conv1d_backward in, d_out and, where one was planned, the workspace. Other tensors stay where
 * they were planned. Addresses must be aligned as the planned ones, up to 16 bytes. */
RELAYOUT_C_API relayout_status relayout_run_on(const relayout_plan* plan, const relayout_stream* stream,
                                               const void* const* inputs, int32_t input_count, void* out);
/* The plan in plain words, several lines. The text stays until this thread calls the function again. */
RELAYOUT_C_API relayout_status relayout_explain(const relayout_plan* plan, const char** text);
RELAYOUT_C_API void relayout_plan_destroy(relayout_plan* plan);

/* ---- Copies: relayout/permute.hpp ---- */

enum {
  RELAYOUT_ROUND_DEFAULT = 0, /* to nearest even; casts to integers toward zero */
  RELAYOUT_ROUND_NEAREST_EVEN = 1,
  RELAYOUT_ROUND_NEAREST_AWAY = 2,
  RELAYOUT_ROUND_TOWARD_ZERO = 3,
  RELAYOUT_ROUND_DOWN = 4,
  RELAYOUT_ROUND_UP = 5
};

/* out = alpha * in + beta * out, and how elements are cast: relayout/copy_options.hpp,
 * relayout/cast_options.hpp. */
typedef struct {
  uint64_t struct_size;      /* set by relayout_copy_options_init, as in all options */
  double alpha;              /* 1 */
  double beta;               /* 0 */
  int32_t rounding;          /* RELAYOUT_ROUND_DEFAULT */
  int32_t saturate_fp8;      /* 1; 0: numbers that fp8 cannot hold become infinity or NaN */
  int32_t saturate_integers; /* 0; 1: numbers that the integer type cannot hold become its nearest, else they
                                wrap */
  int32_t reserved;          /* 0 */
} relayout_copy_options;
RELAYOUT_C_API relayout_status relayout_copy_options_init(relayout_copy_options* options,
                                                          uint64_t struct_size);

/* Result axis j is in's axis axes[j]. */
RELAYOUT_C_API relayout_status relayout_permute(const relayout_stream* stream, const relayout_tensor* in,
                                                const int32_t* axes, int32_t axis_count,
                                                const relayout_tensor* out,
                                                const relayout_copy_options* options);
RELAYOUT_C_API relayout_status relayout_plan_permute(const relayout_device* device, const relayout_tensor* in,
                                                     const int32_t* axes, int32_t axis_count,
                                                     const relayout_tensor* out,
                                                     const relayout_copy_options* options,
                                                     relayout_plan** plan);
/* The last two axes exchanged. */
RELAYOUT_C_API relayout_status relayout_transpose(const relayout_stream* stream, const relayout_tensor* in,
                                                  const relayout_tensor* out,
                                                  const relayout_copy_options* options);
RELAYOUT_C_API relayout_status relayout_plan_transpose(const relayout_device* device,
                                                       const relayout_tensor* in, const relayout_tensor* out,
                                                       const relayout_copy_options* options,
                                                       relayout_plan** plan);
/* Element number i of out is element number i of in, counted in C order; the shapes may differ. */
RELAYOUT_C_API relayout_status relayout_copy(const relayout_stream* stream, const relayout_tensor* in,
                                             const relayout_tensor* out,
                                             const relayout_copy_options* options);
RELAYOUT_C_API relayout_status relayout_plan_copy(const relayout_device* device, const relayout_tensor* in,
                                                  const relayout_tensor* out,
                                                  const relayout_copy_options* options, relayout_plan** plan);
/* in to `memory` in C order without gaps; run_on takes the memory as `out`. */
RELAYOUT_C_API relayout_status relayout_contiguous(const relayout_stream* stream, const relayout_tensor* in,
                                                   void* memory);
RELAYOUT_C_API relayout_status relayout_plan_contiguous(const relayout_device* device,
                                                        const relayout_tensor* in, void* memory,
                                                        relayout_plan** plan);
/* in as elements of out's type; both have one shape. */
RELAYOUT_C_API relayout_status relayout_cast(const relayout_stream* stream, const relayout_tensor* in,
                                             const relayout_tensor* out,
                                             const relayout_copy_options* options);
RELAYOUT_C_API relayout_status relayout_plan_cast(const relayout_device* device, const relayout_tensor* in,
                                                  const relayout_tensor* out,
                                                  const relayout_copy_options* options, relayout_plan** plan);

/* ---- Element-wise operations: relayout/elementwise.hpp, relayout/operations.def ---- */

/* What an operand is. Constants have no type of their own: they take that of the tensors beside them. */
enum {
  RELAYOUT_OPERAND_TENSOR = 0,   /* tensor */
  RELAYOUT_OPERAND_CODES = 1,    /* tensor of i8 or u8, scale or scales, zero or zeros */
  RELAYOUT_OPERAND_FLOATING = 2, /* floating */
  RELAYOUT_OPERAND_INTEGER = 3,  /* integer */
  RELAYOUT_OPERAND_UNSIGNED = 4, /* the bits of integer */
  RELAYOUT_OPERAND_BOOLEAN = 5   /* integer: 0 or 1 */
};

typedef struct {
  int32_t kind;
  int32_t zero; /* of codes: code q stands for scale * (q - zero) */
  float scale;
  float reserved; /* 0 */
  double floating;
  int64_t integer;
  const relayout_tensor* tensor;
  const relayout_tensor* scales; /* of codes: null, or a tensor in the place of scale */
  const relayout_tensor* zeros;  /* of codes: null, or a tensor in the place of zero */
} relayout_operand;

enum { RELAYOUT_PRECISION_ACCURATE = 0, RELAYOUT_PRECISION_FULL = 1, RELAYOUT_PRECISION_APPROXIMATE = 2 };

/* relayout::ElementwiseOptions. */
typedef struct {
  uint64_t struct_size;
  int32_t cast_out;          /* 0; 1: out may have another type than the result */
  int32_t cast_rounding;     /* RELAYOUT_ROUND_DEFAULT: how that cast rounds */
  int32_t saturate_fp8;      /* 1 */
  int32_t saturate_integers; /* 0 */
  int32_t repeat;            /* 0: numpy's broadcasting; 1: ggml's */
  int32_t rounding;          /* RELAYOUT_ROUND_DEFAULT: how add, sub, mul, truediv and sqrt round */
  int32_t precision;         /* RELAYOUT_PRECISION_ACCURATE */
  int32_t flush_to_zero;     /* 0 */
  int32_t equal_nan;         /* 0: of isclose */
  int32_t reserved;          /* 0 */
  double rtol;               /* 1e-5: of isclose, 0 or more */
  double atol;               /* 1e-8: of isclose, 0 or more */
} relayout_elementwise_options;
RELAYOUT_C_API relayout_status relayout_elementwise_options_init(relayout_elementwise_options* options,
                                                                 uint64_t struct_size);

/* An operation of a chain: its name, and which of its operands is what the operation before gave (0: the
 * first). */
typedef struct {
  const char* operation;
  int32_t running;
  int32_t reserved; /* 0 */
} relayout_step;

/* The name of operation number `index` from 0 on, as in "add", and how many operands it takes.
 * RELAYOUT_INVALID_ARGUMENT behind the last. */
RELAYOUT_C_API relayout_status relayout_operation(int32_t index, const char** name, int32_t* operands);

/* out = operation(operands), for any name of relayout/operations.def. */
RELAYOUT_C_API relayout_status relayout_elementwise(const relayout_stream* stream, const char* operation,
                                                    const relayout_operand* operands, int32_t operand_count,
                                                    const relayout_operand* out,
                                                    const relayout_elementwise_options* options);
RELAYOUT_C_API relayout_status relayout_plan_elementwise(const relayout_device* device, const char* operation,
                                                         const relayout_operand* operands,
                                                         int32_t operand_count, const relayout_operand* out,
                                                         const relayout_elementwise_options* options,
                                                         relayout_plan** plan);
/* Up to 8 operations in one pass over the memory. */
RELAYOUT_C_API relayout_status relayout_chain(const relayout_stream* stream, const relayout_step* steps,
                                              int32_t step_count, const relayout_operand* operands,
                                              int32_t operand_count, const relayout_operand* out,
                                              const relayout_elementwise_options* options);
RELAYOUT_C_API relayout_status relayout_plan_chain(const relayout_device* device, const relayout_step* steps,
                                                   int32_t step_count, const relayout_operand* operands,
                                                   int32_t operand_count, const relayout_operand* out,
                                                   const relayout_elementwise_options* options,
                                                   relayout_plan** plan);
/* What a chain gives: its element type, and the shape that the operands broadcast to. `shape` has room for 32
 * extents. */
RELAYOUT_C_API relayout_status relayout_chain_result(const relayout_step* steps, int32_t step_count,
                                                     const relayout_operand* operands, int32_t operand_count,
                                                     const relayout_elementwise_options* options,
                                                     relayout_dl_dtype* dtype, int32_t* ndim, int64_t* shape);
/* An operation that is computed in f32, whatever the operands are. */
RELAYOUT_C_API relayout_status relayout_quantized(const relayout_stream* stream, const char* operation,
                                                  const relayout_operand* operands, int32_t operand_count,
                                                  const relayout_operand* out);
RELAYOUT_C_API relayout_status relayout_plan_quantized(const relayout_device* device, const char* operation,
                                                       const relayout_operand* operands,
                                                       int32_t operand_count, const relayout_operand* out,
                                                       relayout_plan** plan);
/* A tensor to codes. */
RELAYOUT_C_API relayout_status relayout_quantize(const relayout_stream* stream, const relayout_tensor* in,
                                                 const relayout_operand* out);
RELAYOUT_C_API relayout_status relayout_plan_quantize(const relayout_device* device,
                                                      const relayout_tensor* in, const relayout_operand* out,
                                                      relayout_plan** plan);
/* Codes to a tensor of f32. */
RELAYOUT_C_API relayout_status relayout_dequantize(const relayout_stream* stream, const relayout_operand* in,
                                                   const relayout_tensor* out);
RELAYOUT_C_API relayout_status relayout_plan_dequantize(const relayout_device* device,
                                                        const relayout_operand* in,
                                                        const relayout_tensor* out, relayout_plan** plan);
/* Every element becomes one constant. */
RELAYOUT_C_API relayout_status relayout_fill(const relayout_stream* stream, const relayout_operand* value,
                                             const relayout_tensor* out,
                                             const relayout_copy_options* options);
RELAYOUT_C_API relayout_status relayout_plan_fill(const relayout_device* device,
                                                  const relayout_operand* value, const relayout_tensor* out,
                                                  const relayout_copy_options* options, relayout_plan** plan);

/* ---- Windows: relayout/pad.hpp, relayout/img2col.hpp ---- */

enum {
  RELAYOUT_PAD_CONSTANT = 0,
  RELAYOUT_PAD_REPLICATE = 1,
  RELAYOUT_PAD_REFLECT = 2,
  RELAYOUT_PAD_SYMMETRIC = 3,
  RELAYOUT_PAD_CIRCULAR = 4,
  RELAYOUT_PAD_REFLECT_ZERO_EXTENDED = 5
};

/* relayout::PadSpec. */
typedef struct {
  uint64_t struct_size;
  int64_t left;     /* 0 */
  int64_t right;    /* 0 */
  int32_t mode;     /* RELAYOUT_PAD_CONSTANT */
  int32_t extended; /* 0: PyTorch's limits; 1: pads of any size, as numpy */
  double value;     /* 0 */
} relayout_pad_options;
RELAYOUT_C_API relayout_status relayout_pad_options_init(relayout_pad_options* options, uint64_t struct_size);

/* relayout::Window. */
typedef struct {
  uint64_t struct_size;
  int64_t taps;          /* 1 */
  int64_t stride;        /* 1 */
  int64_t dilation;      /* 1 */
  int64_t groups;        /* 1 */
  int32_t channel_outer; /* 0: column k * channels + c; 1: column c * taps + k */
  int32_t reserved;      /* 0 */
} relayout_window_options;
RELAYOUT_C_API relayout_status relayout_window_options_init(relayout_window_options* options,
                                                            uint64_t struct_size);

/* in [batch, channels, length] -> out [batch, channels, left + length + right]. */
RELAYOUT_C_API relayout_status relayout_pad(const relayout_stream* stream, const relayout_tensor* in,
                                            const relayout_pad_options* pad, const relayout_tensor* out);
RELAYOUT_C_API relayout_status relayout_plan_pad(const relayout_device* device, const relayout_tensor* in,
                                                 const relayout_pad_options* pad, const relayout_tensor* out,
                                                 relayout_plan** plan);
/* How many positions a window has on a signal. */
RELAYOUT_C_API relayout_status relayout_output_length(int64_t length, const relayout_window_options* window,
                                                      const relayout_pad_options* pad, int64_t* positions);
/* in [batch, channels, length] -> out [batch * positions, taps * channels], or one such matrix for each
 * group. */
RELAYOUT_C_API relayout_status relayout_img2col(const relayout_stream* stream, const relayout_tensor* in,
                                                const relayout_window_options* window,
                                                const relayout_pad_options* pad, const relayout_tensor* out);
RELAYOUT_C_API relayout_status relayout_plan_img2col(const relayout_device* device, const relayout_tensor* in,
                                                     const relayout_window_options* window,
                                                     const relayout_pad_options* pad,
                                                     const relayout_tensor* out, relayout_plan** plan);
/* Weights [out channels, channels of a group, taps] -> the GEMM's [out channels, taps * channels of a group].
 */
RELAYOUT_C_API relayout_status relayout_rearrange_weights(const relayout_stream* stream,
                                                          const relayout_tensor* weights,
                                                          int32_t channel_outer, const relayout_tensor* out);
RELAYOUT_C_API relayout_status relayout_plan_rearrange_weights(const relayout_device* device,
                                                               const relayout_tensor* weights,
                                                               int32_t channel_outer,
                                                               const relayout_tensor* out,
                                                               relayout_plan** plan);

/* ---- Depthwise convolutions: relayout/depthwise.hpp. Optional tensors may be null pointers. ---- */

/* Depthwise and causal: in and out [batch, channels, length], weights [channels, taps]; optional are the bias
 * [channels], both states [batch, channels, taps - 1], and sequence_ids, i32 [batch, length]. */
RELAYOUT_C_API relayout_status relayout_depthwise_conv1d(
    const relayout_stream* stream, const relayout_tensor* in, const relayout_tensor* weights,
    const relayout_tensor* bias, int32_t silu, const relayout_tensor* initial_state,
    const relayout_tensor* out, const relayout_tensor* final_state, const relayout_tensor* sequence_ids);
RELAYOUT_C_API relayout_status relayout_plan_depthwise_conv1d(
    const relayout_device* device, const relayout_tensor* in, const relayout_tensor* weights,
    const relayout_tensor* bias, int32_t silu, const relayout_tensor* initial_state,
    const relayout_tensor* out, const relayout_tensor* final_state, const relayout_tensor* sequence_ids,
    relayout_plan** plan);
/* New samples [batch, channels, n] to a state [batch, channels, taps - 1 or more], which moves on. The bias
 * may be null. */
RELAYOUT_C_API relayout_status relayout_depthwise_update(
    const relayout_stream* stream, const relayout_tensor* state, const relayout_tensor* samples,
    const relayout_tensor* weights, const relayout_tensor* bias, int32_t silu, const relayout_tensor* out);
RELAYOUT_C_API relayout_status relayout_plan_depthwise_update(
    const relayout_device* device, const relayout_tensor* state, const relayout_tensor* samples,
    const relayout_tensor* weights, const relayout_tensor* bias, int32_t silu, const relayout_tensor* out,
    relayout_plan** plan);

/* ---- Depthwise convolutions of sequences: relayout/depthwise.hpp, relayout/depthwise_varlen.hpp ---- */

/* Where sequences have their states and samples: relayout::DepthwiseUpdateOptions and
 * relayout::DepthwiseVarlenOptions. Tensors that are left out are null pointers; those of the other function
 * must be. */
typedef struct {
  uint64_t struct_size;
  int32_t null_index;                         /* -1 */
  int32_t null_untouched;                     /* 0: outputs of null sequences are 0; 1: they stay */
  const relayout_tensor* state_indices;       /* i32 [batch], or [batch, blocks] with the two blocks below */
  const relayout_tensor* cache_seqlens;       /* of an update: i32 [batch] */
  const relayout_tensor* num_accepted_tokens; /* of an update: i32 [batch] */
  const relayout_tensor* query_start_loc;     /* of an update: i32 [batch + 1] */
  const relayout_tensor* has_initial_state;   /* of varlen: bool or u8 [batch] */
  const relayout_tensor* initial_block;       /* i32 [batch]: the block whose state is read */
  const relayout_tensor* last_block;          /* i32 [batch]: the block that receives the last state */
  const relayout_tensor* first_block;         /* of varlen: i32 [batch], with a block size */
  const relayout_tensor* computed_tokens;     /* of varlen: i32 [batch], with a block size */
  int64_t block_size;                         /* of varlen: 0, none */
} relayout_sequence_options;
RELAYOUT_C_API relayout_status relayout_sequence_options_init(relayout_sequence_options* options,
                                                              uint64_t struct_size);
/* relayout_depthwise_update with options; samples and out may be one tensor. */
RELAYOUT_C_API relayout_status relayout_depthwise_update_sequences(
    const relayout_stream* stream, const relayout_tensor* state, const relayout_tensor* samples,
    const relayout_tensor* weights, const relayout_tensor* bias, int32_t silu, const relayout_tensor* out,
    const relayout_sequence_options* options);
RELAYOUT_C_API relayout_status relayout_plan_depthwise_update_sequences(
    const relayout_device* device, const relayout_tensor* state, const relayout_tensor* samples,
    const relayout_tensor* weights, const relayout_tensor* bias, int32_t silu, const relayout_tensor* out,
    const relayout_sequence_options* options, relayout_plan** plan);
/* Sequences one behind the other: in and out [channels, total], query_start_loc i32 [batch + 1], states
 * [slots, channels, taps - 1], which move on. The bias and the states may be null. */
RELAYOUT_C_API relayout_status relayout_depthwise_varlen(
    const relayout_stream* stream, const relayout_tensor* in, const relayout_tensor* query_start_loc,
    const relayout_tensor* weights, const relayout_tensor* bias, int32_t silu, const relayout_tensor* states,
    const relayout_tensor* out, const relayout_sequence_options* options);
RELAYOUT_C_API relayout_status relayout_plan_depthwise_varlen(
    const relayout_device* device, const relayout_tensor* in, const relayout_tensor* query_start_loc,
    const relayout_tensor* weights, const relayout_tensor* bias, int32_t silu, const relayout_tensor* states,
    const relayout_tensor* out, const relayout_sequence_options* options, relayout_plan** plan);
/* The last samples of each sequence -> states [batch, channels, columns]. */
RELAYOUT_C_API relayout_status relayout_depthwise_varlen_states(const relayout_stream* stream,
                                                                const relayout_tensor* in,
                                                                const relayout_tensor* query_start_loc,
                                                                const relayout_tensor* states);
RELAYOUT_C_API relayout_status relayout_plan_depthwise_varlen_states(const relayout_device* device,
                                                                     const relayout_tensor* in,
                                                                     const relayout_tensor* query_start_loc,
                                                                     const relayout_tensor* states,
                                                                     relayout_plan** plan);

/* ---- Gradients of depthwise convolutions: relayout/depthwise_backward.hpp ---- */

/* What the backward pass reads and writes. Pointers that are null stand for "none". */
typedef struct {
  uint64_t struct_size;                   /* set by relayout_depthwise_gradients_init */
  const relayout_tensor* in;              /* what the forward pass was given */
  const relayout_tensor* weights;         /* [channels, taps] */
  const relayout_tensor* bias;            /* may be null */
  const relayout_tensor* initial_state;   /* may be null */
  const relayout_tensor* sequence_ids;    /* may be null; not together with states */
  const relayout_tensor* d_out;           /* the gradient of its output */
  const relayout_tensor* d_final_state;   /* may be null: that of its final state */
  const relayout_tensor* d_in;            /* written */
  const relayout_tensor* d_weights;       /* written; may be null, as the next two: not wanted */
  const relayout_tensor* d_bias;          /* written */
  const relayout_tensor* d_initial_state; /* written */
  const relayout_tensor* workspace; /* of relayout_depthwise_conv1d_backward_workspace_bytes(); null: 0 */
  int32_t silu;                     /* 1: the forward pass applied SiLU */
  int32_t reserved;                 /* 0 */
} relayout_depthwise_gradients;
RELAYOUT_C_API relayout_status relayout_depthwise_gradients_init(relayout_depthwise_gradients* gradients,
                                                                 uint64_t struct_size);
/* The gradients of relayout_depthwise_conv1d. The caller owns the workspace, whose contents mean nothing
 * before and after; calls and runs that may happen at the same time need one each. */
RELAYOUT_C_API relayout_status relayout_depthwise_conv1d_backward(
    const relayout_stream* stream, const relayout_depthwise_gradients* gradients);
RELAYOUT_C_API relayout_status relayout_plan_depthwise_conv1d_backward(
    const relayout_device* device, const relayout_depthwise_gradients* gradients, relayout_plan** plan);
/* Bytes of the workspace, by shapes, types and what is wanted. d_in may be null here: as in. */
RELAYOUT_C_API relayout_status relayout_depthwise_conv1d_backward_workspace_bytes(
    const relayout_device* device, const relayout_depthwise_gradients* gradients, uint64_t* bytes);

/* ---- GEMM and whole convolutions: relayout/gemm.hpp, relayout/conv_plan.hpp ---- */

/* y = a * bt^T + bias with f32 sums; the bias and the workspace may be null. Without a workspace of
 * relayout_gemm_workspace_bytes() relayout's own kernel runs. */
RELAYOUT_C_API relayout_status relayout_gemm(const relayout_stream* stream, const relayout_tensor* a,
                                             const relayout_tensor* bt, const relayout_tensor* bias,
                                             const relayout_tensor* y, const relayout_tensor* workspace);
RELAYOUT_C_API relayout_status relayout_plan_gemm(const relayout_device* device, const relayout_tensor* a,
                                                  const relayout_tensor* bt, const relayout_tensor* bias,
                                                  const relayout_tensor* y, const relayout_tensor* workspace,
                                                  relayout_plan** plan);
RELAYOUT_C_API relayout_status relayout_gemm_workspace_bytes(const relayout_device* device,
                                                             const relayout_tensor* y, int32_t with_bias,
                                                             uint64_t* bytes);

enum { RELAYOUT_ROUTE_OPERAND = 0, RELAYOUT_ROUTE_STRIDED_GEMM = 1, RELAYOUT_ROUTE_DIRECT = 2 };

/* The whole convolution of in [batch, channels, length] with weights [out channels, channels of a group,
 * taps] to y [batch, positions, out channels], which is contiguous and of f16 or bf16; the bias may be null.
 * Planning queues the rearrangement of the weights on the stream and allocates what running needs. Unlike
 * other plans, this one has memory of its own: its runs follow each other on one stream. */
RELAYOUT_C_API relayout_status relayout_plan_conv1d(const relayout_stream* stream, const relayout_tensor* in,
                                                    const relayout_tensor* weights,
                                                    const relayout_tensor* bias,
                                                    const relayout_window_options* window,
                                                    const relayout_pad_options* pad, int32_t route,
                                                    const relayout_tensor* y, relayout_plan** plan);

/* ---- Tensors over many GPUs: relayout/distribution.hpp, group.hpp and redistribute.hpp ---- */

typedef struct relayout_distribution relayout_distribution;
typedef struct relayout_group relayout_group;
typedef struct relayout_redistribution relayout_redistribution;

/* A global shape of ndim axes, and the box that each rank holds: along axis k rank r has the indices
 * begins[r * ndim + k] to ends[r * ndim + k] - 1. */
RELAYOUT_C_API relayout_status relayout_distribution_create(int32_t ndim, const int64_t* shape, int32_t ranks,
                                                            const int64_t* begins, const int64_t* ends,
                                                            relayout_distribution** distribution);
/* One axis cut into blocks of ceil(extent / ranks). */
RELAYOUT_C_API relayout_status relayout_distribution_split(int32_t ndim, const int64_t* shape, int32_t axis,
                                                           int32_t ranks,
                                                           relayout_distribution** distribution);
/* Every rank holds everything. */
RELAYOUT_C_API relayout_status relayout_distribution_replicated(int32_t ndim, const int64_t* shape,
                                                                int32_t ranks,
                                                                relayout_distribution** distribution);
/* The box of a rank: ndim numbers each. */
RELAYOUT_C_API relayout_status relayout_distribution_box(const relayout_distribution* distribution,
                                                         int32_t rank, int64_t* begin, int64_t* end);
RELAYOUT_C_API void relayout_distribution_destroy(relayout_distribution* distribution);

/* One process with `count` ranks; rank r's work is ordered on streams[r]. */
RELAYOUT_C_API relayout_status relayout_group_create(const relayout_stream* const* streams, int32_t count,
                                                     relayout_group** group);
/* `ranks` ranks on one device, each with a stream of its own. */
RELAYOUT_C_API relayout_status relayout_group_emulated(const relayout_device* device, int32_t ranks,
                                                       relayout_group** group);
/* One process a rank: the caller's ncclComm_t of NCCL or RCCL, and the stream of this rank. */
RELAYOUT_C_API relayout_status relayout_group_from_nccl(void* communicator, const relayout_stream* stream,
                                                        relayout_group** group);
/* The number of ranks, and of those of this process. */
RELAYOUT_C_API relayout_status relayout_group_ranks(const relayout_group* group, int32_t* ranks,
                                                    int32_t* local_ranks);
/* The rank that is number `index` of this process's. Tensors and pointers are given in this order. */
RELAYOUT_C_API relayout_status relayout_group_local_rank(const relayout_group* group, int32_t index,
                                                         int32_t* rank);
/* The longest that this process waits for ranks of other processes, in seconds; later calls of the group are
 * RELAYOUT_TIMEOUT, too. */
RELAYOUT_C_API relayout_status relayout_group_set_time_limit(const relayout_group* group, double seconds);
/* Lets the other processes write into this memory of this rank's, for the direct route: collective, once,
 * before planning. Every rank names memory of its own, 0 bytes where it has no output, which stays as long as
 * the group and its plans, or until relayout_group_close. */
RELAYOUT_C_API relayout_status relayout_group_register_output(const relayout_group* group, void* memory,
                                                              uint64_t bytes);
/* Lets the other processes copy messages into this memory of this rank's, on a multiple of 64 bytes, for
 * plans that are made afterwards: collective. It stays as long as the group and its plans. A rank needs about
 * the bytes that it sends and gets, for the route joined those that stay on it, too. */
RELAYOUT_C_API relayout_status relayout_group_register_workspace(const relayout_group* group, void* memory,
                                                                 uint64_t bytes);
/* Ends the use of the communicator, for the plans, too: before it is destroyed, where outputs were registered
 * and the group or a plan lives on. */
RELAYOUT_C_API relayout_status relayout_group_close(const relayout_group* group);
/* Waits for the work of all ranks of this process. */
RELAYOUT_C_API relayout_status relayout_group_synchronize(const relayout_group* group);
/* Plans keep what they need of a group. */
RELAYOUT_C_API void relayout_group_destroy(relayout_group* group);

enum {
  RELAYOUT_REDISTRIBUTE_FASTEST = 0, /* of least predicted time */
  RELAYOUT_REDISTRIBUTE_DIRECT = 1,
  RELAYOUT_REDISTRIBUTE_STAGED = 2,
  RELAYOUT_REDISTRIBUTE_COPY_ENGINE = 3,
  RELAYOUT_REDISTRIBUTE_JOINED = 4
};

/* relayout::RedistributeOptions. */
typedef struct {
  uint64_t struct_size;
  uint64_t workspace_limit;  /* bytes on a rank; all ones: no limit */
  int32_t route;             /* RELAYOUT_REDISTRIBUTE_FASTEST */
  int32_t rounding;          /* RELAYOUT_ROUND_DEFAULT */
  int32_t saturate_fp8;      /* 1 */
  int32_t saturate_integers; /* 0 */
} relayout_redistribute_options;
RELAYOUT_C_API relayout_status relayout_redistribute_options_init(relayout_redistribute_options* options,
                                                                  uint64_t struct_size);

/* out = permute(in, axes) from one distribution to another. `in` and `out` are arrays with the tensor of each
 * rank of this process, of the shape of its box; all of one side have one type. Without a plan, a route is
 * taken that needs no workspace. */
RELAYOUT_C_API relayout_status relayout_redistribute(
    const relayout_group* group, const relayout_distribution* in_distribution, const relayout_tensor* in,
    const int32_t* axes, int32_t axis_count, const relayout_distribution* out_distribution,
    const relayout_tensor* out, const relayout_redistribute_options* options);
RELAYOUT_C_API relayout_status relayout_plan_redistribute(
    const relayout_group* group, const relayout_distribution* in_distribution, const relayout_tensor* in,
    const int32_t* axes, int32_t axis_count, const relayout_distribution* out_distribution,
    const relayout_tensor* out, const relayout_redistribute_options* options, relayout_redistribution** plan);
/* Queues the planned work on the group's streams, between the planned tensors. `workspaces` has device memory
 * of relayout_redistribution_workspace_bytes() for each rank of this process, on multiples of 64 bytes; it
 * may be null where no rank needs any. */
RELAYOUT_C_API relayout_status relayout_redistribution_run(const relayout_redistribution* plan,
                                                           void* const* workspaces);
/* The same between other memory with the planned shapes, strides and types: the addresses of the first
 * elements, one for each rank of this process, as far behind multiples of 16 bytes as the planned ones. */
RELAYOUT_C_API relayout_status relayout_redistribution_run_on(const relayout_redistribution* plan,
                                                              const void* const* in, void* const* out,
                                                              void* const* workspaces);
/* Bytes of workspace that a rank of this process needs. */
RELAYOUT_C_API relayout_status relayout_redistribution_workspace_bytes(const relayout_redistribution* plan,
                                                                       int32_t rank, uint64_t* bytes);
/* The plan in plain words, several lines. The text stays until this thread calls the function again. */
RELAYOUT_C_API relayout_status relayout_redistribution_explain(const relayout_redistribution* plan,
                                                               const char** text);
RELAYOUT_C_API void relayout_redistribution_destroy(relayout_redistribution* plan);

#ifdef __cplusplus
}
#endif

#endif /* RELAYOUT_H */
