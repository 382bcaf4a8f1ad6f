"""The mutants: name, source, old and new expression, the tests that must see it. mutants.py says how they are read."""
from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    source: str
    tests: str
    old: str
    new: str
    x86: bool = False  # in code for that processor only


def mutants_of(prefix, source, tests, rows):
    return [Mutant(f"{prefix}.{row[0]}", source, tests, *row[1:]) for row in rows]


# The sources that headers with mutants are compiled in.
HEADER_UNITS = ("kernels/copy/tile.cpp", "kernels/copy/tile_cast.cpp", "kernels/copy/tile_scaled.cpp",
                "kernels/copy/tile_generic_cast.cpp", "kernels/copy/stream_cast.cpp", "kernels/copy/stream.cpp",
                "kernels/copy/stream_unaligned.cpp",
                "kernels/copy/rows.cpp", "kernels/copy/rows_cast.cpp", "kernels/copy/rows_lanes.cpp", "kernels/copy/tile_table.cpp",
                "kernels/elementwise/program_strips.cpp", "kernels/elementwise/typed_strips.cpp", "kernels/elementwise/mixed_strips.cpp",
                "kernels/elementwise/code_strips.cpp", "kernels/elementwise/code_vectors.cpp", "kernels/elementwise/typed_chunks.cpp", "kernels/elementwise/typed_flat.cpp",
                "kernels/elementwise/typed_chunks_costly.cpp",
                "kernels/depthwise/depthwise_backward.cpp", "kernels/depthwise/depthwise_backward_time.cpp",
                "host/cpu/copy/cast_rows.cpp", "host/cpu/copy/copy.cpp", "host/cpu/copy/cast_loops.cpp", "host/cpu/element_rows.cpp",
                "host/cpu/elementwise/elementwise_halves.cpp", "host/cpu/elementwise/elementwise_comparisons.cpp",
                "host/cpu/elementwise/functions_avx2.cpp", "host/cpu/elementwise/functions_avx512.cpp")

# What the random driver must see on its own, and in cases of which operation.
FUZZED = {"tile_": "permute", "unaligned.": "permute", "word_transpose.": "permute", "gather.": "permute",
          "rows_kernel.": "permute", "rows_piece.": "permute",
          "scale.": "permute", "operand_pointers.": "permute", "elementwise_rows.": "elementwise",
          "elementwise_memory.": "elementwise", "code_numbers.": "quantized", "code_rows.": "quantized",
          "strips.repeated_elements": "quantized", "strip_load.repeated_code": "quantized",
          "strips.": "elementwise", "strip_load.": "elementwise"}

IMG2COL = "*Img2col*/emulated32"
WINDOW = f"*WindowKernelTest*/emulated32:{IMG2COL}"
CONVERSION = "*Conversion*/emulated32*"
NATIVE_CONVERSION = "*Conversion*/cpu*"
NATIVE_ELEMENTWISE = "NativeElementwise.*-*PastTheCaches"
NATIVE_SHORT_ROWS = "NativeShortRows.*"
NATIVE_SINGLES = "*FunctionsTest.Singles*/cpu:*FunctionsTest.ConstantsBelowZero/cpu:NativeElementwise.FunctionsDo*"
NATIVE_FUNCTIONS = "*FunctionsTest.Halves/cpu:*FunctionsTest.Singles*/cpu:NativeElementwise.Functions*"
NATIVE_QUOTIENTS = "*FunctionsTest.Quotients*/cpu:*FunctionsTest.AllPairs*/cpu:*ElementwiseTest.*/cpu"
DEPTHWISE = ":".join(f"*Depthwise{name}Test*/cpu" for name in ("", "Block", "Far", "Kernels", "Sequence", "State", "Varlen"))
ONE_TIME_KERNEL = "*DepthwiseTest.*/emulated32:*DepthwiseKernelsTest.*/emulated32:*DepthwiseStateTest.*/emulated32-*RandomCases*"
MANY_TAPS = "*DepthwiseKernelsTest.EdgesOfManyTaps/emulated32:*DepthwiseKernelsTest.LongRowsOfManyTaps/emulated32"
MATRIX_TILES = "*DepthwiseKernelsTest.EdgesOfMatrixTiles*/emulated32:*DepthwiseKernelsTest.InfiniteSamples*/emulated32"
LONG_ROWS = "*DepthwiseKernelsTest.LongRowsOfChannels/emulated32"
BACKWARD_NAMES = ("SequenceIds", "SeveralBlocks", "EveryChoice*", "EdgesOfTiles", "RealNumbers*", "StridesBeyond*", "NansStay*", "TheRestIs*",
                  "PaddingMayHoldNan")
BACKWARD = ":".join(f"*DepthwiseBackward*Test.{name}/emulated32" for name in BACKWARD_NAMES)
BACKWARD_KERNELS = "*DepthwiseBackwardKernelsTest.*/emulated32"
NATIVE_BACKWARD = BACKWARD.replace("emulated32", "cpu")
SEQUENCES = "*DepthwiseSequenceTest*/emulated32:*DepthwiseVarlenTest*/emulated32:*DepthwiseBlockTest*/emulated32"
OUTPUT_GAPS = "OutputGapsTest.*"
OVERLAP = "*Overlap*/cpu"
FUSED = "*DirectConvTest*/emulated32:*ConvPlan*/emulated32"
VIEW = "StridedGemms.*:*ConvPlan*/cpu:*ConvPlan*/emulated32"
COPY = "*PermuteTest*/emulated32:*PermutePeerBugsTest*/emulated32:*PermuteFarTest*/emulated32:"\
    "*Cast*/emulated32:*CandidatesTest.AreAllRight/emulated32"
SCALE = "*CopyScaleTest*/emulated32"
SLOTS = "*CopyIndirectTest*/emulated32"
ROWS = "*RowsTest.*/emulated32"
SHAPES = "*CopyTest*/emulated32:*CopyRowsTest*/emulated32"
NATIVE_COPY = f"{COPY}:{SHAPES}".replace("emulated32", "cpu")
NEST = f"CopyNest.*:{SHAPES}"
ELEMENTWISE = ":".join(f"*Elementwise{name}/emulated32" for name in (
    "ErrorTest*", "OptionsTest*", "PlanTest*", "ProgramTest*", "LayoutTest*", "TypesTest*", "Test.RoundsAsAsked",
    "Test.EveryOperationOfTwo*"))
STRIPS = "ElementwiseStrips.*"
FUNCTIONS = "*ElementwiseFunctionsTest.*/emulated32"
SECOND_ELEMENTS = "*ElementwiseTest.*EverySecondElement/emulated32"
HALF_STRIPS = "*SmallProblemsTest.*HalfStrips/emulated32"
FLAT = "*ElementwiseFlatTest*/emulated32:ElementwiseFlat.*"
CHUNKS = "*ElementwiseChunksTest*/emulated32"
BYTE_TABLE = "ByteTable*:*ByteTableTest*/emulated32"
QUANTIZED = ":".join(f"*Quantized{name}/emulated32" for name in (
    "ErrorTest*", "StripsTest*", "Test.Ch*", "Test.CodesWithFloats", "Test.Converts*", "Test.Reversed*"))
BEYOND_CODES = "*QuantizedTest.ResultsFarBeyondTheCodes/emulated32"
PAIRS_OF_CODES = "*QuantizedTest.EveryPair*/emulated32"
CODE_VECTORS = "*QuantizedVectorsTest*/emulated32"
MEASURE = "*MeasureTest*/cpu:*MeasureTest*/emulated32:*PlanCacheTest*/emulated32:*CopyTimerTest*/emulated32"

REDISTRIBUTE = "BoxMovesTest.*:LinkModelTest.*:RedistributeChunksTest.*:*RedistributeTest*/cpu:*RedistributeErrorTest*/cpu"
REDISTRIBUTE_ORDER = "RedistributeOrderTest.*"
REDISTRIBUTE_NCCL = "*RedistributeNcclTest*/cpu"
REDISTRIBUTE_WINDOW = "*RedistributeWindowTest*/cpu"
REDISTRIBUTE_WORKSPACE = "*RedistributeWorkspaceTest*/cpu"
SIGNALS = "*SignalsTest*/emulated32"

MUTANTS = mutants_of("window", "kernels/window/window.cpp", WINDOW, [
    ("pad_row_off_by_one", "p.stride + index.tap * p.dilation - @p.pad_left@;", "p.pad_left - 1"),
    ("replicate_for_zero", "pad_index(@p.mode@, time, p.length, p.reflect_length)",
     "p.mode == PadMode::constant ? PadMode::replicate : p.mode"),
    ("taps_flipped", "p.stride + @index.tap * p.dilation@ - p.pad_left;", "(p.taps - 1 - index.tap) * p.dilation"),
    ("last_position_tile_dropped", "place.positions = positions < p.tile_positions ? @static_cast<int>(positions)@ :",
     "place.first_position > 0 ? 0 : static_cast<int>(positions)"),
    ("last_channel_tile_dropped", "place.channels = channels < p.tile_channels ? @static_cast<int>(channels)@ :",
     "place.first_channel > 0 ? 0 : static_cast<int>(channels)"),
    ("last_output_dropped", "static_cast<std::int64_t>(place.positions) * place.channels * p.taps",
     "static_cast<std::int64_t>(place.positions) * place.channels * p.taps - 1"),
    ("batch_stride_0", "batch * p.in_batch", "std::int64_t{0}"),
    ("guard_byte_written", "@static_cast<To*>(p.out) + place.out_base@;",
     "mutant::spilled(static_cast<To*>(p.out) + place.out_base + (place.positions - 1) * p.out_position + "
     "(p.taps - 1) * p.out_tap + (place.channels - 1) * p.out_channel, 1) - (place.positions - 1) * p.out_position - "
     "(p.taps - 1) * p.out_tap - (place.channels - 1) * p.out_channel"),
]) + mutants_of("window_tile", "kernels/window/window_tile.cpp", WINDOW, [
    ("pad_row_off_by_one", "p.stride - @p.pad_left@;", "p.pad_left + 1"),
    ("halo_one_short", "@static_cast<int>((p.taps - 1) * p.dilation) + 1@;",
     "static_cast<int>((p.taps - 1) * p.dilation)"),
    ("batch_stride_0", "batch * p.in_batch", "std::int64_t{0}"),
    ("positions_before_the_tile_dropped", "bounds.lower = position == 0 ? 0 : @-t.positions_before@;", "0"),
    ("last_channel_tile_not_cut", "p.channels - channel < p.tile_channels ? @p.channels - channel@ : p.tile_channels",
     "std::int64_t{p.tile_channels}"),
    ("last_position_not_cut", "bounds.rest = static_cast<int>(@rest < p.tile_positions@ ?", "false"),
    ("word_of_cut_line_stored_whole", "const bool whole = @word.present == word.kAll@;", "true"),
    ("words_of_cut_lines_not_looked_for", "if (kCount > 1 && @any_beside(!whole)@)", "false"),
    ("elements_of_cut_words_dropped", "const unsigned single = whole ? 0 : @word.present@;", "0"),
    ("places_left_behind", "for (int& place : places) place += @units * source_step@;", "source_step"),
    ("first_unit_of_the_signal_not_cut", "const int begin = @!along_channels && word.first < bounds.lower ? 1 : 0@,", "0"),
    ("last_unit_of_channels_not_cut", "room = along_channels ? @bounds.channels - word.channel@", "p.tile_channels"),
]) + mutants_of("window_tile_shape", "host/plan/window/window_tile_shape.cpp", "WindowTile.*", [
    ("taps_meet_in_banks", "if (@!tap_inner_ || word_ % p_.taps == 0@) return true;", "true"),
    ("rows_off_packs", "pitch < most && !spreads_taps(pitch)) pitch += @pack_@;", "1"),
]) + mutants_of("window_word", "kernels/window/window_word.hpp", WINDOW, [
    ("taps_flipped", "+ @tap * static_cast<int>(p.dilation)@)",
     "(static_cast<int>(p.taps) - 1 - tap) * static_cast<int>(p.dilation)"),
    ("channel_and_tap_swapped", "tap = @p.order == WriteOrder::tap@ ? fastest : outer;",
     "p.order == WriteOrder::channel"),
    ("position_not_counted_on", "further |= @passed@ << (2 * i);", "0 * passed"),
    ("positions_of_units_of_channels_not_cut", "cut(alike ? @first - bounds.lower@ : 0,", "0"),
    ("line_cut_late", "const bool exists = begin + i >= 0 && begin + i < @count@;", "count + 1"),
]) + mutants_of("window_fill", "kernels/window/window_fill.hpp", WINDOW, [
    ("nan_times_zero", "if (run.source < 0) return fill_constant(rows, tile, @padding@);",
     "mutant::plus_zero_times(padding, p.length == 0 ? To{} : convert<To>(in[0]))"),
    ("last_packs_dropped", "FillWalk walk(r.rows, @r.count / N@);", "r.count / N - (r.count >= 2 * N)"),
    ("ends_of_rows_dropped", "if (!@whole@) fill_ends<kWide>", "true"),
    ("elements_before_a_pack_dropped", "if (column < N - 1) return @column < head@ ? column : -1;", "false"),
    ("mirrored_forwards", "rows.tile_column_step = @-t.time_pitch@;", "t.time_pitch"),
    ("truncating_cast", "tile[place[load] + i * r.tile_column_step] = convert<To>(@packs[load].value(i)@);",
     "mutant::truncated(packs[load].value(i))"),
    ("truncating_cast_of_packs", "pack.values[i] = convert<To>(@value(i)@);", "mutant::truncated(value(i))"),
    ("saturating_cast", "tile[place[load]] = @convert<To>(values[load])@;",
     "mutant::saturated(convert<To>(values[load]))"),
]) + mutants_of("window_vector", "kernels/window/window_vector.cpp", IMG2COL, [
    ("pad_row_off_by_one", "needed = @position * p.stride - p.pad_left@;", "position * p.stride - p.pad_left + 1"),
    ("vector_beyond_the_end", "time >= 0 && @time + kSamples <= end@)", "time < end"),
    ("replicate_for_zero_along_time", "pad_index(@p.mode@, time + step, p.length, p.reflect_length)",
     "p.mode == PadMode::constant ? PadMode::replicate : p.mode"),
    ("replicate_for_zero_along_channels", "pad_index(@p.mode@, place.first + sample, p.length, p.reflect_length)",
     "p.mode == PadMode::constant ? PadMode::replicate : p.mode"),
    ("nan_times_zero_along_time",
     "column.values[channel] = @padding@; } store_vector(tile + slot_of<To>(p, sample + step,",
     "p.length == 0 ? padding : mutant::plus_zero_times(padding, convert<To>("
     "row[channel * p.in_channel + (time + step < 0 ? 0 : p.length - 1) - time]))"),
    ("nan_times_zero_along_channels",
     "column.values[channel] = @padding@; } store_vector(tile + slot_of<To>(p, sample, pack",
     "p.length == 0 ? padding : mutant::plus_zero_times(padding, convert<To>("
     "in[(place.first + sample < 0 ? 0 : p.length - 1) * p.in_time + channel]))"),
    ("taps_flipped_tap_outer", "slot_of<To>(p, @sample + tap * dilation@, pack, vector)",
     "sample + (taps - 1 - tap) * dilation"),
    ("last_position_tile_dropped", "p.positions - position < p.tile_positions ? @p.positions - position@ :",
     "position > 0 ? 0 : p.positions - position"),
    ("last_channel_tile_dropped", "p.channels - channel < p.tile_channels ? @p.channels - channel@ :",
     "channel > 0 ? 0 : p.channels - channel"),
    ("last_tap_dropped", "for (int tap = 0; @tap < taps@; ++tap)", "tap < taps - (taps > 1)"),
    ("halo_one_short", "@static_cast<int>((p.taps - 1) * p.dilation) + 1@;",
     "static_cast<int>((p.taps - 1) * p.dilation)"),
    ("offset_not_taken_off", "place.first = @needed - place.offset@;", "needed"),
    ("inside_begins_early", "@place.first >= 0@ &&", "place.first >= -vector"),
    ("inside_ends_late", "place.first + p.tile_samples <= @p.length@;", "p.length + 1"),
    ("group_ignored", "group * p.channels + channel", "channel"),
    ("batch_stride_0", "batch * p.in_batch", "std::int64_t{0}"),
    ("batch_offset_in_32_bits", "batch * p.in_batch", "mutant::wrapped(batch * p.in_batch)"),
    ("row_offset_in_32_bits", "@position * p.out_position@; place.positions",
     "mutant::wrapped(position * p.out_position)"),
    ("truncating_cast", "convert<To>(@rows[channel].values[step]@)", "mutant::truncated(rows[channel].values[step])"),
    ("saturating_cast", "@convert<To>(rows[channel].values[step])@",
     "mutant::saturated(convert<To>(rows[channel].values[step]))"),
    ("saturating_cast_at_the_ends", "@convert<To>(row[channel * p.in_channel + (source - time)])@",
     "mutant::saturated(convert<To>(row[channel * p.in_channel + (source - time)]))"),
    ("saturating_cast_along_channels", "convert<To>(values.values[i])",
     "mutant::saturated(convert<To>(values.values[i]))"),
    ("guard_byte_written", "To* row = @out + position * p.out_position@;",
     "mutant::spilled(out + position * p.out_position + (taps - 1) * p.out_tap, kChannels) - (taps - 1) * p.out_tap"),
]) + mutants_of("pad_rows", "kernels/window/pad_rows.cpp", "*Pad*/emulated32", [
    ("pad_row_off_by_one", "? @begin_of(0) - p.pad_left@ : 0;", "begin_of(0) - p.pad_left + 1"),
    ("replicate_for_zero", "source = pad_index(@p.mode@, position",
     "p.mode == PadMode::constant ? PadMode::replicate : p.mode"),
    ("batch_stride_0", "batch * p.in_batch", "std::int64_t{0}"),
    ("batch_offset_in_32_bits", "batch * p.in_batch", "mutant::wrapped(batch * p.in_batch)"),
    ("last_pack_dropped", "const std::int64_t end = @block_end < packs.end ? block_end : packs.end@;",
     "(block_end < packs.end ? block_end : packs.end) - 1"),
    ("last_element_dropped", "i < @elements@;", "elements - 1"),
    ("bytes_not_shifted", "const unsigned bits = @static_cast<unsigned>(offset) % 4 * 8@;", "0u"),
    ("pr_ignored", "const std::int64_t end = @source_end < p.positions ? source_end : p.positions@;",
     "source_end"),
    ("guard_byte_written", "row.out[@position@]", "mutant::spilled(row.out + position, 1) - row.out"),
]) + mutants_of("pad_rows", "kernels/window/pad_rows.cpp", "*RandomRowsWithPadding/emulated32", [
    ("padding_not_reversed", "backwards = @run.step < 0@;", "false"),
    ("bytes_not_reversed", "@permute_bytes<0x0123>(word, word)@", "word"),
    ("wide_elements_not_reversed", "words.values[@i ^ kSwapped@]", "i ^ 3"),
    ("constant_is_the_first_sample", "run.source < 0 ? @padding@", "in[0]"),
    ("padding_passed_twice", "if (packs.count() > 0 && @position >= packs.begin * kCount - row.lead@)", "position > packs.begin * kCount - row.lead"),
    ("third_pack_dropped", "pack += @kTogether * threads@", "2 * kTogether * threads"),
]) + mutants_of("window_plan", "host/plan/window/window_plan.cpp", "*Pad*/emulated32", [
    ("last_packs_dropped", "p.block_packs = @divide_up(packs, copy_blocks)@;", "packs / copy_blocks"),
]) + mutants_of("gemm", "kernels/conv/gemm.cpp", "*Gemm*/emulated32", [
    ("last_m_tile_dropped", "if (m >= @p.m@ ||", "p.m > kTile ? p.m / kTile * kTile : p.m"),
    ("last_n_tile_dropped", "|| n >= @p.n@) continue;", "p.n > kTile ? p.n / kTile * kTile : p.n"),
    ("last_k_tile_dropped", "first_k + k < @depth@;", "depth > kDepth ? depth / kDepth * kDepth : depth"),
    ("fp16_accumulation",
     "sums[i][j] = @fmaf(slice_a[k][row + i * kSide], slice_b[k][column + j * kSide], sums[i][j])@;",
     "mutant::through_f16(fmaf(slice_a[k][row + i * kSide], slice_b[k][column + j * kSide], sums[i][j]))"),
    ("nan_times_zero", "first_k + k]) : @0.0f@;",
     "(first_row + row) * pitch + first_k + k < (rows - 1) * pitch + depth "
     "? 0.0f * convert<float>(operand[(first_row + row) * pitch + first_k + k]) : 0.0f"),
    ("batch_stride_0", "group * p.a_group", "std::int64_t{0}"),
    ("weights_of_the_first_group", "group * p.b_group", "std::int64_t{0}"),
    ("row_offset_in_32_bits", "@(first_row + row) * pitch@ + first_k + k]",
     "mutant::wrapped((first_row + row) * pitch)"),
    ("result_offset_in_32_bits", "y[@m * p.ldc@ + n]", "mutant::wrapped(m * p.ldc)"),
    ("truncating_cast", "convert<Out>(@sums[i][j] + bias@)", "mutant::truncated(sums[i][j] + bias)"),
    ("saturating_cast", "convert<Out>(sums[i][j] + bias)", "mutant::saturated(convert<Out>(sums[i][j] + bias))"),
    ("two_roundings", "convert<Out>(@sums[i][j] + bias@)", "mutant::through_f16(sums[i][j]) + bias"),
    ("guard_byte_written", "Out* y = @static_cast<Out*>(p.y) + group * p.y_group@;",
     "mutant::spilled(static_cast<Out*>(p.y) + group * p.y_group + (p.m - 1) * p.ldc + p.n - 1, 1) - "
     "(p.m - 1) * p.ldc - p.n + 1"),
]) + mutants_of("tile_place", "kernels/copy/tile_coordinates.hpp", COPY, [
    ("last_tile_not_cut", "left < axis.tile ? @left@ : axis.tile;", "axis.tile"),
    ("last_tile_dropped", "left < axis.tile ? @left@ : axis.tile;", "0u"),
    ("overlapped_tile_not_cut", "@behind <= 1@ && left", "behind < 1"),
    ("batch_stride_0", "place.in += @tile * p.grid[k].in@;", "k == 2 ? 0 : tile * p.grid[k].in"),
    ("batch_offset_in_32_bits", "place.in += @tile * p.grid[k].in@;", "mutant::wrapped(tile * p.grid[k].in)"),
    ("result_offset_in_32_bits", "place.out += @tile * p.grid[k].out@;", "mutant::wrapped(tile * p.grid[k].out)"),
    ("no_tile_is_the_first", "place.first = @tile == 0@;", "tile == 1"),
]) + mutants_of("divide", "kernels/divide.hpp", COPY, [
    ("division_rounds_down", "return (@__umulhi(index, multiplier) + index@) >> shift;",
     "__umulhi(index, multiplier - 1) + index"),
]) + mutants_of("tile_read", "kernels/copy/tile_read.hpp", COPY, [
    ("last_vector_dropped", "first >= @base.read_elements@) return nullptr",
     "base.read_elements - vector_count<From> + 1"),
    ("one_row_too_few", "if (row >= @p.read_rows@ ||", "p.read_rows - 1"),
    ("truncating_cast", "Store::template read<To>(p, @pack.values[piece * kPiece + i]@)",
     "mutant::truncated(pack.values[piece * kPiece + i])"),
    ("saturating_cast", "vector.values[i] = @Store::template read<To>(p, pack.values[piece * kPiece + i])@;",
     "mutant::saturated(Store::template read<To>(p, pack.values[piece * kPiece + i]))"),
]) + mutants_of("unaligned", "kernels/copy/unaligned.hpp", COPY, [
    ("bytes_not_shifted", "__funnelshift_r(words[i], words[i + 1], @offset % 4 * 8@)", "0u"),
    ("word_not_shifted", "@offset & 4@ ?", "0u"),
    ("two_words_not_shifted", "@offset & 8@ ?", "0u"),
    ("second_word_not_read", "if (@offset != 0@) load_global", "false"),
]) + mutants_of("parts", "kernels/copy/unaligned.hpp", COPY, [
    ("second_part_is_the_first", "const Part part = parts[@i@];", "0"),
]) + mutants_of("shifted_load", "kernels/copy/unaligned.hpp", "*QuantizedVectorsTest.*/emulated32", [
    ("bytes_not_shifted", "parts.values[i + 1] : last, @offset * 8@)", "0u"),
    ("word_behind_not_read", "last = aligned[@offset == 0 ? 3 : 4@];", "3"),
]) + mutants_of("tile_layout", "core/tile_layout.hpp", COPY, [
    ("rows_in_order", "(@row % blocks * rows_per_block + row / blocks@) * pitch", "row"),
]) + mutants_of("tile_read_groups", "kernels/copy/tile_read_groups.hpp", COPY, [
    ("rows_of_a_group_swapped", "apart[i] = rows[@i % kGroup@]", "(i + 1) % kGroup"),
    ("converted_rows_swapped", "words[c] |= small_bits(value) << (@row@ * 8", "(kGroup - 1 - row)"),
]) + mutants_of("tile_read_words", "kernels/copy/tile_read_words.hpp", COPY, [
    ("last_words_left_out", "if (vector * 16 >= @offset + bytes@) continue", "bytes"),
    ("word_beside_its_place", "positions[i] + @(k + turn) % 4 * 4@;", "k * 4"),
    ("rows_run_over", "if (@at < bytes@) *", "at < bytes + 8"),
]) + mutants_of("tile_write_scattered", "kernels/copy/tile_write_scattered.hpp", COPY, [
    ("end_of_a_run_as_a_whole", "first >= 0 && @first + kCount <= elements@)", "true"),
    ("begin_of_a_run_as_a_whole", "if (@first >= 0@ && first + kCount", "true"),
    ("periods_in_one_place", "item.run.place + period * @p.period_step@,", "0u"),
    ("second_chunk_left_out", "tile_place_of_chunk(index / kChunk + @i@, chunks, kVector)", "i * 0"),
    ("copies_of_places_alike", "@index % kChunk@ * chunks", "0"),
]) + mutants_of("held_elements", "kernels/copy/tile_write.hpp", COPY, [
    ("first_of_a_vector_for_all", "*reinterpret_cast<const From*>(source + @i * p.element_step@);", "0"),
    ("bits_of_the_first", "Store::template read<To>(p, @held.values[i]@);", "held.values[0]"),
]) + mutants_of("held_elements_scattered", "kernels/copy/tile_write_scattered.hpp", COPY, [
    ("second_of_a_pair_is_the_first", "*reinterpret_cast<const From*>(source + @(pairs[i / 2] >> 16)@);", "(pairs[i / 2] & 0xffff)"),
]) + mutants_of("held_places", "kernels/copy/tile_tables.hpp", COPY, [
    ("places_of_converted_elements", "scattered_row(p, element.row) + element.column * @kSize@;", "static_cast<int>(sizeof(To))"),
]) + mutants_of("tile_write_unaligned", "kernels/copy/tile_write_unaligned.hpp", COPY, [
    ("run_without_its_end", "end = @static_cast<int>(left - first)@;", "static_cast<int>(left - first) - 1"),
    ("heads_left_out", "static_cast<int>(@misalignment_of(address)@) -", "0u"),
    ("head_from_the_run_s_begin", "static_cast<std::uint32_t>(@first + begin@));", "begin"),
    ("no_wrap", "place.block + word >= Layout::kBlocks ? @p.element_wrap@ : 0", "0u"),
    ("word_behind_left_out", "place.element != 0 ? @*reinterpret_cast<const std::uint32_t*>(word_at(4))@ : 0", "0u"),
    ("guard_byte_written", "end = @static_cast<int>(left - first)@;", "static_cast<int>(left - first) + 1"),
]) + mutants_of("tile_tables", "kernels/copy/tile_tables.hpp", COPY, [
    ("runs_outside_kept", "if (@!exists@) entry.place", "false"),
    ("unaligned_run_begins_too_early", "{run.elements() + @static_cast<std::int32_t>(misalignment)@,",
     "static_cast<std::int32_t>(misalignment) - 1"),
    ("one_row_for_two", "walk(p.read_rest, @i@);", "i / 2 * 2"),
]) + mutants_of("word_transpose", "kernels/copy/word_transpose.hpp", COPY, [
    ("halves_swapped", "runs[0].values[k] = @permute_bytes<0x5410>(words[2 * k], words[2 * k + 1])@;",
     "permute_bytes<0x1054>(words[2 * k], words[2 * k + 1])"),
    ("bytes_swapped", "runs[3].values[k] = @permute_bytes<0x7632>(high01, high23)@;",
     "permute_bytes<0x3276>(high01, high23)"),
]) + mutants_of("stream", "kernels/copy/stream.cpp", "*StreamTest.*/emulated32", [
    ("end_left_out", "left = @p.elements - element@;", "p.elements - element - 1"),
    ("guard_byte_written", "if (@i < left@) to[i] = rest[i];", "i < left + 1"),
    ("last_vector_whole", "if (element + kCount > @p.elements@) {", "p.elements + 1"),
    ("short_lanes_repeat_the_first", "from = row.in + @element@ * static_cast", "(element - first)"),
]) + mutants_of("stream_row", "kernels/copy/stream_row.hpp", "*StreamTest.*/emulated32", [
    ("rows_of_the_first", "row.in += @index * p.axes[axis].in@;", "0 * index"),
    ("row_begins_anew", "row.block = @rest@;", "0 * rest"),
]) + mutants_of("stream_unaligned", "kernels/copy/stream_unaligned.cpp", "*StreamTest.*/emulated32", [
    ("last_element_dropped", "rest = @p.elements - first@;", "p.elements - first - 1"),
    ("second_vector_repeats_the_first", "pieces[v].start(p, from + @v * step * static_cast<int>(sizeof(T))@,", "0"),
    ("front_of_the_row_written", "if (@i >= front@ && i < left) to", "true"),
    ("rows_begin_with_a_vector", "threadIdx.x} * kCount - @before@,", "0"),
    ("elements_near_the_ends_dropped", "if (@i >= begin && i < end@) put_bits", "i > begin && i < end"),
]) + mutants_of("gather", "kernels/copy/gather.cpp", COPY, [
    ("last_block_dropped", "left = @p.elements@ - first",
     "p.elements > threads ? p.elements / threads * threads : p.elements"),
    ("batch_stride_0", "in[i] += @numbers[i] * static_cast<Sum>(axes[0].in)@;",
     "rank > 1 ? 0 : numbers[i] * static_cast<Sum>(axes[0].in)"),
    ("outermost_axis_left_out", "out[i] += @numbers[i] * static_cast<Sum>(axes[0].out)@;", "Sum{0}"),
    ("elements_converted_alike", "piece.values[i] = @values[i].bits@;", "values[0].bits"),
    ("guard_byte_written", "To* const address = @to + static_cast<Offset>(out[i])@;",
     "mutant::spilled(to + static_cast<Offset>(out[i]), 1)"),
]) + mutants_of("order_traffic", "host/plan/copy/order_traffic.cpp", "LinesOfAccess.*", [
    ("a_line_for_each_lane", "if (@std::find(lines, lines + count, line) == lines + count@) lines", "true"),
    ("an_axis_goes_on_for_ever", "offset += @(next - index[axis])@ * strides[axis];", "carry"),
]) + mutants_of("rows_look_ups", "host/plan/copy/rows_candidate.cpp", "LinesOfAccess.*", [
    ("lines_cost_nothing", "time_together({memory, issued, @looked_up@,", "0.0"),
]) + mutants_of("device_rates", "host/plan/device_rates.cpp", "DeviceRates.*", [
    ("times_in_turn", "const double square = @time / longest * (time / longest)@,", "1.0"),
]) + mutants_of("gather_candidate", "host/plan/copy/gather_candidate.cpp", COPY, [
    ("offset_in_32_bits", "if (@in_reach > kMax@ ||", "false"),
    ("result_offset_in_32_bits", "|| @reach(problem.nest, 0) > kMax@)", "false"),
]) + mutants_of("wide_elements", "host/plan/copy/gather_candidate.cpp", "*SmallProblemsTest.MoveNeighbours*/emulated32", [
    ("neighbours_of_misaligned_inputs", "&& @problem.in.alignment % (count * size) == 0@ &&", "true"),
    ("neighbours_of_cut_rows", "whole = @nest.extents[last] % count == 0@ &&", "true"),
    ("neighbours_of_rows_apart", "whole && @nest.strides[0][axis] % count == 0@ &&", "true"),
    ("rows_of_neighbours_as_long", "wide.nest.extents[last] /= @count@;", "std::int64_t{1}"),
]) + mutants_of("convert_bits", "core/convert_bits.hpp", CONVERSION, [
    ("ties_away_from_zero", "(kept & @cast.ties_to_even@)", "Word{0}"),
    ("directed_rounding_without_the_sign", "(@parts.negative@ ? cast.round_above[1] : cast.round_above[0])", "false"),
    ("subnormals_as_normal_numbers", "kTop - fraction_bits + @(normal - field)@", "0"),
    ("last_bit_forgotten", "value = @magnitude >> 1 | (magnitude & 1)@;", "magnitude >> 1"),
    ("next_to_nothing_is_nothing", "value = @1@; } const Word kept", "Word{0}"),
    ("zero_without_its_sign", "static_cast<Word>(@negative@) << (to.bits - 1)", "negative && magnitude != 0"),
    ("infinity_for_nan", "is_nan ? @static_cast<Word>(cast.nan)@ :", "convert::chosen<Word>(cast.infinity, sign)"),
    ("nan_of_e4m3fn_is_a_number", "(@from.has_infinity@ ? 1 : 0)", "true"),
    ("largest_for_infinity", "chosen<Word>(@cast.overflow@, negative)", "cast.limit"),
    ("bytes_of_bool_as_numbers", "bits = @bits != 0 ? 1 : 0@;", "bits"),
    ("integers_without_their_sign", "bits |= @~Word{0} << (from.bits - 1)@;", "Word{0}"),
    ("tf32_in_the_low_bits", "<< @to.low_zeros@;", "0"),
    ("upper_half_of_u32_lost", "field == 1 ? @value << 1@ :", "value"),
    ("infinity_is_not_far_from_integers", ": @~Word{0}@; } return", "value"),
    ("wraps_where_it_should_saturate", "@cast.saturate@ ? convert::limited", "false"),
]) + mutants_of("convert_bits", "core/convert_bits.hpp", ELEMENTWISE, [
    ("zero_is_false_only_without_a_sign", "floating ? @bits & ((Word{1} << (from.bits - 1)) - 1)@ : bits",
     "(to.kind == NumberKind::boolean ? bits : bits & ((Word{1} << (from.bits - 1)) - 1))"),
]) + mutants_of("quick_read", "kernels/copy/quick_read.hpp", CONVERSION, [
    ("sign_not_extended", "static_cast<Held>(static_cast<Int>(element_bits<T>(words, i)))",
     "static_cast<Held>(element_bits<T>(words, i))"),
    ("second_of_a_pair_repeats_the_first", "values[i + k] = with_sign_of(number, @k == 0 ? word << 16 : word@);",
     "word << 16"),
    ("f64_rounded_twice", "to_f32 ? static_cast<float>(value) : @odd_float(value)@,", "static_cast<float>(value)"),
    ("integers_rounded_twice", "const float result = @odd_float(magnitude)@;", "static_cast<float>(magnitude)"),
    ("nan_of_e4m3fn_is_480", "number = @value == 480.0f ? __uint_as_float(0x7fc00000u) : value@;", "value"),
]) + mutants_of("quick_write", "kernels/copy/quick_write.hpp", CONVERSION, [
    ("nan_is_the_least_integer", "number = @values[i] == values[i] ? values[i] : 0.0f@;",
     "values[i] == values[i] ? values[i] : least"),
    ("no_least_integer", "fminf(@fmaxf(number, least)@, most)", "number"),
    ("no_largest_integer", "value = @fminf(fmaxf(number, least), most)@;", "fmaxf(number, least)"),
    ("ties_of_fp8_away_from_zero", "(1u << (kDropped - 1)) - 1 + @(magnitude >> kDropped & 1)@)", "1"),
    ("fp8_not_saturated", "limited = @normal < kLargest ? normal : kLargest@;", "normal"),
    ("subnormals_of_fp8_as_normal_numbers", "(@magnitude < kLeastNormal@ ? subnormal : limited)", "false"),
    ("nan_without_its_sign", "(word & ~(kAll << at)) | (@sign | nan@) << at", "nan"),
    ("tf32_truncated", "(bits + @0xfff + (bits >> 13 & 1)@) & ~0x1fffu", "0"),
    ("no_end_of_large_integers", "return @above@ ? kMax :", "false"),
]) + mutants_of("rows_kernel", "kernels/copy/rows_kernel.hpp", ROWS, [
    ("first_vector_whole", "begin = @element < 0 ? before : 0@,", "0"),
    ("last_vector_whole", "end = @left < kCount ? static_cast<int>(left) : kCount@;", "kCount"),
    ("rows_of_the_first_run", "row = @run * p.run_rows@;", "0"),
    ("one_run_for_all", "out += @run * p.axes[axis].out@;", "0"),
    ("table_from_a_later_row", "number > 0 ? @number * kCount - (kCount - 1)@ : 0", "number * kCount"),
    ("middle_axes_ignored", "offset += @index * p.axes[axis].in@;", "0"),
    ("outermost_axis_ignored", "table[i] = @offset + index * p.axes[0].in@;", "offset"),
    ("table_cut_short", "i < @p.table_rows@ &&", "p.table_rows / 2"),
    ("no_second_row", "address = @in + table[++row]@;", "address + 0 * row"),
    ("second_piece_repeats_the_first", "other = @in + table[vector.row + 1] - at * kSize@;", "address"),
    ("pieces_meet_an_element_late", "split_at = @at * kSize@;", "(at + 1) * kSize"),
    ("guard_byte_written", "if (@i >= vector.begin && i < vector.end@) address[i]", "i < vector.end + 1"),
]) + mutants_of("rows_piece", "kernels/copy/rows_piece.hpp", ROWS, [
    ("second_word_not_read", "if (begin < end && @offset + end > kBytes@) high", "false"),
    ("bytes_not_shifted", "@static_cast<std::uint32_t>(offset) % 4 * 8@)", "0u"),
    ("words_not_shifted", "both[i] = @(offset & 4 * by) != 0 ? there : here@;", "here + 0 * there"),
]) + mutants_of("rows_lanes", "kernels/copy/rows_lanes.cpp", ROWS, [
    ("outputs_in_one_row", "origin.out += @index * p.axes[axis].out@;", "0 * index"),
    ("rows_of_the_first_block", "std::uint32_t index = @first + i@;", "i"),
    ("last_row_without_an_origin", "split(last, p.axes[p.rank - 1].extent) + @1@, table", "0"),
    ("steps_ignored", "column + kReach < extent.value && @step == sizeof(T)@;", "true"),
    ("next_row_in_the_first", "one_row = @whole && column + kReach < extent.value@ &&", "whole"),
    ("last_element_dropped", "if (@element + i * kRowsChunkLanes < elements@) store_global", "element + i * kRowsChunkLanes + 1 < elements"),
    ("chunks_overlap", "chunk * (@kCount * kRowsChunkLanes@) + lane", "kRowsChunkLanes"),
    ("second_step_repeats_the_first", "++step, element += @kStep@)", "0"),
]) + mutants_of("cast_table", "kernels/copy/cast_table.hpp", CONVERSION, [
    ("table_of_the_first_words", "bytes = 0x03020100u + @i * 0x04040404u@;", "i % 32 * 0x04040404u"),
    ("second_byte_repeats_the_first", "permute_bytes<0x5140>(table[word & 0xff], table[@word >> 8 & 0xff@]);", "word & 0xff"),
    ("upper_half_repeats_the_lower", "words[i] = permute_bytes<0x5410>(low, @high@);", "low + 0 * high"),
]) + mutants_of("stream_cast", "kernels/copy/stream_cast.cpp", CONVERSION, [
    ("last_element_dropped", "left = @p.elements - element@;", "p.elements - element - 1"),
    ("second_piece_repeats_the_first", "load_piece(piece, @in + element@, left);", "in + first"),
    ("short_piece_of_quick_ones_dropped", "if (@whole_are_done && left >= kCount@) continue;", "whole_are_done"),
    ("whole_pieces_of_the_last_block_dropped", "if (@!kWhole && left(step) < kCount@) continue;", "!kWhole"),
    ("quick_pieces_repeat_the_first", "load_global(pieces[step], @in + (first + step * kStride)@);", "in + first"),
]) + mutants_of("tile_generic_cast", "kernels/copy/tile_generic_cast.hpp", CONVERSION, [
    ("pieces_in_one_place", "target + @piece % kPieces * 16@", "0"),
    ("pieces_do_not_move_up", "words.values[i] = @words.values[i + kShift / 4]@;", "words.values[i]"),
]) + mutants_of("native_truncation", "host/cpu/copy/truncated_rows.cpp", NATIVE_CONVERSION, [
    ("large_numbers_wrap", "near > Float{kMax} ? @Float{kMax}@ : near", "near"),
    ("nan_is_the_least_integer", "Float near = @value == value ? value : Float{0}@; near = near < Float{kMin}",
     "value == value ? value : Float{kMin}"),
    ("large_integers_wrap", "return @above@ ? kMax : result;", "false"),
    ("large_u64_wrap", "number = @shift > 63 - kFraction@ ? ~std", "false"),
    ("negative_u64_by_their_size", "return @bits != magnitude || value != value@ ? 0 : number;", "value != value"),
    ("nan_is_packed", "_mm256_and_ps(value, @_mm256_cmp_ps(value, value, _CMP_ORD_Q)@)",
     "_mm256_cmp_ps(value, value, _CMP_TRUE_UQ)", True),
    ("first_eight_twice", "second = truncated_eight<Int>(@from + 8@);", "from", True),
    ("u32_shifted_for_ever", "_mm_xor_si128(shifted, @_mm_set1_epi32(std::numeric_limits<std::int32_t>::min())@)",
     "_mm_setzero_si128()", True),
]) + mutants_of("native_cast_loops", "host/cpu/copy/cast_loops.cpp", NATIVE_CONVERSION, [
    ("nan_of_e4m3fn_is_480", "half = @magnitude > most@ ?", "false"),
    ("not_scaled", "to[i] = @256.0f * from[i]@;", "from[i]"),
    ("second_line_of_fp8_repeats_the_first", "static_cast<const std::uint8_t*>(in) + @i@, halves", "0 * i"),
    ("dropped_bits_of_words_forgotten", "static_cast<Word>(@(bits | ((bits & 0xff) + 0xff))@ & ~std", "bits"),
    ("dropped_bits_of_long_words_forgotten", "bits = @(bits | ((bits & kDropped) + kDropped))@ & ~kDropped;", "bits"),
    ("all_words_joined", "static_cast<float>(@held@ ? value : joined)", "false"),
    ("f64_rounded_twice", "return float_of(@back < value || back > value ? lower | 1 : bits@);", "bits"),
    ("nan_of_tf32_with_its_payload", "to[i] = @from[i] != from[i]@ ?", "false"),
    ("tf32_truncated", "rounded = @(bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu@;", "bits & ~0x1fffu"),
    ("ties_of_fp8_away_from_zero", "(1u << (kDropped - 1)) - 1 + @(magnitude >> kDropped & 1)@)", "1"),
    ("fp8_not_saturated", "limited = @normal < kMax ? normal : kMax@;", "normal"),
    ("subnormals_of_fp8_as_normal_numbers", "number = @magnitude < kLeastNormal@ ? subnormal", "false"),
]) + mutants_of("native_integers", "host/cpu/element_rows.cpp", NATIVE_CONVERSION, [
    ("signs_of_widened_integers_lost", "return loading<std::int64_t>(@in@);", "in == DType::i32 ? DType::u32 : in"),
]) + mutants_of("wide_integers", "host/cpu/wide_integers.hpp", NATIVE_CONVERSION, [
    ("last_bits_lost", "(magnitude & 0x7ff) != 0 ? @0x800u@ : 0u", "0u"),
    ("moved_by_half_the_range", "(0x1p84 + @moved@)", "0.0"),
    ("lower_half_twice", "double low = detail::bit_cast<double>((@value@ & 0xffffffffu)", "(value >> 32)"),
]) + mutants_of("native_cast_rows", "host/cpu/copy/cast_rows.cpp", NATIVE_CONVERSION, [
    ("f64_through_f32", "else if (@!held && !beyond && out != DType::f32@)", "false"),
    ("second_line_repeats_the_first", "first_(@static_cast<const char*>(in) + i * in_bytes_@, line",
     "static_cast<const char*>(in)"),
]) + mutants_of("native_box_nest", "host/cpu/copy/box_nest.hpp", f"{NATIVE_CONVERSION}:{NATIVE_COPY}", [
    ("end_box_too_short", "std::min(side, @p.extents[axis] - cursor.index(place[axis]) * box.sides[axis]@)",
     "p.extents[axis] - cursor.index(place[axis]) * box.sides[axis] - (cursor.index(place[axis]) > 0 && "
     "p.extents[axis] - cursor.index(place[axis]) * box.sides[axis] < side)"),
    ("gap_in_a_run", "if (sides[axis] != 1 && @strides[axis] != run@) return false;", "strides[axis] < run"),
    ("planes_joined_across_a_gap", "== @plane.rows@ * p.in_strides[box.in_axis])", "(plane.rows + 1)"),
]) + mutants_of("native_box_nest", "host/cpu/copy/box_nest.cpp", f"{NATIVE_CONVERSION}:{NATIVE_COPY}", [
    ("step_in_32_bits", "boxes.push_boxes(p.extents[axis], side, @p.in_strides[axis]@,",
     "mutant::wrapped(side * p.in_strides[axis]) / side"),
    ("axes_joined_in_the_wrong_order", "while (count > 0) put(@chain[--count]@);", "chain[(--count, 0)]"),
    ("axes_of_the_rows_lost", "for (int axis = @first@; axis <= last; ++axis) put(axis);", "last"),
]) + mutants_of("native_box", "host/cpu/copy/box_copy.hpp", f"{NATIVE_CONVERSION}:{NATIVE_COPY}", [
    ("last_box_dropped", "parallel_ranges_in<Room>(@boxes.total()@,", "boxes.total() - (boxes.total() > 1)"),
    ("results_over_the_elements", "room.memory + @bytes@", "bytes / 2 / kLineBytes * kLineBytes"),
    ("last_of_a_box_not_converted", "cast_(in_place ? in : buffer, results, @count@);", "count - (count > 1)"),
    ("rows_apart_to_one_place", "std::memcpy(@out + to.first + to.offsets[i]@, in", "out + to.first"),
    ("rows_gathered_across_a_gap", "!nest_.streamed && @nest_.is_one_run(sides, nest_.p.out_strides)@)", "true"),
]) + mutants_of("native_move_row", "host/cpu/streaming.hpp", NATIVE_COPY, [
    ("head_left", "std::memcpy(to, from, static_cast<std::size_t>(@head@));", "0"),
    ("rest_left", "std::memcpy(to + lines, from + lines, static_cast<std::size_t>(@bytes - lines@));", "0"),
    ("lines_from_the_beginning", "copy_lines(to, @from@, lines);", "static_cast<const char*>(in)", True),
]) + mutants_of("native_pitched_rows", "host/cpu/copy/pitched_rows.cpp", NATIVE_SHORT_ROWS, [
    ("rows_packed_in_the_output", "std::memcpy(out + @out_rows[i]@, row, kBytes);", "i * kBytes"),
    ("rows_at_the_inputs_pitch", "out_rows{@p.out_strides[axis] * size@};", "p.in_strides[axis] * size"),
    ("last_part_lost", "@p.extents[axis] - cursor.index(axis) * kRows@)", "kRows / 2"),
]) + mutants_of("native_strided_casts", "host/cpu/copy/strided_casts.hpp", NATIVE_COPY, [
    ("rows_joined_across_a_gap", "held + count > kPiece || @out != to + held@)", "false"),
    ("rows_over_each_other", "gathered + @held@, count)", "0"),
    ("rest_left", "cast(gathered, to, @held@); });", "0"),
]) + mutants_of("native_wide_elements", "host/cpu/copy/wide_elements.hpp", NATIVE_COPY, [
    ("rows_inside_of_elements", "if (@p.in_strides[axis] % p.extents[last] != 0@ ||", "false"),
    ("output_rows_inside_of_elements", "|| @p.out_strides[axis] % p.extents[last] != 0@) return p;", "false"),
    ("pair_as_one_word", "wide == 16 ? @DType::b128@", "DType::u64"),
]) + mutants_of("native_offset_table", "host/cpu/copy/offset_table.hpp", f"{NATIVE_CONVERSION}:{NATIVE_COPY}", [
    ("table_of_other_sides", "std::equal(sides, @sides + rank@, sides_)", "sides + 1"),
    ("left_over_as_a_whole_step", "step + 1 < a.steps_ ? a.split_ : @a.left_@)", "a.split_"),
    ("steps_repeat_the_first", "in_a.a() + @step * a.split_step_@", "0 * step"),
    ("outermost_axis_left_out", "k <= @axis@; ++k", "axis - 1"),
    ("inner_offset_forgotten", "= @offsets_[i]@ + index * stride;", "0 * offsets_[i]"),
]) + mutants_of("native_joined_planes", "host/cpu/copy/joined_planes.hpp", "NativeTranspose.ShortAxes*", [
    ("planes_over_each_other", "pitch = @columns_ * rows_@, pitches", "columns_"),
    ("lines_of_the_first_plane", "read_plane(in + @cursor.a()@ + piece.first", "0 * cursor.a()"),
]) + mutants_of("native_row_moves", "host/cpu/copy/row_moves.hpp", NATIVE_COPY, [
    ("end_of_a_long_row_lost", "move_two(@bytes - 2 * kWord@, bytes - kWord)", "0"),
    ("end_of_a_short_row_lost", "move_two(0, @bytes - kWord@);", "0"),
    ("words_too_long", "if (@bytes >= 8@) return visit", "bytes >= 7"),
    ("packed_rows_share_a_place", "return @i * pitch@;", "0 * i"),
    ("no_step", "out[i] = @in[i * kStep]@;", "in[i]"),
]) + mutants_of("gather_of_two_shapes", "kernels/copy/gather.cpp", SHAPES, [
    ("axes_of_its_own_ignored", "@p.in_rank > 0@", "false"),
    ("input_split_by_the_results_extents", "add_offsets(same, p.in_rank, @p.in_axes@, in, nowhere)", "p.axes"),
]) + mutants_of("scale", "kernels/copy/scale.hpp", SCALE, [
    ("alpha_left_out", "const auto alpha = @static_cast<Scale>(p.alpha)@;", "Scale{1}"),
    ("alpha_left_out_of_the_sum", "product = @static_cast<Scale>(p.alpha) * convert<Scale>(value)@;",
     "convert<Scale>(value)"),
    ("alpha_of_the_results_type", "const auto alpha = @static_cast<Scale>(p.alpha)@;",
     "convert<Scale>(convert<To>(static_cast<Scale>(p.alpha)))"),
    ("alpha_in_single", "product = @static_cast<Scale>(p.alpha)@ *",
     "static_cast<Scale>(static_cast<float>(p.alpha))"),
    ("product_rounded_too_early", "product = @static_cast<Scale>(p.alpha) * convert<Scale>(value)@;",
     "convert<Scale>(convert<To>(static_cast<Scale>(p.alpha) * convert<Scale>(value)))"),
    ("sum_not_fused", "fused_multiply_add(static_cast<Scale>(p.beta), convert<Scale>(old), product)",
     "static_cast<Scale>(p.beta) * convert<Scale>(old) + product"),
    ("alpha_for_beta", "fused_multiply_add(static_cast<Scale>(@p.beta@),", "p.alpha"),
    ("truncating_sum", "convert<To>(@fused_multiply_add(static_cast<Scale>(p.beta), convert<Scale>(old), product)@)",
     "mutant::truncated(fused_multiply_add(static_cast<Scale>(p.beta), convert<Scale>(old), product))"),
    ("beta_0_reads_the_output", "return @p.beta == 0@ ?", "false"),
]) + mutants_of("tile_store", "kernels/copy/tile_store.hpp", SCALE, [
    ("beta_0_reads_the_output", "if (@p.beta == 0@)", "false"),
    ("last_element_not_scaled", "values.values[i] = @scale<To>(p, values.values[i])@;",
     "i + 1 < Vector<To>::kCount ? scale<To>(p, values.values[i]) : values.values[i]"),
    ("cast_not_scaled", "p.scaled ? @scale<To>(p, value)@ :", "convert<To>(value)"),
    ("first_old_element_for_all", "old.values[@i@]", "0"),
    ("ends_of_runs_not_scaled", "*address = @scale_into<To>(p, value, address)@;", "value"),
]) + mutants_of("operand_pointers", "kernels/copy/operand_pointers.hpp", SLOTS, [
    ("input_slot_ignored", "p.in_slot == nullptr", "true"),
    ("output_slot_ignored", "p.out_slot == nullptr", "true"),
    ("input_offset_left_out", "p.in_slot_offset", "std::int64_t{0}"),
    ("output_offset_left_out", "p.out_slot_offset", "std::int64_t{0}"),
]) + mutants_of("native_scale", "host/cpu/copy/scaled_copy.cpp", f"{SCALE}:{SHAPES}".replace("emulated32", "cpu"), [
    ("alpha_left_out", "product = @alpha * convert<Scale>(in[i * in_step])@;", "convert<Scale>(in[i * in_step])"),
    ("product_rounded_too_early", "product = @alpha * convert<Scale>(in[i * in_step])@;",
     "convert<Scale>(convert<Out>(alpha * convert<Scale>(in[i * in_step])))"),
    ("sum_not_fused", "std::fma(beta, convert<Scale>(result), product)",
     "beta * convert<Scale>(result) + product"),
    ("beta_0_reads_the_output", "convert<Out>(@beta == 0@ ?", "false"),
    ("old_line_for_all", "convert_strided(@out + i * out_step@, out_step, result", "out"),
    ("first_line_for_all", "convert_strided(@in + i * in_step@, in_step, wide", "in"),
    ("last_square_cut_short", "std::min(side_of(axis), @p_.extents[axis] - cursor.index(axis) * side_of(axis)@)",
     "p_.extents[axis] - cursor.index(axis) * side_of(axis) - (cursor.index(axis) > 0)"),
    ("one_row_of_a_square", "@r * p_.out_strides[fast]@,", "std::int64_t{0}"),
    ("axes_of_its_own_ignored", "p_.in_rank > 0", "false"),
]) + mutants_of("native_slots", "host/cpu/copy/copy.cpp", SLOTS.replace("emulated32", "cpu"), [
    ("input_slot_ignored", "if (@p.in_slot != nullptr@) p.in =", "false"),
    ("output_slot_ignored", "if (@p.out_slot != nullptr@) p.out =", "false"),
    ("input_offset_left_out", "p.in_slot_offset", "0"),
    ("output_offset_left_out", "p.out_slot_offset", "0"),
]) + mutants_of("copy_nest", "host/plan/copy/copy_nest.cpp", NEST, [
    ("outputs_stride_for_the_inputs", "nest.strides[1].push_back(@ins.strides.back()@)", "outs.strides.back()"),
    ("outer_stride_not_scaled", "strides.back() *= @extent@;", "std::int64_t{1}"),
    ("strides_not_reversed", "for (Dims& strides : nest.strides) @std::reverse(strides.begin(), strides.end())@;",
     "static_cast<void>(0)"),
    ("too_many_axes", "normal.rank() <= @kMaxRank@", "2 * kMaxRank"),
    ("repeated_axis_is_the_fastest", "if (@stride != 0@ &&", "true"),
    ("repeated_axis_stays_the_fastest", "stride < best || @best == 0@", "false"),
]) + mutants_of("checks", "host/api/checks.cpp", f"Reach.*:*GemmErrorTest*/cpu:*ElementwiseErrorTest*/cpu:*DepthwiseErrorTest*/cpu:{DEPTHWISE}", [
    ("any_reach_before", "@range.begin >= -kMax@ &&", "true"),
    ("any_reach_behind", "&& @range.end <= kMax@ &&", "true"),
    ("reach_of_the_output_not_checked", '@check_reach(operation, "the output", out)@;', "static_cast<void>(0)"),
    ("any_address", "== 0 || @reinterpret_cast<std::uintptr_t>(data) % alignment_of(view) == 0@;", "(static_cast<void>(data), true)"),
    ("null_taken", "if (@view.elements() > 0 && view.data() == nullptr@)", "false"),
    ("elements_may_share_addresses", "if (@plan::may_self_overlap(out)@)", "false"),
    ("bytes_may_be_shared", "if (@sharing == plan::Sharing::none@) return;", "true"),
    ("two_indices_are_one", "@view.extent(axis) > 1@ && view.elements() > 0", "view.extent(axis) > 2"),
]) + mutants_of("views", "host/api/tensor_view.cpp", "TensorView.*:Permuted.*:Broadcast.*:Slice.*:Reshaped.*", [
    ("range_without_the_last_element", "multiply(@shape[axis] - 1@, strides[axis], reach)", "shape[axis] - 2"),
    ("negative_strides_reach_forward", "side = @reach < 0@ ? begin : end;", "false"),
    ("slice_starts_at_0", "advance(data_, @begin@ * strides_[k]", "0 * begin"),
    ("slice_may_leave", "|| @end > extent(axis)@)", "false"),
    ("stride_repeated", "if (@shape_[k] == shape[target]@) {", "false"),
    ("axis_twice", "|| @seen[k]@) break;", "false"),
    ("contiguous_with_gaps", "if (@strides_[k] != expected@) return false;", "false"),
]) + mutants_of("streams", "host/api/stream.cpp", "*MemoryTest*/cpu", [
    ("one_row_of_all", "copy(destination, source, width * @rows@);", "1"),
    ("rows_may_overlap", "if (@destination_pitch < width@ ||", "false"),
    ("pitches_ignored", "if (rows == 1 || @(destination_pitch == width && source_pitch == width)@)", "source_pitch == width"),
    ("null_filled", "if (@destination == nullptr@) {\n    throw Error(ErrorCode::null_pointer, \"fill", "false"),
]) + mutants_of("replace_file", "host/api/replace_file.cpp", "ReplaceFileTest.*", [
    ("mode_not_kept", "if (@exists && !file.set_mode(existing.st_mode & 07777)@)", "false"),
    ("partly_written", "if (@!file.write(text)@ || !file.close() || !file.rename_to", "(file.write(text), false)"),
    ("temporary_stays", "if (@!temporary_.empty()@)", "false"),
    ("link_replaced", "for (int i = 0; @fs::is_symlink(path, error)@; ++i)", "false"),
    ("hard_links_are_two_files", "if (@fs::equivalent(first, second, error)@)", "false"),
    ("folders_not_compared", "&& @fs::equivalent(folder_of(first), folder_of(second), error)@;", "true"),
    ("other_results_not_looked_at", "for (std::size_t k = 0; @k < i@; ++k)", "k < 0 * i"),
    ("inputs_not_looked_at", "refuse_if_one(written[i], @other@, \"input\")", "std::string()"),
    ("folder_may_be_missing", "@folder_of(target)@.c_str(), W_OK", "fs::path(\".\")"),
]) + mutants_of("processor_backend", "platform/processor_backend.cpp", "*MemoryTest*/cpu", [
    ("last_row_lost", "for (std::size_t row = 0; @row < rows@; ++row)", "row + 1 < rows"),
    ("pitch_of_the_other_side", "static_cast<const char*>(source) + row * @source_pitch@", "destination_pitch"),
    ("any_amount_of_memory", "@limit > 0 && bytes > limit@ ? nullptr", "bytes == 0"),
    ("last_byte_not_filled", "std::memset(destination, value, @bytes@);", "bytes - 1"),
]) + mutants_of("scratch", "host/cpu/scratch.cpp", "Scratch.*", [
    ("rooms_share_memory", "data_ = kept.memory + @kept.used@;", "0 * kept.used"),
]) + mutants_of("sharing", "host/plan/sharing.cpp", "Sharing.*", [
    ("one_byte_less", "sum.can_be(address_of(b.data(), range_b.end) - @1@ - address_of", "2"),
    ("one_byte_more", "sum.can_be(address_of(b.data(), range_b.end) - @1@ - address_of", "0"),
    ("ranges_overlap_by_a_byte", "address_of(at_b, b.end) > @address_of(at_a, a.begin)@;", "address_of(at_a, a.begin) + 1"),
    ("bytes_of_an_element_left_out", "sum.add(1, @size - 1@)", "0 * size"),
    ("strides_in_elements", "(stride < 0 ? -stride : stride) * @size@", "1"),
    ("equal_strides_counted_once", "terms_[i].most += @most@", "0 * most"),
    ("complete_past_a_gap", "@terms_[i].coefficient <= smaller.reach + divisor@", "true"),
    ("first_multiplier_too_large", "@(beyond + coefficient - 1) / coefficient@", "(beyond + coefficient - 1) / coefficient + 1"),
]) + mutants_of("loop_nest", "host/plan/loop_nest.cpp", NEST, [
    ("gaps_merged", "|| @strides[p][outer] != round@) return false;", "false"),
]) + mutants_of("plan_cache", "host/api/plan_cache.cpp", MEASURE, [
    ("tile_not_compared", "@a.tile == b.tile@ && a.threads", "true"),
    ("any_candidate_found", "if (@same_plan(entry_of(candidate), entry)@)", "true"),
    ("run_not_checked", "@check_run(state, stream, in, out)@;", "static_cast<void>(0)"),
    ("a_sum_is_measured", "if (@state.copy.options.scale.beta != 0@)", "false"),
    ("measured_again", "if (@known.state().measurement.candidates > 0@) return known;", "false"),
    ("the_only_plan_is_measured", "if (@candidates.size() < 2@) return plan;", "candidates.empty()"),
    ("more_are_timed", "std::min(candidates.size(), @kMaxTimed@)", "std::size_t{1000}"),
    ("not_kept", "entries_[@copy_text(state.target.properties(), state.copy)@] = entry", "std::string()"),
    ("estimate_returned", "return with(plan, @winner@, measurement_of(entry));", "state.copy"),
]) + mutants_of("copy_timer", "host/api/copy_timer.cpp", "*CopyTimerTest*", [
    ("first_plan_timed_for_all", "@plan@.run(own, in, out)", "plans[0]"),
    ("clock_read_once", "steady_clock::now() - @start@).count()", "std::chrono::steady_clock::now()"),
    ("never_timed", "round < @kRounds@;", "0"),
]) + mutants_of("copy_plan", "host/plan/copy/copy_plan.cpp", f"{SCALE}:{SLOTS}", [
    ("never_scaled", "params.scaled = @is_scaled(options.scale)@;", "false"),
    ("impossible_candidate_taken", "if (@!candidate.possible@) return;", "false"),
]) + mutants_of("copy_transpose", "host/plan/copy/transpose_candidate.cpp", f"{SCALE}:{SLOTS}", [
    ("takes_a_scale", "if (@is_scaled(options.scale)@) return refused", "false"),
    ("takes_slots", "if (@options.indirect@) return refused", "false"),
]) + mutants_of("transpose_lanes", "host/plan/copy/transpose_candidate.cpp", "Transposes.*", [
    ("idle_lanes_cost_nothing", "const double lanes = @std::sqrt(part(window.positions, along * window.tile_samples))@;", "1"),
]) + mutants_of("copy_tile", "host/plan/copy/tile_candidate.cpp", SCALE, [
    ("takes_scaled_casts", "if (@problem.options.scale.beta != 0 && problem.in_type != problem.out_type@) return",
     "false"),
]) + mutants_of("large_transposes", "host/plan/copy/tile_candidate.cpp", "Transposes.*", [
    ("as_small_ones", "return std::max(tuning.least_of_large, @1 - tuning.saved_by_doubling * doublings@);", "1"),
]) + mutants_of("copy_launch", "host/api/copy.cpp", SLOTS, [
    ("start_of_the_input_in_the_slot", "params.in_slot_offset = @planned.in.offset@;", "0"),
    ("start_of_the_output_in_the_slot", "params.out_slot_offset = @planned.out.offset@;", "0"),
]) + mutants_of("copy_scale", "host/api/copy_scale.cpp", SCALE, [
    ("beta_not_rounded", "static_cast<double>(static_cast<float>(scale.*value))",
     "value == &CopyScale::beta ? scale.*value : static_cast<double>(static_cast<float>(scale.*value))"),
    ("alpha_not_rounded", "static_cast<double>(static_cast<float>(scale.*value))",
     "value == &CopyScale::alpha ? scale.*value : static_cast<double>(static_cast<float>(scale.*value))"),
]) + mutants_of("native_window", "host/cpu/window/window.cpp", "*Img2col*/cpu", [
    ("pad_row_off_by_one", "block.position * params.stride - params.pad_left",
     "block.position * params.stride - params.pad_left + 1"),
    ("replicate_for_zero", "pad_index(@params.mode@,",
     "params.mode == PadMode::constant ? PadMode::replicate : params.mode"),
    ("nan_times_zero", "index < 0 ? @pad@ :",
     "params.length == 0 ? pad : mutant::plus_zero_times(pad, convert<Out>(in[(range.first + j * range.step < 0 ? 0 : "
     "params.length - 1) * params.in_time + c * params.in_channel]))"),
    ("taps_flipped", "block.out + @pass * params.out_tap@;",
     "tiling.shared ? 0 : (params.taps - 1 - pass) * params.out_tap"),
    ("channel_and_tap_swapped", "block.channels, tile.channel, @params.out_channel@}",
     "params.order == WriteOrder::channel ? params.taps : params.out_channel"),
    ("last_position_block_dropped", "std::min(tiling.positions, params.positions - position)",
     "position > 0 && params.positions - position < tiling.positions ? 0 : "
     "std::min(tiling.positions, params.positions - position)"),
    ("last_channel_block_dropped", "std::min(tiling.channels, params.channels - channel)",
     "channel > 0 ? 0 : std::min(tiling.channels, params.channels - channel)"),
    ("halo_one_short", "tiling.shared ? @(params.taps - 1) * params.dilation + 1@ : 1;",
     "(params.taps - 1) * params.dilation"),
    ("batch_stride_0", "item * params.in_batch", "std::int64_t{0}"),
    ("batch_offset_in_32_bits", "item * params.in_batch", "mutant::wrapped(item * params.in_batch)"),
    ("end_of_signal_late", "range.at_or_after(@params.length@)", "params.length + 1"),
    ("guard_byte_written", "Out* out = @static_cast<Out*>(params.out) + item * params.out_batch@",
     "mutant::spilled(static_cast<Out*>(params.out) + item * params.out_batch + (params.groups - 1) * "
     "params.out_group + (params.positions - 1) * params.out_position + (params.taps - 1) * params.out_tap + "
     "(params.channels - 1) * params.out_channel, 1) - (params.groups - 1) * params.out_group - "
     "(params.positions - 1) * params.out_position - (params.taps - 1) * params.out_tap - "
     "(params.channels - 1) * params.out_channel"),
]) + mutants_of("native_copy", "host/cpu/copy/copy.cpp", f"{NATIVE_CONVERSION}:{NATIVE_COPY}", [
    ("rows_from_the_first_piece", "In* in = @static_cast<const In*>(p.in) + cursor.a()@; if (asked > 0", "static_cast<const In*>(p.in)"),
    ("second_piece_of_a_run_repeats_the_first", "convert_strided(@in + i * run.in_step@, run.in_step, read", "in"),
]) + mutants_of("box_writer", "host/cpu/copy/box_writer.hpp", "NativeStreaming.RowsThatEnd*", [
    ("rows_joined_beyond_lines", "p.out_strides[axis] == run && @(axis == last || !n_.unaligned)@; --axis)", "true"),
]) + mutants_of("native_convert", "host/cpu/convert.cpp", "*Cast*/cpu", [
    ("truncating_cast_to_f16", "_mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT)",
     "_mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_ZERO)", True),
    ("saturating_cast_to_f16", "_mm256_cvtps_ph(@_mm256_loadu_ps(in)@, _MM_FROUND_TO_NEAREST_INT)",
     "_mm256_min_ps(_mm256_set1_ps(65504.0f), _mm256_loadu_ps(in))", True),
]) + mutants_of("native_convert", "host/cpu/convert.hpp", "*Cast*/cpu", [
    ("truncating_cast_to_bf16", "0x7fffu + ((bits >> 16) & 1u)", "0u"),
]) + mutants_of("native_halves", "host/cpu/elementwise/elementwise_halves.cpp", "*NativeHalves*", [
    ("order_of_magnitudes", "number ^ @((number >> 15) & 0x7fff)@", "0"),
    ("second_nan_lost", "other = @is_nan(b)@ ? quiet_b", "false"),
    ("first_nan_lost", "return {@is_nan(a)@ ? quiet_a", "false"),
    ("relu_of_nan_is_zero", "other = @is_nan(a)@ ? a.bits", "false"),
    ("fmax_with_nan", "other = @is_nan(b)@ ? a.bits", "false"),
]) + mutants_of("native_halves", "host/cpu/elementwise/half_bits.hpp", "*NativeHalves*", [
    ("infinities_as_nan", "static_cast<std::int16_t>(@kHalfInfinity<T>@);", "kHalfInfinity<T> - 1"),
]) + mutants_of("native_comparison", "host/cpu/elementwise/elementwise_comparisons.cpp", "*NativeComparison*", [
    ("two_zeros", "static_cast<std::int16_t>(@(magnitude(element) ^ below_0) - below_0@)", "magnitude(element) ^ below_0"),
    ("nan_in_order", "(a.number() <= b.number()) & @are_ordered(a, b)@;", "true"),
    ("equal_nan", "(a.number() == b.number()) & @are_ordered(a, b)@;", "true"),
    ("infinity_is_finite", "return @std::fabs(a) < static_cast<T>(INFINITY)@;", "std::fabs(a) <= static_cast<T>(INFINITY)"),
    ("unsigned_as_signed", "return @is_unsigned(common)@ ?", "false"),
    ("bytes_of_bf16", "if (@common == DType::bf16@) return row_of<Half<bf16>>", "false"),
]) + mutants_of("native_comparison", "host/cpu/elementwise/elementwise.cpp", "*NativeComparison*", [
    ("bools_cut_as_numbers", "@straight ? at : elements@;\n    // Without", "at"),
]) + mutants_of("native_cast", "host/cpu/copy/cast_rows.cpp", "NativeCast.*", [
    ("last_block_from_the_one_before", "static_cast<const char*>(in) + @last * in_bytes_@", "(last - 1) * in_bytes_"),
    ("last_block_written_before", "static_cast<char*>(out) + @last * out_bytes_@, block", "(last - 1) * out_bytes_"),
]) + mutants_of("native_halves", "host/cpu/elementwise/elementwise.cpp", "*NativeHalves*", [
    ("constants_as_integers", "if (@p_.common == DType::f16@) return to_f16", "false"),
]) + mutants_of("native_halves", "host/cpu/elementwise/elementwise_rows.cpp", "*NativeHalves*", [
    ("any_rounding", "p.out_type == p.common && @p.rounding == Rounding::nearest_even@", "true"),
    ("other_operands_as_halves", "return tensor.reading == Reading::value && @tensor.type == p.common@;", "true"),
]) + mutants_of("native_bools", "host/cpu/elementwise/elementwise_bools.cpp", "NativeBools.*", [
    ("bits_of_both", "return @of_two<Byte, logical_and<Byte>>()@;",
     "short_integer_row(Operation::bit_and, DType::bool_)"),
    ("bits_of_either", "return @of_two<Byte, logical_or<Byte>>()@;",
     "short_integer_row(Operation::bit_or, DType::bool_)"),
    ("not_by_bits", "return @of_one<Byte, logical_not<Byte>>()@;",
     "short_integer_row(Operation::bit_not, DType::bool_)"),
    ("order_of_bytes", "return @logical_and(logical_not(a), b)@;", "static_cast<Byte>(a < b)"),
]) + mutants_of("native_bools", "host/cpu/elementwise/elementwise_rows.cpp", "NativeBools.*", [
    ("low_bytes_of_long_elements", "return @size_of(tensor.type) == 1@;", "true"),
]) + mutants_of("native_bools", "host/cpu/elementwise/elementwise_convert.cpp", "NativeBools.*:NativeElementwise*", [
    ("bytes_never_made_truth", "if (is_truth && @!takes_any_byte(p)@)", "false"),
]) + mutants_of("native_elementwise", "host/cpu/elementwise/elementwise.cpp", NATIVE_ELEMENTWISE, [
    ("short_end_dropped", "std::int64_t at = begin, count = 0; @at < end@;", "at + (at > begin ? 500 : 0) < end"),
    ("step_forgets_the_one_before", "operands[3] = {@results@, results, results}", "rows[0]"),
    ("arguments_from_the_first", "for (int i = 0, argument = 0; i < p_.steps; @++i@)", "++i, argument = 0"),
]) + mutants_of("native_elementwise", "host/cpu/elementwise/elementwise_sources.hpp", NATIVE_ELEMENTWISE, [
    ("phase_stands_still", "phase_ = @(phase_ + count)@ % source_.period", "phase_"),
    ("repeated_for_ever", "if (@at == repeated_@ && count <= repeats_)", "repeated_ != nullptr"),
    ("period_without_a_piece", "std::min(p.elements, @period + piece@)", "period"),
]) + mutants_of("native_elementwise_program", "host/cpu/elementwise/elementwise.cpp", "*ElementwiseProgramTest*/cpu", [
    ("running_value_first", "if (i > 0 && k == @p_.step[i].running@) continue;", "0"),
    ("numbers_of_other_codes", "codes_[i].emplace(@p.codes[i]@, count);", "p.codes[0]"),
    ("result_in_the_codes_of_zero", "out_codes_.emplace(@p.out_codes@, count);", "CodeNumbers{}"),
]) + mutants_of("vector_functions", "host/cpu/elementwise/vector_functions.hpp", NATIVE_FUNCTIONS, [
    ("tail_of_negative_numbers_cut", "if_less_than_0(z, @same<T>(-kInfinity)@, same<T>(-80))",
     "same<T>(-80)", True),
    ("growth_of_the_half", "return of_half * @(of_half + same<T>(2))@;", "same<T>(2)", True),
    ("sine_beyond_one", "if_equal(@x@, inside, function(inside)", "inside", True),
    ("logarithm_below_its_pole", "return if_equal(@above@, zero, below, result);", "same<T>(1e30)", True),
    ("second_half_is_the_first", "return floats_of(first, @second@);", "first", True),
    ("softplus_of_the_sum_alone", "(tail - @(sum - same<T>(1))@)", "tail", True),
]) + mutants_of("vector_words", "host/cpu/elementwise/vector_words.hpp", NATIVE_FUNCTIONS, [
    ("last_numbers_left", "const std::int64_t left = @count - i@; left > 0", "i - count", True),
]) + mutants_of("vector_words", "host/cpu/elementwise/vector_words.hpp", "*FunctionsTest.Doubles*/cpu", [
    ("sign_of_zero_lost", "if_equal(x, all(0), @x@, result)", "result", True),
]) + mutants_of("exponential_functions", "host/cpu/elementwise/exponential_functions.hpp", "*FunctionsTest.Doubles*/cpu", [
    ("no_second_part_of_log_2_in_powers", "r = fnma(exponent, @all(kLog2Low)@, fnma(", "all(0)", True),
    ("far_hyperbolic_sines_are_near", "if_less(all(40), y, @far@, near)", "near", True),
    ("no_second_part_of_log_2", "taken = @exponent * all(kLog2Low)@;", "all(0)", True),
    ("sign_of_zero_lost", "if_less(all(40), x, far, @unless_zero(x, rounded(e.less_one()))@)", "rounded(e.less_one())", True),
    ("low_part_with_the_wrong_sign", "if_less(z.high, zero, @z.low@, -z.low)", "-z.low", True),
    ("far_numbers_scaled", "if_less(negative, @all(kFar)@, x * zero", "all(-1e308)", True),
    ("small_power_in_cosh_left", "scaled(@large + power / large@,", "large", True),
    ("numbers_below_0_added", "sum_of_any(@if_less(all(0), x, x, all(0))@,", "x", True),
]) + mutants_of("error_functions", "host/cpu/elementwise/error_functions.hpp", "*FunctionsTest.Doubles*/cpu", [
    ("square_rounded", "all(-0.5) * square.high, @all(-0.5) * square.low@)", "all(0)", True),
    ("gelu_of_minus_infinity", "@fma(x, zero, -scaled(rounded(part), tail.exponent))@, right)", "-scaled(rounded(part), tail.exponent)", True),
    ("near_errors_by_the_tail", "if_less(y, @all(kNear)@, near", "all(0)", True),
    ("error_without_a_sign", "@with_sign(all(1) - tail, x)@);", "all(1) - tail", True),
]) + mutants_of("single_activations", "host/cpu/elementwise/single_activations.hpp", NATIVE_SINGLES, [
    ("gate_of_minus_infinity", "if_less(z, @all(-115)@, all(0)", "all(-1e300)", True),
    ("gelu_of_minus_infinity", "if_less(x, @all(-kFar)@, all(0), tail)", "all(-1e300)", True),
    ("softplus_of_positive_numbers", "return @at_least(all(0), x)@ + s", "all(0)", True),
    ("tail_on_the_right", "@all(1) - tail@);", "tail", True),
]) + mutants_of("double_pairs", "host/cpu/elementwise/double_pairs.hpp", "*FunctionsTest.Doubles*/cpu", [
    ("rest_of_a_quotient_left", "return {quotient, @rest / b.high@};", "all(0)", True),
    ("one_far_number_only", "if ((@which & 1u << i@) != 0) results[i] = kLibrary(numbers[i]);", "which & 1u", True),
]) + mutants_of("sine_functions", "host/cpu/elementwise/sine_functions.hpp", "*FunctionsTest.Doubles*/cpu", [
    ("second_part_of_pi_left", "taken = @whole.count * all(kQuarterLow)@,", "all(0)", True),
    ("second_part_of_pi_left_in_sines", "left = fnma(whole.count, @all(kQuarterLow)@, fnma(", "all(0)", True),
    ("third_part_of_pi_left_in_sines", "r = fnma(whole.count, @all(kQuarterLowest)@, left)", "all(0)", True),
    ("far_numbers_reduced", "are_less(@all(kMostReduced)@, magnitude(x))", "all(1e308)", True),
    ("cosine_of_the_quarter_before", "all_wholes(@1@)", "0", True),
    ("sign_of_a_tangent_left", "turned<0>(rounded(quotient), @r.quarters@)", "all_wholes(0)", True),
]) + mutants_of("logarithm_functions", "host/cpu/elementwise/logarithm_functions.hpp", "*FunctionsTest.Doubles*/cpu", [
    ("digits_of_a_sum_lost", "if_equal(parts.exponent, zero, @x@, parts.fraction - all(1));", "parts.fraction - all(1)", True),
    ("lost_digits_of_one_exponent", "scaled(moved.low, @-parts.exponent@)", "all(0)", True),
    ("logarithm_of_any_number", "return @if_has_logarithm(x, log_of_parts(parts.exponent, parts.fraction - all(1), all(0)))@;",
     "log_of_parts(parts.exponent, parts.fraction - all(1), all(0))", True),
]) + mutants_of("single_logarithms", "host/cpu/elementwise/single_logarithms.hpp", NATIVE_SINGLES, [
    ("exponent_of_subnormals", "@exponent - scale@, fraction - all_floats(1)", "exponent", True),
    ("digits_of_a_sum_lost", "f = if_equal(exponent, all_floats(0), @x@, fraction - all_floats(1));", "fraction - all_floats(1)", True),
    ("sign_of_zero_lost", "return @unless_zero(x, if_has_logarithm(moved, single_log_of_parts(exponent, f)))@;",
     "if_has_logarithm(moved, single_log_of_parts(exponent, f))", True),
]) + mutants_of("arc_functions", "host/cpu/elementwise/arc_functions.hpp", "*FunctionsTest.*Doubles*/cpu", [
    ("points_on_the_left", "if_signed(x, @rounded(turned_back(2, angle))@, rounded(angle))", "rounded(angle)", True),
    ("equal_coordinates_scaled", "if_equal(high, wide, @same_y@, high * scale)", "high * scale", True),
    ("complement_of_small_numbers", "square = if_less(half, size, @rest@, size * size)", "size * size", True),
]) + mutants_of("power_functions", "host/cpu/elementwise/power_functions.hpp", "*FunctionsTest.PairsOfDoubles/cpu", [
    ("odd_powers_are_positive", "odd = if_equal(whole_of(half), half, power, @-power@);", "power", True),
    ("squares_overflow", "is_large = if_less(all(0x1p500), most, @all(0x1p600)@, one);", "one", True),
    ("low_part_of_the_product_lost", "if_equal(near, product.high, @product.low@, all(0))", "all(0)", True),
]) + mutants_of("remainder_functions", "host/cpu/elementwise/remainder_functions.hpp",
               "*FunctionsTest.PairsOfDoubles/cpu:*FunctionsTest.QuotientsNear*/cpu", [
    ("rest_of_the_next_number", "if_less(rest, zero, @rest + b@, rest)", "rest", True),
    ("the_next_number", "if_less(rest, zero, @whole - all(1)@, whole)", "whole", True),
    ("quotients_below_0_towards_0", "result = if_less(sign, zero, @if_equal(division.rest, zero, result, result + one)@, result);",
     "result", True),
    ("whole_quotients_below_0_moved", "if_equal(division.rest, zero, @result@, result + one)", "result + one", True),
    ("sign_of_the_dividend", "if_less(differs, zero, @rest + y@, rest)", "rest", True),
    ("quotients_of_any_size", "are_less(quotient, @all(0x1p52)@)", "all(1e308)", True),
]) + mutants_of("single_functions", "host/cpu/elementwise/single_functions.hpp", NATIVE_SINGLES, [
    ("sign_of_a_tangent_left", "turned<0>(ratio, @turns.quarters@)", "all_wholes(0)", True),
    ("cosine_of_the_quarter_before", "sum(turns.quarters, @all_wholes(1)@)", "all_wholes(0)", True),
]) + mutants_of("half_functions", "host/cpu/elementwise/half_functions.hpp", NATIVE_FUNCTIONS, [
    ("sign_of_zero_lost", "return @unless_zero(x, half_growth(x))@;", "half_growth(x)", True),
    ("powers_of_any_size", "near = at_least(all_floats(-most), @at_most(all_floats(most), x)@);", "x", True),
    ("gelu_of_minus_infinity", "if_less(x, all_floats(-kFar), @x * zero@, -part)", "-part", True),
    ("gelu_of_bf16_ends_with_that_of_f16", "(a * a), @kMostExponent@)", "60", True),
    ("digits_of_a_sum_lost", "if_equal(exponent, all_floats(0), @x@, fraction - all_floats(1));", "fraction - all_floats(1)", True),
    ("logarithm_of_any_number", "return @if_has_logarithm(x, fma(rest, half_log2_slope(rest), exponent))@;",
     "fma(rest, half_log2_slope(rest), exponent)", True),
    ("odd_turns_as_even_ones", "return if_odd(turns, @all_floats(0) - sine@, sine);", "sine", True),
    ("low_part_of_pi_left_out", "return fma(turns, @all_floats(-kLow)@, fma(", "all_floats(0)", True),
    ("cosine_of_a_turn_more", "less_turns(x, @turns + all_floats(0.5)@)", "turns - all_floats(0.5)", True),
    ("odd_quarters_as_even_ones", "if_odd(quarters, @all_floats(-1) / tangent@, tangent)", "tangent", True),
    ("tangent_without_a_sign", "return @with_sign(growth / (growth + all_floats(2)), x)@;", "growth / (growth + all_floats(2))", True),
]) + mutants_of("quarter_turns", "host/cpu/elementwise/quarter_turns.hpp", NATIVE_SINGLES, [
    ("far_numbers_are_near", "if (@are_less(all(kFar), magnitude(x)) != 0@) reduce_far(x);", "false", True),
    ("sign_of_far_numbers", "far_rest = @flipped(turns * all(kPi / 2), x)@ + signs;", "turns", True),
]) + mutants_of("one_result", "host/plan/elementwise/one_result.cpp", NATIVE_ELEMENTWISE, [
    ("integers_are_infinite", "p.step[0].operation == Operation::isfinite ? @1@ : 0;", "0"),
]) + mutants_of("elementwise_constant", "host/cpu/elementwise/elementwise_constant.cpp", NATIVE_ELEMENTWISE, [
    ("half_of_a_pattern", "std::memcpy(elements + done, elements, @static_cast<std::size_t>(done)@);", "1"),
]) + mutants_of("native_quotients", "host/cpu/elementwise/elementwise_functions.cpp", NATIVE_QUOTIENTS, [
    ("near_everywhere", "if (@kIsFar(x[i], y[i])@) results[i]", "false"),
    ("zero_without_a_sign", "rest == 0 ? @std::copysign(0.0f, b)@", "0.0f"),
    ("quotients_of_any_size", "std::abs(double{a} / b) < @0x1p28@", "0x1p70"),
]) + mutants_of("native_integers", "host/cpu/elementwise/elementwise_integers.cpp", NATIVE_QUOTIENTS, [
    ("least_number_by_minus_one", "return plain ? quotient : @other@;", "T{0}"),
]) + mutants_of("native_integers", "host/cpu/elementwise/elementwise_shifts.hpp", NATIVE_QUOTIENTS, [
    ("zeros_for_shifts_of_any_width", "return by < @width@ ? static_cast<T>(a >> (by & last)) : T{0};", "width + 1"),
]) + mutants_of("short_integers", "host/cpu/elementwise/elementwise_rows.cpp", NATIVE_QUOTIENTS, [
    ("operands_of_any_type", ": tensor.reading == Reading::value && @tensor.type == p.common@;", "true"),
]) + mutants_of("native_elementwise_operand", "host/cpu/elementwise/elementwise_operand.cpp", NATIVE_ELEMENTWISE, [
    ("rows_of_a_piece_repeated", "move_row(bytes_, @data_ + offset@, step(), out, 1, part)", "data_"),
    ("scatter_packs", "move_row(bytes(), in, 1, data_ + offset, @step()@, part)", "std::int64_t{1}"),
    ("short_rows_at_the_wrong_pitch", "move_rows_(in, {@from.row@ * bytes_}, out,", "inner_extent_"),
    ("elements_at_the_wrong_pitch", "move_elements(bytes_, in, from, out, @to@, rows,", "packed()"),
    ("first_row_for_all", "++row, @read += from.row@, write", "read += 0"),
    ("merges_all_axes", "&& @strides[rank - 1] == joined@", "true"),
    ("dense_rows_asked_for", "@(next >= row && next < row + kLineBytes)@", "false"),
    ("repeated_rows_asked_for", "if (@axes.strides[axis] == 0@) return 0;", "false"),
    ("rows_in_the_caches_asked_for", "return @rows * row < kLeastBytes@ ? 0", "false"),
]) + mutants_of("packed_boxes", "host/cpu/elementwise/packed_boxes.cpp", NATIVE_ELEMENTWISE, [
    ("last_box_dropped", "parallel_ranges(@boxes.total()@,", "boxes.total() - (boxes.total() > 1)"),
    ("all_boxes_read_the_first", "offsets[i] += @first[axis] * p_.tensor[i].strides[axis]@", "0"),
    ("parts_in_one_place", "buffer += @part_bytes_@;", "0"),
    ("results_in_the_first_box", "static_cast<char*>(p_.out) + @out@ * bytes_of(p_.out_type)", "0"),
]) + mutants_of("native_elementwise_packing", "host/cpu/elementwise/elementwise_packing.cpp", NATIVE_ELEMENTWISE, [
    ("short_rows_one_by_one", "axes.inner_extent() * bytes < @kLineBytes@ &&", "0"),
    ("rows_of_another_order_not_packed", "return std::abs(stride) < @pitch@;", "0"),
    ("rows_of_no_pitch_not_packed", "axes.extents[axes.rank - 2] >= @kLeastPitchedRows@ &&", "0"),
    ("strided_rows_one_by_one", "return !repeats(axes) && @axes.inner_stride() != 1@;", "false"),
    ("repeated_elements_packed", "return @!repeats(axes)@ && axes.inner_stride() != 1;", "true"),
    ("repeated_short_rows_packed", "if (@!repeats(axes)@ && axes.rank", "true"),
    ("few_neighbours_packed", "return @neighbours(axes) >= kLeastRun@;", "true"),
    ("neighbours_along_one_axis", "if (@next == end@) break;", "next == end || found > 0"),
    ("short_rows_of_results_one_by_one", "axes.inner_extent() < @kLeastRun@ &&", "0"),
    ("strided_results_one_by_one", "short_rows || (@axes.inner_stride() != 1@ &&", "false"),
    ("all_short_rows_of_results_packed", "short_rows || (@axes.inner_stride() != 1@ &&", "true"),
]) + mutants_of("native_elementwise_order", "host/cpu/elementwise/elementwise_order.cpp", NATIVE_ELEMENTWISE, [
    ("rows_apart_not_waited_for", "(@waits(axes, bytes)@ ? 1 + wait : 1)", "false"),
    ("no_row_is_read_ahead", "return between > @kReadAhead@;", "0"),
    ("long_rows_waited_for", "if (row >= @kShortRow@ ||", "1 << 30"),
    ("caches_waited_for", "elements * bytes <= @kInCache@)", "0"),
    ("rows_nearby_waited_for", "if (step <= @kNearby@) break;", "0"),
    ("results_in_another_order", "ordered.out_strides[to] = p.out_strides[@from@];", "to"),
]) + mutants_of("elementwise_memory", "host/plan/elementwise/elementwise_nest.cpp", ELEMENTWISE, [
    ("start_of_the_output", "at_bytes(out, @nest.offsets[0]@ * p.out_bytes)", "std::int64_t{0}"),
    ("start_of_an_operand", "at_bytes(tensors[t], @nest.offsets[t + 1]@ * tensor.bytes)", "nest.offsets[0]"),
    ("strides_of_the_first_tensor", "nest.strides[@static_cast<std::size_t>(t) + 1@];", "std::size_t{1}"),
]) + mutants_of("elementwise_alone", "host/plan/elementwise/elementwise_nest.cpp", "ElementwisePlan.AnElementAlone*", [
    ("counts_as_repeated", "p.tensor[t].strides[0] = @1@;", "0"),
]) + mutants_of("elementwise_repeated", "host/api/repeated_operands.cpp", ELEMENTWISE, [
    ("rounds_of_one_stride", "rounds > 1 ? @strides[axis] * period@ : 0", "strides[axis]"),
    ("one_period_for_all", "if (@period != whole@) fail(", "false"),
    ("first_operand_repeats", "(@!firsts[i]@ && part > 0 && whole % part == 0)", "true"),
    ("axes_of_one_element_stay", "if (@out_shape[axis] == 1@) continue;", "false"),
]) + mutants_of("operand_views", "host/api/operand_views.cpp", ELEMENTWISE, [
    ("any_view_in_place", "if (is_operand && @inputs[t] == out && have_same_places(operands[t], out_view)@) continue;", "inputs[t] == out"),
]) + mutants_of("same_places", "host/api/checks.cpp", ELEMENTWISE, [
    ("of_smaller_elements", "|| @size_of(a.dtype()) != size_of(b.dtype())@) return false;", "false"),
]) + mutants_of("elementwise_rows", "host/plan/elementwise/elementwise_rows.cpp", ELEMENTWISE, [
    ("costly_vectors_too_wide", "if (@costly@ && p.width > most)", "false"),
    ("lead_left_out", "p.misaligned_elements = @static_cast<std::int32_t>(place_of(p.out, p.out_bytes) % p.width)@;", "0"),
]) + mutants_of("elementwise_transposed", "host/plan/elementwise/elementwise_rows.cpp", ELEMENTWISE, [
    ("one_transposed_of_two", "if (@transposed >= 0@) return;", "false"),
]) + mutants_of("window_parts", "host/plan/window/window_parts.cpp", "*WindowKernelTest*/emulated32", [
    ("inside_from_the_first_position", "divide_up(@std::max<std::int64_t>(0, p.pad_left)@, p.stride)", "std::int64_t{0}"),
    ("inside_to_the_last_position", "std::min(p.positions, @last / p.stride + 1@);", "p.positions"),
    ("ends_of_the_whole_signal", "part.params.pad_left -= @begin * problem.stride@;", "0"),
    ("no_gap", "both.gap = @end - begin@;", "0"),
]) + mutants_of("elementwise_strips", "host/plan/elementwise/elementwise_strips.cpp", STRIPS, [
    ("indices_for_quotients", "return number - @before.extent@ * before_it;", "0"),
    ("tensors_by_indices", "added(axis.tensors[t], @before.tensors[t]@);", "0"),
    ("costs_not_compared", "if (@cost >= least@) return;", "true"),
]) + mutants_of("strip_builder", "host/plan/elementwise/strip_builder.cpp", STRIPS, [
    ("last_strip_of_a_misaligned_axis_dropped", "divide_up(strip.extent + @lead@, count_);", "0"),
    ("strips_end_with_the_axis", "layout_.strips.whole = @lead == 0 && strip.extent % count_ == 0@;", "true"),
    ("strips_apart_are_whole", "layout_.strips.whole = @step * count_ == whole.extent@;", "true"),
    ("chunks_of_equal_lengths", "layout_.strips.chunked_extent = static_cast<std::int32_t>(@whole.extent@);", "whole.extent + chunk"),
    ("strips_where_scales_change", "axis.may_have_strips = @(without >> i & 1) == 0@;", "true"),
    ("lanes_that_begin_anywhere", "return fits ? @aligned@ : even;", "even"),
    ("inner_axes_that_end_nowhere", "layout_.jump.out = @outer.out - inner * joined.out@;", "0"),
    ("strips_that_begin_far_before", "return @elements < p.extents[axis] ? elements : 0@;", "elements"),
    ("lanes_that_end_anywhere", "const bool fits =\n        @2 * lanes * aligned <= 3 * wanted@ &&", "false"),
]) + mutants_of("strip_cost", "host/plan/elementwise/strip_cost.cpp", STRIPS, [
    ("first_tensor_alone", "for (int t = 0; t < @p_.tensors@ && cost < most; ++t)", "1"),
    ("sectors_of_one_run", "runs *= @static_cast<double>(steps[i].extent)@;", "1"),
    ("gaps_cost_nothing", "run += (steps[i].extent - 1) * @steps[i].bytes@;", "operand.element"),
]) + mutants_of("strips", "kernels/elementwise/strips.hpp", ELEMENTWISE + ":" + QUANTIZED, [
    ("last_block_dropped", "blocks = @divide_up<std::int64_t>(p.lanes, p.block_threads)@;",
     "std::max<std::int64_t>(std::int64_t{p.lanes} / p.block_threads, 1)"),
    ("lanes_behind_the_chunks",
     "return {first, present, @static_cast<std::int32_t>(chunked) < strips.chunked_extent@, 0, all_whole};",
     "true"),
    ("strips_that_begin_late", "begin = @first < 0 ? -first : 0@,", "0"),
    ("cut_strips_beside_whole_ones", "all_whole = @!any_beside(is_cut)@;", "true"),
    ("repeated_elements_of_the_row", "if (@step == 0 && jump == 0@) {", "true"),
    ("neighbours_of_strips_apart", "static_cast<std::uint32_t>(first + i * @strips.step@);", "1"),
    ("lead_left_out", "static_cast<std::int32_t>(offset) - @p.strips.lead@ * static_cast", "0"),
    ("inner_axes_begin_with_a_strip", "<< (inner - @(first - outer * inner)@);", "0"),
    ("lead_of_any_number_left_out", "sums[i] - @lead@ * stride(p,", "0"),
    ("axes_behind_the_unrolled_ones", "for (int axis = 1 + kUnrolled; @axis <= last@; ++axis)", "false"),
]) + mutants_of("half_strips", "host/plan/elementwise/elementwise_kernel.cpp", HALF_STRIPS, [
    ("half_strips_of_any_size", "@!has_bytes(p, kFewLanes * device.multiprocessors * strip_elements(p.width) * p.out_bytes)@;",
     "true"),
    ("planned_as_whole", "p.strips.whole = @p.strips.whole && !halved@;", "p.strips.whole"),
]) + mutants_of("strip_load", "kernels/elementwise/strip_load.hpp", ELEMENTWISE + ":" + QUANTIZED + ":" + PAIRS_OF_CODES, [
    ("elements_beyond_the_axis", "if (@(present & 1u << i) != 0@) visit(i,", "true"),
    ("inner_axes_that_end_nowhere", "(wraps & 1u << i) != 0 ? @step + jump@ : step;", "step"),
    ("repeated_code_is_its_word", "words[1] = {@repeated_words(static_cast<std::uint8_t>(raw_[0]), 1)@};", "Words{}"),
    ("bytes_in_the_wrong_order", "return @permute_bytes<kPair>(numbers[0], numbers[1])@;", "numbers[0]"),
    ("second_vector_is_the_first", "const int whole = @v / kParts@;", "0"),
    ("aligned_words_only", "offset_ = @before@;", "0"),
    ("short_vectors_not_shifted", "bits >> (8 * @offset_@)", "0"),
    ("second_short_vector_is_the_first", "bits >> (8 * kPart * @v@)", "0"),
]) + mutants_of("typed_flat", "kernels/elementwise/typed_flat.hpp", FLAT, [
    ("next_row_is_this_one", "if (cross < end) find_row(p, @row + 1@, next);", "row"),
    ("rows_end_late", "static_cast<std::int32_t>(@p.row_divisor.value - index@);", "p.row_divisor.value"),
    ("lead_left_out", "static_cast<std::int32_t>(lane) * kElements - @p.misaligned_elements@;", "0"),
    ("elements_around_the_output", "return @i >= begin && i < end@;", "true"),
    ("one_row_for_all", "return load.fill_each([&](int i) { return @i < place.cross@ ? element", "true"),
    ("axes_behind_the_unrolled_ones", "take_axes<kUnrolledStripAxes>(@p.rank - 1@, take, divide);",
     "(p.rank - 1 < kUnrolledStripAxes ? p.rank - 1 : kUnrolledStripAxes)"),
]) + mutants_of("flat_rows", "host/plan/elementwise/elementwise_rows.cpp", FLAT, [
    ("indices_for_quotients", "strides[axis] -= @p.extents[axis - 1] * strides[axis - 1]@;", "0"),
]) + mutants_of("flat_choice", "host/plan/elementwise/kernel_obstacles.cpp", FLAT, [
    ("outputs_with_gaps", "if (@p.out_strides[axis] != elements@) return false;", "false"),
    ("rows_of_any_length", "return @p.extents[p.rank - 1] >= flat_elements(p.width)@ &&", "true"),
]) + mutants_of("half_quotients", "kernels/elementwise/half_quotients.hpp", "*RootsAndQuotients*/emulated32", [
    ("root_of_zero", "return @x == 0@ || x ==", "false"),
    ("root_of_small", "normal_root(small ? x * kLarge : x) * (small ? @kRootOfSmall@ : 1.0f)", "kSmall"),
    ("reciprocal_not_put_right", "return approximate_reciprocal(x * scale) * @scale@;", "1.0f"),
]) + mutants_of("waiting_share", "host/plan/copy/tile_score.cpp", "TilePlan.*", [
    ("threads_never_wait", "return std::min(score, @waiting_share(target, plan)@);", "1.0"),
]) + mutants_of("half_pairs", "kernels/elementwise/half_pairs.hpp", FUNCTIONS, [
    ("divisors_without_a_reciprocal", "|| @!(denominator >= 0x1p-126f)@;", "false"),
    ("huge_squares", "scale = is_huge ? @kDown@ :", "1.0f"),
    ("tiny_squares", "is_tiny ? @kUp@ : 1.0f, x", "1.0f"),
    ("infinite_point", "return @!(a + b < kInfinity<float>)@;", "false"),
]) + mutants_of("angle_functions", "kernels/elementwise/angle_functions.hpp", FUNCTIONS, [
    ("huge_angles_below_zero", "rest = @x < 0 ? -angle : angle@;", "angle"),
    ("digits_without_the_lower_ones", "digits(0) + @static_cast<std::uint32_t>(middle >> 32)@;", "0u"),
    ("quarter_below", "(high + @(std::uint32_t{1} << 29)@) >> 30", "0u"),
    ("infinite_angle", "return @absolute(x) < kInfinity<float>@ ? result", "true"),
]) + mutants_of("guarded_functions", "kernels/elementwise/guarded_functions.hpp", FUNCTIONS, [
    ("quotient_not_corrected", "const C magnitude = @rest < 0 ? nearest - 1 : nearest@;", "nearest"),
    ("goes_down_for_any_signs", "goes_down = kToFloor && @sign < 0@ && rest != 0;", "true"),
    ("odd_powers_of_any_sign", "return @odd && __float_as_uint(a) >> 31 != 0@ ? -result : result;", "false"),
    ("powers_of_zero", "has_limit = @base == 0@ ||", "false"),
    ("roots_below_zero", "&& @(a > 0 || whole)@)", "true"),
    ("rest_of_the_other_sign", "moves = rest != 0 && @(rest < 0) != (b < 0)@;", "false"),
]) + mutants_of("activations", "kernels/elementwise/activations.hpp", FUNCTIONS, [
    ("sign_of_zero_lost", "return @with_sign_of(fma(rest, reciprocal, quotient), numerator)@;",
     "fma(rest, reciprocal, quotient)"),
    ("infinity_times_zero", "return negative ? quotient * kToLower : @x@;", "quotient"),
    ("rest_of_an_exponent", "(negative ? @product * rest@ : 0.0)", "0.0"),
    ("rounding_of_a_square", "power_of_two(fmaf(@dropped@,", "0.0f"),
]) + mutants_of("byte_operations", "kernels/elementwise/byte_operations.hpp", SECOND_ELEMENTS + ":" + CHUNKS, [
    ("last_byte_is_the_third", "f(x >> 16, y >> 16), @f(x >> 24, y >> 24)@", "f(x >> 16, y >> 16)"),
    ("shift_by_more_bits_than_there_are", "count < 8 ? count : @8@", "count & 7"),
]) + mutants_of("half_relation", "kernels/elementwise/half_operations.hpp", SECOND_ELEMENTS, [
    ("second_word_is_the_first", "permute_bytes<0x7531>(low, @high@)", "low"),
    ("infinity_is_finite", "return ~at_least(x, @kInfinities@);", "kInfinities + kBoth"),
    ("zero_with_a_sign", "return (x & @kMagnitudes@) + (kMagnitudes", "0xffffffffu"),
    ("infinity_is_nan", "return at_least(x, @kInfinities + kBoth@);", "kInfinities"),
    ("equal_is_less", "return @less(x, y) | equal(x, y)@;", "less(x, y)"),
    ("nan_is_equal", "return @~equal(x, y)@;", "less(x, y) | less(y, x)"),
]) + mutants_of("shifts", "kernels/elementwise/cheap_operations.hpp", SECOND_ELEMENTS, [
    ("count_of_more_bits", "bits(y) < kMost ? bits(y) : @kMost@", "bits(y) & kMost"),
    ("unsigned_by_more_than_all", "return @bits(y) <= kMost@ ? number(bits(x) >> count(y)) : C{0};", "true"),
]) + mutants_of("elementwise_words", "kernels/elementwise/elementwise_words.hpp", CHUNKS, [
    ("second_vector_is_the_first", "put_element(words[v], i, elements[@v * kWidth + i@]);", "i"),
]) + mutants_of("row_chunks", "kernels/elementwise/row_chunks.hpp", CHUNKS, [
    ("rows_in_two_axes", "@row = rows.of(p, column)@;", "row = RowOffsets{}"),
    ("last_element_dropped", "return @i * kChunkLanes < left@;", "i * kChunkLanes + 1 < left"),
    ("whole_too_early", "whole = left > @(kElements - 1) * kChunkLanes@;", "(kElements - 2) * kChunkLanes"),
    ("strides_of_one", "row += @std::int64_t{first} * stride@;", "first"),
    ("strides_between_elements", "const std::int32_t step = @stride@ * kChunkLanes;", "1"),
]) + mutants_of("elementwise_types", "host/api/elementwise_types.cpp", ELEMENTWISE, [
    ("constants_without_their_sign", "if (@is_signed(common)@) return converted_bits(", "false"),
    ("chosen_bits_as_numbers", "} else if (@!raw@ && result == DType::f32", "true"),
    ("rounds_to_nearest", "p.rounding = @options.rounding@;", "Rounding::nearest_even"),
    ("tolerance_for_the_other", "p.rtol = @options.rtol@;", "options.atol"),
    ("nan_is_never_close", "p.equal_nan = @options.equal_nan@;", "false"),
]) + mutants_of("promotion", "host/api/promotion.cpp", ELEMENTWISE, [
    ("bits_of_two_types", "if (type_ && @equal_@ && type != *type_)", "false"),
    ("constants_beside_higher_types", "if (!type_ || @kind_of(*type_) < *kind_@) return", "true"),
    ("bool_has_arithmetic", "if (@common == DType::bool_@) refuse(", "false"),
]) + mutants_of("misaligned_rows", "host/plan/elementwise/typed_kernel.cpp", "ElementwiseProgram.MisalignedRows*", [
    ("any_operand_lies_in_parts", "return @tensor.access == Access::unaligned@;", "false"),
]) + mutants_of("typed_kernel", "host/plan/elementwise/typed_kernel.cpp", ELEMENTWISE, [
    ("strided_operands_are_unaligned", "return @tensor.access == Access::strided@; };", "false"),
    ("costly_operations_take_two_types", "if (has_costly(p) && (@types.a != types.b@ ||", "false"),
    ("cast_results_are_typed", "if (@p.convert@) return \"the result is cast\";", "false"),
    ("transposed_stays_in_place", "p.transposed_tensor = @p.argument[0].tensor == transposed ? 0 : 1@;", "transposed"),
]) + mutants_of("elementwise_checks", "host/api/elementwise_checks.cpp", ELEMENTWISE, [
    ("flushes_any_type", "(@common != DType::f32@ ||", "false"),
    ("bools_anywhere", "(@after_bool@ && (kind", "false"),
    ("running_value_of_the_first", "|| @(i == 0 && step.running != 0)@)", "false"),
]) + mutants_of("code_operands", "host/api/elementwise_checks.cpp", QUANTIZED, [
    ("more_tensors_than_there_is_room", "if (@tensors > kMaxTensors@)", "tensors > kMaxTensors + 3"),
]) + mutants_of("code_numbers", "host/api/elementwise_types.cpp", QUANTIZED, [
    ("result_without_its_numbers", "p.out_codes = @numbers_of(*codes, p)@;", "CodeNumbers{}"),
    ("codes_always_signed", "numbers.is_signed = @codes.codes.dtype() == DType::i8@;", "true"),
    ("zero_left_out", "numbers.zero = @*zero@;", "0"),
]) + mutants_of("code_memory", "host/api/elementwise_plan.cpp", QUANTIZED, [
    ("scales_in_place", "all_tensors(state, inputs, room), @state.operands@, state.out, out,", "kMaxTensors"),
]) + mutants_of("code_checks", "host/api/codes.cpp", QUANTIZED, [
    ("zero_point_too_large", "*zero > @lowest + 255@)", "lowest + 256"),
]) + mutants_of("code_rows", "host/plan/elementwise/elementwise_rows.cpp", QUANTIZED, [
    ("last_row_dropped", "static_cast<std::uint32_t>(@p.elements / p.extents[p.rank - 1]@ * shared)",
     "p.elements / p.extents[p.rank - 1] - (p.rank > 1)"),
]) + mutants_of("code_rows", "host/plan/elementwise/code_kernel.cpp", QUANTIZED, [
    ("zero_of_the_row", "is_repeated(codes.scale_tensor) && @is_repeated(codes.zero_tensor)@;", "true"),
    ("scale_of_the_row", "return @is_repeated(codes.scale_tensor)@ &&", "true"),
    ("operands_of_any_strides", "if (@!is_aligned(p.tensor[tensor].access)@) return \"an operand's rows", "false"),
]) + mutants_of("code_kernel", "host/plan/elementwise/code_kernel.cpp", QUANTIZED, [
    ("any_operation_bounded", "@!is_bounded(p.step[0].operation)@ ||", "false"),
    ("numbers_as_codes", "if (@!is_codes(p, i)@) return false;", "false"),
    ("all_scales_alike", "p.tensors > kScaleTensors && @!are_alike(p)@)", "false"),
    ("own_scales_at_any_cost", "return own.params.own_scales && @own.cut.cost + kOwnScale < shared.cut.cost@;", "true"),
    ("own_scales_never", "if (@other_numbers == other_zeros@ ||", "true"),
    ("strides_of_no_scale", "std::copy_n(scales.strides, @kMaxRank@, first.strides);", "0"),
]) + mutants_of("code_arithmetic", "kernels/elementwise/code_rows.cpp", BEYOND_CODES, [
    ("all_results_are_held", "is_held = @holds_results<kMul>(row)@;", "true"),
    ("sums_below_0", "kHeld ? sum : @fmaxf(sum, 0.0f)@)", "sum"),
]) + mutants_of("byte_table", "host/plan/elementwise/byte_table.cpp", BYTE_TABLE, [
    ("in_place_by_any_kernel", "in == out && @copy.kernel != CopyKernel::stream@)", "false"),
    ("less_aligned_memory", "if (@!copy.in.is_aligned(in)@ ||", "false"),
]) + mutants_of("byte_table", "kernels/copy/cast_table.hpp", BYTE_TABLE, [
    ("words_in_another_order", "(p.table.values)[@i@];", "i ^ 1"),
]) + mutants_of("bounded_codes", "kernels/elementwise/bounded_codes.hpp", QUANTIZED, [
    ("lowest_code_not_kept", "fmaf(fminf(@fmaxf(results[i], low)@, high), by.factor, kWhole)", "results[i]"),
    ("zero_of_the_result_dropped", "static_cast<std::uint32_t>(@out.zero@) - kWholeBits;", "0"),
    ("any_scale_folded", "return @scales[0].fold() && (p.step[0].operands < 2 || scales[1].fold()) && out.fold()@;",
     "true"),
    ("one_number_for_both", "if (binary) steps_of_codes(@loads[1]@, scales[1]", "loads[0]"),
    ("product_of_one_scale", "return {@first * second@ * reciprocal,", "first"),
]) + mutants_of("code_vectors", "kernels/elementwise/code_vectors.cpp", CODE_VECTORS, [
    ("writes_before_the_row", "begin = @first < 0 ? -first : 0@", "0"),
    ("guard_byte_written", "end = @left < 0 ? 0 : (left < kCodes ? left : kCodes)@;", "left < 0 ? 0 : kCodes"),
    ("all_results_are_held", "default:\n      return @false@;", "true"),
    ("products_are_sums", "return @a * b <= limit@;", "a + b <= limit"),
    ("signs_not_flipped", "flip = is_signed ? 0 : @0x80808080u@;", "0"),
    ("zero_of_the_result_dropped", "zero = @out.zero@ - (is_signed", "0"),
    ("axes_behind_the_unrolled_ones", "take_axes<kUnrolledStripAxes>(@p.rank - 1@, take, divide);",
     "(p.rank - 1 < kUnrolledStripAxes ? p.rank - 1 : kUnrolledStripAxes)"),
]) + mutants_of("native_gemm", "host/cpu/conv/gemm.cpp", "NativeGemm.*:*Gemm*/cpu", [
    ("truncating_cast", "bias == nullptr ? @sums[i]@ : sums[i] + bias[i]", "mutant::truncated(sums[i])"),
    ("two_roundings", "bias == nullptr ? sums[i] : @sums[i]@ + bias[i]", "mutant::through_f16(sums[i])"),
    ("last_element_dropped", "i = 0; @i < count@; ++i) row[i]", "i < count - 1"),
    ("guard_byte_written", "convert_row(row, @static_cast<f16*>(y) + offset@, count);",
     "mutant::spilled(static_cast<f16*>(y) + offset, count)"),
    ("deeper_panels_lost", "for (std::int64_t k = 0; @k < params.k@; k += kDepth)", "k < 1"),
    ("earlier_sums_kept", "@std::fill_n(&panels.sums[0][0], kRows * kColumns, 0.0f)@;",
     "&panels.sums[0][0] + (block == 0 ? 0 : 1)"),
    ("bias_of_the_first_block", "params.bias + group * params.bias_group + @column@;", "std::int64_t{0}"),
    ("last_row_block_dropped", "row_blocks = @divide_up(params.m, kRows)@;", "params.m / kRows"),
    ("last_column_block_dropped", "column_blocks = @divide_up(params.n, kColumns)@;", "params.n / kColumns"),
]) + mutants_of("openblas_gemm", "host/cpu/conv/openblas_gemm.cpp", "NativeGemm.*", [
    ("deeper_blocks_lost", "@k < params.k@; k += kDepth", "k < 1"),
    ("deeper_blocks_not_added", "@k == 0 ? 0.0f : 1.0f@", "0.0f"),
    ("earlier_sums_kept", "@k == 0 ? 0.0f : 1.0f@", "1.0f"),
    ("right_rows_of_the_first_block", "if (@held != wanted@)", "k == 0 && column == 0 && held != wanted"),
    ("depth_of_the_first_block", "wanted{bt_block, column, @k@};", "std::int64_t{0}"),
    ("bias_of_the_first_block", "params.bias + group * params.bias_group + @column@;", "std::int64_t{0}"),
    ("last_column_dropped", "for (std::int64_t column = 0; @column < params.n@;", "column < params.n - 1"),
    ("last_row_dropped", "for (std::int64_t row = 0; @row < params.m@;", "row < params.m - 1"),
    ("result_of_the_first_rows", "group * params.y_group + @row * params.ldc@ + column;", "std::int64_t{0}"),
]) + mutants_of("img2col", "host/api/img2col.cpp", "*Img2col*/cpu:*Weights*/cpu:CausalPadding.*", [
    ("pr_ignored", "padded_length(operation, length, @pad@)",
     "PadSpec{pad.left, 0, pad.mode, pad.value, pad.policy}"),
    ("frame_causal_pr_ignored", "pad.right = @window.stride - length % window.stride@;",
     "std::int64_t{0}"),
    ("column_order_swapped", "tap_outer = @window.order == ColumnOrder::tap_outer@;",
     "window.order != ColumnOrder::tap_outer"),
    ("weight_order_swapped", "const bool tap_outer = @order == ColumnOrder::tap_outer@;",
     "order != ColumnOrder::tap_outer"),
]) + mutants_of("pad", "host/api/window.cpp", "*Pad*/cpu", [
    ("pr_ignored", "std::max(params.length, @std::max(pad.left, pad.right)@ + 1)", "pad.left"),
    ("constant_rounded_twice", "bits_of(to_f16(@value@))", "static_cast<float>(value)"),
]) + mutants_of("depthwise", "host/api/depthwise.cpp", DEPTHWISE, [
    ("taps_flipped", "params.weight_tap = @used_stride(weights, 1)@;",
     "(params.weights = static_cast<const char*>(weights.data()) + (weights.extent(1) - 1) * used_stride(weights, 1) * "
     "static_cast<std::int64_t>(size_of(weights.dtype())), -used_stride(weights, 1))"),
    ("channel_and_tap_swapped", "params.weight_channel = @used_stride(weights, 0)@;", "used_stride(weights, 1)"),
    ("last_tap_dropped", "params.taps = @weights.extent(1)@;", "weights.extent(1) - (weights.extent(1) > 1)"),
    ("last_sample_dropped", "params.length = @in.extent(2)@;", "in.extent(2) - (in.extent(2) > 1)"),
    ("last_channel_dropped", "params.channels = @in.extent(1)@;", "in.extent(1) - (in.extent(1) > 1)"),
    ("last_item_dropped", "params.batch = @in.extent(0)@;", "in.extent(0) - (in.extent(0) > 1)"),
    ("batch_stride_0", "params.in_batch = @used_stride(in, 0)@;", "std::int64_t{0}"),
    ("batch_stride_in_32_bits", "params.in_batch = @used_stride(in, 0)@;", "mutant::wrapped(used_stride(in, 0))"),
    ("result_stride_in_32_bits", "params.out_batch = @used_stride(out, 0)@;", "mutant::wrapped(used_stride(out, 0))"),
    ("bias_of_channel_0", "params.bias_channel = @used_stride(bias, 0)@;", "std::int64_t{0}"),
    ("silu_left_out", "params.silu = @activation == Activation::silu@;", "false"),
    ("initial_state_ignored", "if (@is_given(initial_state)@) set_initial_state", "false"),
    ("initial_state_of_item_0", "params.initial_batch = @used_stride(state, 0)@;", "std::int64_t{0}"),
    ("final_state_left_out", "if (@wants_state@) set_state", "false"),
    ("update_from_the_oldest_columns", "state.slice(2, @columns - (taps - 1)@, columns)", "std::int64_t{0}"),
    ("sequence_ids_ignored", "params.ids = @static_cast<const std::int32_t*>(ids.data())@;", "nullptr"),
    ("sequence_ids_of_item_0", "params.id_batch = @used_stride(ids, 0)@;", "std::int64_t{0}"),
    ("guard_byte_written", "params.out = @out.data()@;",
     "(static_cast<unsigned char*>(out.data())[out.byte_range().end] = 0x5A, out.data())"),
]) + mutants_of("time_matrix", "kernels/depthwise/depthwise_time_matrix.cpp", MATRIX_TILES, [
    ("row_begin_inside", "inside_from = @first > readable_from@ ?", "false"),
    ("row_end_inside", "inside_to = left - kTile < readable_to ? @left - kTile@ : readable_to;", "left"),
    ("samples_before_the_row_count", "mine[i] = @first + number >= 0@ &&", "true"),
    ("states_left_out", "if (@p.initial_state == nullptr || first >= 0@) return;", "true"),
    ("oldest_state_left_out", "if (@first + number >= oldest@) samples", "first + number > oldest"),
    ("outputs_before_the_row", "if (@j >= -before - offset@ && j", "true"),
    ("outputs_behind_the_row", "&& @j < left - offset@) to[j]", "true"),
    ("bias_left_out", "finish_sums(sums.values, @bias@, p.silu);", "0.0f"),
    ("samples_of_the_next_tile", "(p, grid, @from - step@, offset, staged);", "from"),
    ("only_the_first_tile", "from += @step@;", "0"),
]) + mutants_of("depthwise_matrix", "kernels/depthwise/depthwise_matrix.hpp", MATRIX_TILES, [
    ("weights_one_too_late", "kMatrixZeros + @static_cast<int>(tap)@;", "static_cast<int>(tap) + 1"),
    ("weights_of_channel_0", "lines + @channel * 2 * kLine@ +", "0"),
    ("odd_line_one_too_late", "+ @odd * (kLine - 1)@ +", "odd * kLine"),
    ("zeros_times_infinity", "return @warp_ballot<W>(zero != 0.0f) == 0@;", "true"),
    ("older_samples_left_out", "@tap >= 0@; --tap", "tap > 0"),
]) + mutants_of("depthwise_tile_matrix", "kernels/depthwise/depthwise_tile_matrix.cpp", MATRIX_TILES, [
    ("samples_before_the_row_count", "if (@first >= oldest@ && first < side.times)", "true"),
    ("later_samples_before_the_row_count", "if (@first + 1 >= oldest@ && first + 1", "true"),
    ("last_sample_left_out", "@first < side.times@) load_channels", "first + 1 < side.times"),
    ("last_later_sample_left_out", "@first + 1 < side.times@)", "first + 2 < side.times"),
    ("channels_unturned", "loaded[i].words[@j % 2@][j / 2];", "0"),
    ("last_time_left_out", "for (; @time < side.times@; time += step)", "time + 1 < side.times"),
    ("outputs_behind_the_end", "if (@time + 1 < side.times@) store", "true"),
    ("one_turn_of_threads", "for (int channel = row; channel < channels; channel += @rows@)", "channels"),
    ("states_left_out", "if (@oldest > 0 && p.initial_state != nullptr@) {", "false"),
    ("states_of_channel_0", "SampleRow<T>(p, place.batch, @place.channel + channel@)", "place.channel"),
    ("bias_left_out", "finish_sums(sums.values, @bias@, p.silu);", "0.0f"),
    ("first_tile_alone", "for (T* const end = row + @times@; row < end", "(times < kMatrixTile ? times : kMatrixTile)"),
    ("channels_of_the_first_turn", "channel < channels; channel += @kDepthwiseThreads / W@)", "channels"),
    ("tiles_of_every_channel", "const int channels = @channels_left < p.tile_channels@ ?", "false"),
]) + mutants_of("time_many", "kernels/depthwise/depthwise_time_many.cpp", MANY_TAPS, [
    ("odd_shift_left_out", "__funnelshift_r(words[i], words[i + 1], @(shift & 2) * 8@)", "0"),
    ("oldest_state_left_out", "bits = @time > -p.taps@ ?", "time > 1 - p.taps"),
    ("samples_before_the_row_count", "if (@time < 0@) bits =", "false"),
    ("no_zeros_before_the_row", "return clear_samples<T>(pack, @-time@);", "0"),
    ("words_across_an_end_left_out", "const bool inside = @bytes >= readable_from && bytes <= readable_to + 16 - kBytes@;",
     "false"),
    ("one_tap_too_few", "if (!decltype(whole)::value && @distance >= rest@) break;", "distance >= rest - 1"),
    ("younger_word_stays", "words.newest[0][i] = @words.next[i]@;", "words.newest[0][i]"),
    ("only_the_first_tile", "if (@!is_last@) words.load(row", "false"),
    ("row_begin_inside", "any_beside(@before + oldest < 0@ ||", "false"),
    ("row_end_inside", "|| @end > left@ ||", "false"),
    ("older_words_of_the_tile_before", "load<kInside>(words.next, @bytes -= 16@)", "bytes"),
]) + mutants_of("many_weights", "kernels/depthwise/depthwise_weights.hpp", MANY_TAPS, [
    ("weights_of_channel_0", "convert<float>(weights[@channel * p.weight_channel@ +", "std::int64_t{0}"),
]) + mutants_of("channel_many", "kernels/depthwise/depthwise_channel_many.cpp", MANY_TAPS, [
    ("no_second_channel", "const int second = @group.count == kChannels@ ?", "false"),
    ("last_bias_left_out", "if (@own < left@) shared[static_cast", "own + 1 < left"),
]) + mutants_of("backward", "host/api/depthwise_backward.cpp", NATIVE_BACKWARD, [
    ("d_bias_of_channel_0", "p.d_bias_channel = @used_stride(d.d_bias, 0)@;", "std::int64_t{0}"),
    ("d_weight_channel_and_tap_swapped", "p.d_weight_tap = @used_stride(d.d_weights, 1)@;",
     "used_stride(d.d_weights, 0)"),
    ("d_final_ignored", "if (@is_given(d.d_final_state) && taps > 1@)", "false"),
    ("d_initial_left_out", "if (@is_given(d.d_initial_state) && taps > 1@) {", "false"),
    ("sequence_ids_ignored", "if (@is_given(forward.sequence_ids)@) set_sequence_ids", "false"),
    ("initial_state_ignored", "if (@is_given(forward.initial_state) && taps > 1@)", "false"),
    ("batch_stride_in_32_bits", "batch = @used_stride(view, 0)@;", "mutant::wrapped(used_stride(view, 0))"),
]) + mutants_of("backward_tile", "kernels/depthwise/depthwise_backward_tile.cpp", BACKWARD, [
    ("oldest_sample_off_by_one", "const std::int64_t oldest = place.time - @older@;", "older + (taps > 2 ? -1 : 0)"),
    ("later_gradients_dropped", "@length + i >= run.left@ || (Ids", "true"),
    ("later_gradients_of_the_present", "g[kStep + i] = @later[i]@;", "0.0f"),
    ("gradients_behind_the_end", "const bool is_there = @first + i < times@ &&", "true"),
    ("negative_ids_count", "&& !(Ids && @g_ids[i] < 0@);", "false"),
    ("taps_of_other_sequences", "const bool counts = @!Ids || ids[i + j + distance] == ids[i + j]@;", "true"),
    ("samples_of_other_sequences", "if (Ids && @ids[newest - distance] != ids[newest]@)", "false"),
    ("last_run_dropped", "run = 0; @run < runs@; ++run", "run < runs - (runs > 1)"),
    ("sums_of_block_0", "place.batch * grid.time_tiles + @place.time / grid.tile_times@;", "0"),
    ("bias_row_dropped", "sums[Taps] += @g[i]@;", "0.0f"),
    ("silu_left_out", "if (@!with_silu@) return gradient;", "true"),
]) + mutants_of("backward_channels", "kernels/depthwise/depthwise_backward_channels.cpp", BACKWARD_KERNELS, [
    ("samples_before_a_run_dropped", "if (@time + place >= 0@ && place < left)", "place >= 0"),
    ("initial_state_ignored", "} else if (place < 0 && @initial != nullptr@)", "false"),
    ("first_gradients_in_every_run", "} else if (@time == 0@) {", "true"),
    ("gradients_behind_the_end", "if (@Whole || i < left@) {", "true"),
    ("last_samples_unwritten", "if (!Whole && i >= left + @kOlder@) continue;", "0"),
    ("last_row_of_threads_dropped", "i = 0; @i < rows@; ++i) sum +=", "i < rows - 1"),
    ("sums_of_block_0", "place.batch * grid.time_tiles + @place.time / grid.tile_times@;", "0"),
]) + mutants_of("backward_time", "kernels/depthwise/depthwise_backward_time.cpp", BACKWARD_KERNELS, [
    ("gradients_of_the_only_block_dropped", "if (@has_sum@) store_gradient(p, channel,", "false"),
    ("sums_of_other_items_dropped", "i = 1; @i < p.items()@; ++i) sum +=", "i < p.items() - 1"),
    ("first_steps_thought_whole", "const int begin_inside = @all(!clears)@ ? 0 : 1;", "true"),
    ("last_steps_thought_whole", "whole < steps && @all(high >= (whole + 1) * Walk::kStep)@", "true"),
    ("samples_before_the_first_step_dropped", "if (Taps > 1 && @walk.group.lane == 0@ && (!clears", "false"),
    ("aligned_stores_anywhere", "@misaligned_elements(static_cast<const T*>(p.d_in)) == 0@;", "true"),
    ("sums_of_block_0", "place.batch * grid.time_tiles + @place.time / grid.tile_times@;", "0"),
]) + mutants_of("backward_walk", "kernels/depthwise/depthwise_backward_walk.hpp", BACKWARD_KERNELS, [
    ("later_gradients_dropped", "g[kCount + i] = group.is_last() ? @later[i]@ : behind;", "0.0f"),
    ("gradients_behind_the_walk_dropped", "later[i] = @group.of(g, i)@;", "0.0f"),
    ("tail_dropped", "if (@has_tail@) { float value", "false"),
    ("tail_without_what_is_behind", "group.of(g, @(group.lane + distance) % kBackwardGroup@)", "group.lane"),
    ("sums_of_half_the_lanes", "int mask = @kBackwardGroup / 2@;", "kBackwardGroup / 4"),
]) + mutants_of("backward_stages", "kernels/depthwise/depthwise_backward_stages.hpp", BACKWARD_KERNELS, [
    ("first_lane_in_the_wrong_step", ": !is_first ? own + @next(stage)@ + kEnd", "stage"),
    ("last_lane_in_the_wrong_step", "stage + kPackWords : @last(stage)@ - kEnd", "stage"),
]) + mutants_of("backward_rows", "kernels/depthwise/depthwise_backward_rows.hpp", BACKWARD_KERNELS, [
    ("initial_state_off_by_one", "const int back = this->low - @1@ - at;", "2"),
    ("vectors_across_the_end", "return offset >= low && @offset + kCount <= high@;", "offset < high"),
]) + mutants_of("backward_kernels", "kernels/depthwise/depthwise_backward.cpp", BACKWARD, [
    ("last_block_dropped", "block = begin; @block < end@; ++block) sum +=", "block < end - (blocks > 1 && end == blocks)"),
    ("last_part_dropped", "i = 1; @i < Parts@; ++i) sum +=", "i < Parts - 1"),
    ("state_columns_dropped", "{p.d_initial == nullptr ? 0 : @older@,", "older - 1"),
]) + mutants_of("backward_sums", "kernels/depthwise/depthwise_backward.hpp", BACKWARD, [
    ("taps_flipped", "@p.forward.taps - 1 - row@) * p.d_weight_tap", "row"),
    ("padding_is_a_sequence", "return source >= 0 && @id >= 0@ &&", "true"),
]) + mutants_of("time", "kernels/depthwise/depthwise_time.cpp", ONE_TIME_KERNEL, [
    ("packs_before_a_run_dropped", "for (int i = @has_edge ? -1 : 0@; i < p.run + has_end; ++i)", "0"),
    ("pack_behind_a_run_dropped", "has_end = kAnywhere && @grid.lane() == 0@;", "false"),
    ("zeros_before_a_row_dropped", "if (Rows == RowBegins::aligned && @has_edge && row.before < kBefore@)", "false"),
    ("samples_before_the_row_count", "if (@before < Taps - 1@) clear_samples", "false"),
    ("samples_before_alike_rows_count", "Rows == RowBegins::alike && @before < kOlderSamples@)", "false"),
    ("initial_state_ignored", "if (row.has_samples(offset) || @p.initial_state != nullptr@) row", "false"),
    ("outputs_behind_the_row", "if (before + at >= 0 && @at < left@)", "true"),
    ("rows_thought_alike", "if (@!has_alike_rows(p)@) return RowBegins::anywhere;", "false"),
]) + mutants_of("turn", "kernels/depthwise/depthwise_turn.cpp", ONE_TIME_KERNEL, [
    ("samples_before_a_run_dropped", "before[i] = @next[kStep - (Taps - 1) + i]@;", "0"),
    ("rows_begin_on_boundaries", "&@out.element(channel + j, first)@;",
     "tile[(channel + j) * p.out_side.channel_pitch + first]"),
    ("last_sample_twice", "const int last = @(left - 1) * pitch@;", "(left - 2) * pitch"),
]) + mutants_of("long_rows", "kernels/depthwise/depthwise_channel.cpp", LONG_ROWS, [
    ("threads_behind_the_row", "if (run >= grid.runs || @unit >= grid.groups@) return;", "false"),
]) + mutants_of("depthwise_tile", "kernels/depthwise/depthwise_tile.hpp", ONE_TIME_KERNEL, [
    ("ends_of_half_the_rows", "end = static_cast<int>(threadIdx.x); @end < rows * 2@;", "end < rows"),
    ("last_words_left_out", "if (last ? @first == 0 || first == row.end@ : row.first", "true"),
]) + mutants_of("native_backward", "host/cpu/depthwise/depthwise_backward.cpp", NATIVE_BACKWARD, [
    ("reach_one_short", "reach_ = std::min(f_.length, end_ + @older_@);", "(older_ > 0 ? older_ - 1 : 0)"),
    ("gradients_behind_the_end", "std::fill(g + count, g + @(end_ - begin_) + older_@, 0.0f);", "count"),
    ("taps_flipped", "lines_.oldest_first[@older_ - d@]", "d"),
    ("padding_is_a_sequence", "return source >= 0 && @id(time) >= 0@ &&", "true"),
    ("last_block_dropped", "block = 0; @block < blocks@; ++block)", "block < blocks - (blocks > 1)"),
    ("bias_row_of_weights", "out[@f_.taps@ * f_.channels] = ", "0"),
    ("final_state_off_by_one", "time - (f_.length - older_)", "std::int64_t{0}"),
]) + mutants_of("sequences", "host/api/depthwise_sequences.cpp", SEQUENCES.replace("emulated32", "cpu"), [
    ("update_null_index_ignored", "params.null_index = @options.null_index@; params.zero_null = options.null_output == "
     "NullOutput::zeros; check_rank(kOperation", "-1"),
    ("varlen_null_index_ignored", "params.null_index = @options.null_index@; params.zero_null = options.null_output == "
     "NullOutput::zeros; check_rank(kVarlen", "-1"),
    ("numbers_of_sequence_0", "return {static_cast<const T*>(view.data()), @used_stride(view, 0)@};", "std::int64_t{0}"),
]) + mutants_of("native_sequences", "host/cpu/depthwise/depthwise_sequences.cpp", SEQUENCES.replace("emulated32", "cpu"), [
    ("sample_lost", "state.push(@sample@);", "T{}"),
    ("initial_state_of_all", "q.has_initial.is_given() && @q.has_initial[sequence] != 0@", "true"),
    ("null_outputs_left", "for (std::int64_t c = 0; @q.zero_null@ && c < p.channels", "false"),
    ("last_block_read", "p.initial_state = table + @found.source@ * p.state_batch;", "found.slot"),
]) + mutants_of("sequence_plan", "host/plan/depthwise/depthwise_sequence_plan.cpp", SEQUENCES, [
    ("odd_channels_in_words", "} else if (@p.channels % word == 0@) {", "true"),
]) + mutants_of("update_one", "kernels/depthwise/depthwise_update_one.cpp", SEQUENCES, [
    ("rows_of_the_first_item", "rows[i] = slot_of(q, @items[i]@);", "items[0]"),
    ("second_items_dropped", "if (@first + i >= p.batch@ ||", "i > 0"),
    ("null_outputs_untouched", "(rows[i] < 0 && @!q.zero_null@)) continue;", "true"),
    ("oldest_tap_first", "windows[i].columns[@Columns - distance@], values);", "distance - 1"),
    ("bias_dropped", "sums[j] += @bias[j][0]@;", "0.0f"),
    ("any_weights_are_whole", "@p.weight_tap == 1 && p.weight_channel == 4@ &&", "true"),
]) + mutants_of("indexed_update", "kernels/depthwise/depthwise_indexed_update.cpp", SEQUENCES, [
    ("older_columns_one_off", "older.load(old_column(i + @move.shift@)", "move.shift + 1"),
    ("window_not_kept", "if (@!move.is_ring && to >= 0@) window[i].store", "false"),
    ("ring_does_not_wrap", "to = @StateMove::wrap(p, to)@;", "to"),
    ("null_outputs_zeroed", "time = 0; @q.zero_null@ && time < length; ++time) Pack()", "true"),
    ("distance_one_short", "convert<float>(state.before_next(@distance@))", "distance > 1 ? distance - 1 : distance"),
    ("last_block_read", "of_block = static_cast<const T*>(p.state) + (sequence.is_null() ? 0 : @sequence.source@",
     "sequence.slot"),
]) + mutants_of("varlen_channel", "kernels/depthwise/depthwise_varlen_channel.cpp", SEQUENCES, [
    ("initial_state_ignored", "p.in_channel, whole.in); } else if (@row.initial@) { window[i].load", "false"),
    ("last_samples_one_early", "time = @length - kBefore + i@;", "length - kBefore + i - 1"),
    ("null_outputs_left", "i = 0; @q.zero_null@ && i < count", "false"),
]) + mutants_of("block_states", "kernels/depthwise/depthwise_block_states.cpp", SEQUENCES, [
    ("first_end_dropped", "BlockEnds(q, piece, sequence.length), @0@, channel);", "1"),
    ("last_stretch_dropped", "stretches = q.block_size > 0 ? @(p.length - 1) / q.block_size + 1@ : 0;",
     "(p.length - 1) / q.block_size"),
    ("one_block_late", "slot_of(q, number, q.first_block[number] + @end@);", "end + 1"),
    ("ends_of_the_first_sequence_alone", "if (@sequence.begin >= behind@) break; const BlockEnds",
     "sequence.begin + sequence.length >= behind"),
    ("null_sequences_written", "if (@sequence.is_null()@ || samples < ends.end(q, 1)) continue;", "false"),
]) + mutants_of("varlen_time", "kernels/depthwise/depthwise_varlen_time.cpp", SEQUENCES, [
    ("window_one_late", "i * step - @(Taps - 1)@), span);", "(Taps > 1 ? Taps - 2 : 0)"),
    ("pack_before_its_sequence", "@piece.from == time@ &&", "true"),
]) + mutants_of("varlen_states", "kernels/depthwise/depthwise_varlen.cpp", SEQUENCES, [
    ("one_sample_early", "p.state_length + @column@;", "column - 1"),
]) + mutants_of("chunks", "host/plan/conv/conv1d_chunks.cpp", OVERLAP, [
    ("pad_row_off_by_one", "first = @begin * r.window.stride - r.pad.left@;", "begin * r.window.stride - r.pad.left + 1"),
    ("halo_one_short", "(chunk.positions - 1) * r.window.stride + @r.window.span()@;", "r.window.span() - 1"),
    ("last_position_dropped", "part_of_signals(r, item, range, p, @std::min(end, p + part)@)",
     "std::min(end, p + part) - (p + part >= r.positions && p + 1 < r.positions)"),
    ("last_item_dropped", "std::int64_t item = 0; @item < r.batch@; ++item", "item < r.batch - (r.batch > 1)"),
    ("last_channels_dropped", "channel = 0; channel < @of_group@; channel += part", "of_group / part * part"),
    ("channels_of_the_first_group", "{@group * of_group + channel@, std::min", "channel"),
    ("groups_as_one", "chunk.groups = @channels.groups@;", "1"),
    ("samples_beyond_the_signal", "last = std::clamp(last, first, @r.length@);", "r.length + 1"),
]) + mutants_of("overlap", "host/conv1d/overlap.cpp", OVERLAP, [
    ("staged_pad_off_by_one", "pad.left = @-(step.chunk.sample + begin)@;", "1 - (step.chunk.sample + begin)"),
    ("pr_ignored", "pad.right = @std::max(step.pad.left, step.pad.right)@;", "step.pad.left"),
    ("pad_of_the_whole_signal", "step.kernel_pad.left = @chunk.pad_left(cut.request)@;", "problem.pad.left"),
    ("zero_for_the_constant", '@encode_pad_value("conv1d", problem.pad, problem.dtype)@;', "std::uint64_t{0}"),
    ("column_order_swapped", "tap_outer = @problem.window.order == ColumnOrder::tap_outer@;",
     "problem.window.order != ColumnOrder::tap_outer"),
    ("batch_stride_0", "chunk.item * strides.batch", "std::int64_t{0}"),
    ("row_stride_0", "chunk.position * strides.position", "std::int64_t{0}"),
    ("group_stride_0", "chunk.channel / group_channels * strides.group", "std::int64_t{0}"),
    ("channel_stride_0", "chunk.channel % group_channels * strides.channel", "std::int64_t{0}"),
    ("pitch_of_the_device", "step.staged.data(), @pitch(step.staged)@,", "pitch(step.on_device)"),
    ("last_channel_not_copied", "@static_cast<std::size_t>(step.chunk.items * step.chunk.channels)@);",
     "static_cast<std::size_t>(step.chunk.items * step.chunk.channels) - 1"),
    ("last_byte_not_copied", "step.bytes = @static_cast<std::size_t>(elements * element)@;",
     "static_cast<std::size_t>(elements * element - (elements > 0))"),
]) + mutants_of("overlap_chunks", "host/conv1d/overlap_chunks.cpp", OVERLAP, [
    ("gaps_copied_directly", "options.pinned_input && @is_packed(input, cut.order)@ &&", "true"),
]) + mutants_of("strided_gemms", "host/plan/conv/strided_gemms.cpp", VIEW, [
    ("last_row_dropped", "gemm.m = @divided_up(shape_.positions - t, step_)@;", "(shape_.positions - t) / step_"),
    ("residue_ignored", "row = @first % shape_.dilation * samples_@ +", "std::int64_t{0}"),
    ("stride_not_divided", "checked_product({apart, @advance@, s.channels},", "s.stride"),
    ("last_samples_dropped", "plan.samples = @divided_up(s.padded, s.dilation)@;", "s.padded / s.dilation"),
    ("rows_overlap", "rows_may_overlap ? 1 : @divided_up(s.taps, advance)@;", "1"),
    ("unequal_matrices_joined", "if (@next.m != gemm.m@ ||", "false"),
    ("batch_stride_0", "gemms.back().a_step = @a_sequence@;", "std::int64_t{0}"),
    ("result_batch_stride_0", "gemms.back().y_step = @y_sequence@;", "std::int64_t{0}"),
    ("signal_of_the_first_group", "gemm.a += @g * s.batch * a_sequence@;", "std::int64_t{0}"),
    ("columns_of_the_first_group", "gemm.y += @g * (s.out_channels / s.groups)@;", "std::int64_t{0}"),
]) + mutants_of("view", "host/conv1d/padded_signal.cpp", VIEW, [
    ("pad_row_off_by_one", "window_params(input, residues, @problem_.pad@,",
     "PadSpec{problem_.pad.left + 1, problem_.pad.right, problem_.pad.mode, problem_.pad.value, problem_.pad.policy}"),
    ("replicate_for_zero", "window_params(input, residues, @problem_.pad@,",
     "PadSpec{problem_.pad.left, problem_.pad.right, problem_.pad.mode == PadMode::constant ? PadMode::replicate : "
     "problem_.pad.mode, problem_.pad.value, problem_.pad.policy}"),
    ("zero_for_the_constant", '@encode_pad_value("conv1d", problem.pad, problem.dtype)@', "std::uint64_t{0}"),
    ("pr_ignored", 'padded_length("conv1d", problem.length, @problem.pad@)',
     "PadSpec{problem.pad.left, 0, problem.pad.mode, problem.pad.value, problem.pad.policy}"),
    ("channel_and_tap_swapped", "strides.tap = @plan_.samples * channels@;", "channels"),
    ("batch_stride_0", "strides.batch = @residues.taps * strides.tap@;", "std::int64_t{0}"),
    ("rows_of_the_first_matrix", "{@g.a_step@, plan_.a_pitch, 1}", "std::int64_t{0}"),
    ("weights_of_the_first_group", "element(bt.data(), @g.group * n * depth@, type)", "std::int64_t{0}"),
    ("bias_of_the_first_group", "element(bias.data(), @g.group * n@, DType::f32)", "std::int64_t{0}"),
    ("bias_left_out", "with_bias = @bias.data() != nullptr@;", "false"),
    ("guard_byte_written", "in_sums ? sums_.data() : @y.data()@;",
     "(static_cast<unsigned char*>(y.data())[y.byte_range().end] = 0x5A, y.data())"),
]) + mutants_of("route_steps", "host/conv1d/route_steps.cpp", VIEW, [
    ("weights_channel_outer", "route_ == ConvRoute::strided_gemm ? @ColumnOrder::tap_outer@ :", "ColumnOrder::channel_outer"),
    ("bias_left_out", "gemm(stream, operand_groups(), weight_groups(), @bias@, groups_of(y), workspace_);", "TensorView()"),
]) + mutants_of("direct_conv", "host/conv1d/direct_conv.cpp", FUSED, [
    ("pad_row_off_by_one", "window_params(input, problem_.window, @problem_.pad@,",
     "PadSpec{problem_.pad.left + 1, problem_.pad.right, problem_.pad.mode, problem_.pad.value, problem_.pad.policy}"),
    ("zero_for_the_constant", 'pad_bits_(@encode_pad_value("conv1d", problem.pad, problem.dtype)@)',
     "std::uint64_t{0}"),
    ("result_batch_stride_0", "strides.batch = @y.extent(1) * problem_.out_channels@;", "std::int64_t{0}"),
    ("bias_left_out", "params.bias = @static_cast<const float*>(bias.data())@;", "nullptr"),
]) + mutants_of("conv", "kernels/conv/conv.cpp", FUSED.split(":")[0], [
    ("last_position_tile_dropped",
     "place.positions = per_lane(@up_to(p.positions - place.position, p.tile_positions)@);",
     "p.positions - place.position < p.tile_positions && place.position > 0 ? 0 : "
     "up_to(p.positions - place.position, p.tile_positions)"),
    ("last_column_dropped", "place.columns = per_lane(@up_to(p.columns - place.column, kConvColumns)@);",
     "up_to(p.columns - place.column, kConvColumns) - (p.columns > 1)"),
    ("last_channels_dropped", "channel < @p.depth@; channel += kConvChannels",
     "(p.depth > 64 ? p.depth - 32 : p.depth)"),
    ("half_the_depth", "start = part; start < @steps@;", "steps - 1"),
    ("other_part_left_out", "sums[t].values[i] += @others[place_of(other, t, i)]@;", "0.0f"),
    ("taps_flipped", "bt + (@pass + tap@) * p.depth", "p.taps - 1 - (pass + tap)"),
    ("batch_stride_0", "batch * p.in_batch", "std::int64_t{0}"),
    ("group_of_the_input_0", "place.group * p.channels * p.in_channel", "std::int64_t{0}"),
    ("weights_of_the_first_group", "per_lane(@place.group * p.columns + place.column + warp_column@)",
     "place.column + warp_column"),
    ("truncating_cast", "convert<T>(@sums[t].values[i] + bias[i]@)", "mutant::truncated(sums[t].values[i] + bias[i])"),
    ("two_roundings", "convert<T>(@sums[t].values[i]@ + bias[i])", "mutant::through_f16(sums[t].values[i])"),
    ("guard_byte_written", "T* const y = @static_cast<T*>(p.out) + place.out@;",
     "place.positions == 0 ? nullptr : mutant::spilled(static_cast<T*>(p.out) + place.out + (place.positions - 1) * "
     "p.out_position + place.columns - 1, 1) - (place.positions - 1) * p.out_position - place.columns + 1"),
]) + mutants_of("conv_samples", "kernels/conv/conv_samples.hpp", FUSED.split(":")[0], [
    ("replicate_for_zero", "pad_index(@p.mode@, from.first",
     "p.mode == PadMode::constant ? PadMode::replicate : p.mode"),
    ("nan_beyond_the_channels", "converted.values[c] = @c < channels ? value : T{0}@;", "value"),
    ("end_of_the_signal_not_seen",
     "inside = from.first >= 0 && @from.first + (from.rows - 1) * p.row_samples < p.length@;",
     "from.first < p.length"),
]) + mutants_of("native_conv", "host/cpu/conv/conv.cpp", FUSED.split(":")[0].replace("emulated32", "cpu"), [
    ("pad_row_off_by_one", "tap * p_.dilation - @p_.pad_left@;", "p_.pad_left + 1"),
    ("replicate_for_zero", "pad_index(@p_.mode@, time", "p_.mode == PadMode::constant ? PadMode::replicate : p_.mode"),
    ("nan_beyond_the_channels", "std::clamp<std::int64_t>(@p_.channels - channel@, 0, count)",
     "std::min(p_.channels - channel, (p_.channels - 1) / 32 * 32)"),
    ("batch_stride_0", "batch * p_.in_batch", "std::int64_t{0}"),
    ("group_of_the_input_0", "group * p_.channels * p_.in_channel", "std::int64_t{0}"),
    ("columns_of_the_first_group", "gemm.y_group = @p.out_group@;", "std::int64_t{0}"),
]) + mutants_of("redistribute_schedule", "host/redistribute/schedule.cpp", REDISTRIBUTE_ORDER, [
    ("other_rank_not_ready", "wait(link(rank), ready_[other(kernel)])", "void()"),
    ("own_rank_not_ready", "wait(link(rank), ready_[rank])", "void()"),
    ("own_rank_not_ready_within", "if (beside_[rank]) @wait(inner(rank), ready_[rank])@", "void()"),
    ("kernel_beside_not_awaited", "wait(rank, record(inner(rank)))", "void()"),
    ("own_kernels_not_awaited", "wait(local(kernel), done[local(kernel)])", "void()"),
    ("others_kernels_not_awaited", "wait(other(kernel), done[local(kernel)])", "void()"),
    ("sent_before_it_is_packed", "wait(side(sender(transfer)), record(sender(transfer)))", "void()"),
    ("receiver_not_ready", "wait(side(sender(transfer)), ready_[receiver(transfer)])", "void()"),
    ("unpacked_before_it_has_come", "wait(receiver(transfer), sent[c].at(sender(transfer)))", "void()"),
    ("goes_on_before_it_has_sent", "wait(rank, event)", "void()"),
]) + mutants_of("redistribute_agreement", "host/redistribute/agreement.cpp", REDISTRIBUTE_NCCL, [
    ("offset_of_the_output_forgotten", "memory = output.parts[static_cast<std::size_t>(rank)].memory + @one.offset@;", "0"),
    ("impossible_elsewhere_not_seen", "if (@route.possible && one.microseconds[i] < 0@)", "false"),
]) + mutants_of("output_gaps", "host/plan/output_gaps.cpp", OUTPUT_GAPS, [
    ("nothing_completed", "return @count * kCompleted * std::min(pitch, kMaxCompleted)@;", "0.0"),
    ("whole_sectors_completed", "if (@(bytes | pitch | address) % kSectorBytes == 0@) return {};", "false"),
]) + mutants_of("output_gaps", "host/plan/copy/copy_plan.cpp", OUTPUT_GAPS, [
    ("ends_forgotten", "@rows.count * of_row@ / device.multiprocessors", "0"),
]) + mutants_of("output_gaps", "host/plan/window/window_plan.cpp", OUTPUT_GAPS, [
    ("windows_forgotten", "return @part * rows.completed_bytes()@ / device_rates", "0.0"),
    ("small_outputs_completed", "return @part@ * rows.completed_bytes()", "1.0"),
    ("axes_as_they_come", "return @std::abs(step_along(a.extent, a.stride))@ <", "std::int64_t{0}"),
]) + mutants_of("link_model", "host/redistribute/link_model.cpp", REDISTRIBUTE, [
    ("ends_forgotten", "@run_share(run, model.lost_per_end)@", "1"),
    ("sectors_forgotten", "std::pow(@sectors@, 1.5)", "1.0"),
    ("rows_over_tiles_forgotten", "if (@unbroken > run@)", "false"),
    ("short_runs_forgotten", "(@unbroken < kPacket@ ?", "false"),
    ("short_accesses_forgotten", "? 0 : @model.lost_per_access@", "0"),
    ("copies_at_once", "if (@receivers.size() > 1@)", "false"),
    ("messages_beside_kernels", "@model_.waits_for_kernels@ ? devices + crossing", "false"),
]) + mutants_of("box_moves", "host/redistribute/box_moves.cpp", REDISTRIBUTE, [
    ("begin_of_one_box", "std::max(a.begin[axis], b.begin[axis])", "a.begin[axis]"),
    ("end_of_one_box", "std::max(result.begin[axis], @std::min(a.end[axis], b.end[axis])@)", "a.end[axis]"),
    ("slab_with_what_was_cut", "before.end[axis] = @cut.begin[axis]@;", "cut.end[axis]"),
    ("receiver_reads_another_rank", "remove(pending, @in.box(to)@,", "in.box((to + 1) % ranks)"),
    ("longer_pieces_forgotten", "(@part < longer@ ? 1 : 0)", "false"),
    ("cut_where_parts_are_joined", "shape[axis] < parts || @axes[axis] == whole@", "false"),
    ("two_axes_joined", "if (@joined >= 0 && joined != static_cast<int>(axis)@)", "false"),
]) + mutants_of("redistribute_checks", "host/redistribute/checks.cpp", REDISTRIBUTE, [
    ("shared_bytes_not_seen", "(a.written || b.written) && a.begin < b.end && @b.begin < a.end@", "false"),
    ("alignment_not_seen", "@(address - reinterpret_cast<std::uintptr_t>(planned.data())) % 16@ == 0",
     "std::uintptr_t{0}"),
    ("null_not_seen", "return @pointer != nullptr@ &&", "true"),
]) + mutants_of("message", "host/redistribute/message.cpp", REDISTRIBUTE, [
    ("wider_type_crosses", "@size_of(problem.in_type) < size_of(problem.out_type)@ ?", "size_of(problem.in_type) > size_of(problem.out_type)"),
    ("rows_on_no_line", "strides.front() = @round_up(strides.front(), line)@;", "strides.front()"),
]) + mutants_of("staged_route", "host/redistribute/staged_route.cpp", REDISTRIBUTE, [
    ("rows_of_the_first_message", "rows.place.offset += @begin@ *", "std::int64_t{0}"),
    ("whole_sectors_shared", "(@run % kSector != 0 || row % kSector != 0@)", "true"),
    ("long_runs_shared", "return @run < kShortRun@ && run != row", "true"),
]) + mutants_of("turns", "host/redistribute/route_builder.cpp", REDISTRIBUTE_ORDER, [
    ("all_send_to_the_first", "return @(item.to - item.from + ranks) % ranks@;", "item.to"),
]) + mutants_of("route_builder", "host/redistribute/route_builder.cpp", REDISTRIBUTE, [
    ("messages_in_one_place", "const auto offset = @static_cast<std::int64_t>(used)@;", "std::int64_t{0}"),
]) + mutants_of("redistribute_routes", "host/redistribute/routes.cpp", REDISTRIBUTE, [
    ("always_writes", "reads = one_process && @size_of(problem.in_type) < size_of(problem.out_type)@;", "false"),
    ("rows_without_the_first_offset", "transfer.destination.offset += @nest.offsets[0] * size@;", "std::int64_t{0}"),
    ("pitch_of_the_other_side", "source_pitch = @nest.strides[1][0]@;", "nest.strides[0][0]"),
]) + mutants_of("registered_workspace", "host/redistribute/staged_route.cpp", REDISTRIBUTE_WORKSPACE, [
    ("too_small_not_seen", "if (@needed[rank] > workspace.parts[rank].bytes@)", "false"),
]) + mutants_of("signals_kernel", "kernels/exchange_signals.cpp", SIGNALS, [
    ("nothing_awaited", "@static_cast<std::int32_t>(load_of_other_device(count) - awaited)@ < 0", "0"),
    ("told_twice", "store_for_other_devices(p.places[rank], @++told[rank]@)", "told[rank] += 2"),
    ("limit_is_not_told", "store_for_other_devices(p.outcome, @SignalParams::kTimedOut@)", "SignalParams::kStopped"),
]) + mutants_of("signals", "host/redistribute/signals.cpp", SIGNALS, [
    ("many_ranks_not_seen", "if (@ranks_ > SignalParams::kMaxRanks@)", "false"),
    ("name_that_is_missing_not_seen", "if (@static_cast<int>(names.size()) < ranks_@)", "false"),
]) + mutants_of("register_memory", "host/redistribute/register_memory.cpp", REDISTRIBUTE_WORKSPACE, [
    ("boundary_not_seen", "role == \"workspace\" && @all[rank].is_aligned == 0@", "false"),
]) + mutants_of("register_output", "host/redistribute/register_memory.cpp", REDISTRIBUTE_WINDOW, [
    ("offset_in_the_window_forgotten", "part.memory = begin + @all[rank].offset@;", "0"),
    ("end_of_the_allocation_not_seen", "if (@own.offset + bytes <= whole.bytes@)", "true"),
    ("sizes_not_compared", "if (@one.allocation_bytes != all.front().allocation_bytes@)", "false"),
    ("second_window_not_seen", "if (@one.is_in_another != 0@)", "false"),
]) + mutants_of("communicator_windows", "platform/communicator.cpp", REDISTRIBUTE_WINDOW, [
    ("older_library_not_seen", "return @library_->register_window != nullptr@;", "true"),
    ("given_back_after_an_error", "if (@state_ == State::usable@) (void)library_", "true"),
    ("failed_call_not_kept", "if (@result != kSuccess && result != kInProgress && state_ == State::usable@) state_", "false"),
    ("never_given_back", "if (@state_ == State::usable@) (void)library_", "false"),
    ("closed_not_seen", "if (@state_ == State::ended@)", "false"),
]) + mutants_of("communicator", "platform/communicator.cpp", REDISTRIBUTE_NCCL, [
    ("flag_not_looked_at", "if (@state_ == State::given_up@)", "false"),
    ("wait_in_progress_is_an_error", "if (@found != kInProgress@) library_->check(found, \"the communicator, while",
     "true"),
]) + mutants_of("redistribute_group", "host/redistribute/group.cpp", REDISTRIBUTE_NCCL, [
    ("no_limit_is_a_limit", "if (@!(seconds > 0)@)", "seconds < 0"),
])
