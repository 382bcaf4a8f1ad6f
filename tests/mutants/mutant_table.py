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


IMG2COL = "*Img2col*/emulated32"
COPY = "*PermuteTest*/emulated32:*PermuteFarTest*/emulated32:*Cast*/emulated32"

MUTANTS = mutants_of("window", "kernels/window.cpp", IMG2COL, [
    ("pad_row_off_by_one", "@place.first_position * p.stride - p.pad_left@; const int samples",
     "place.first_position * p.stride - p.pad_left + 1"),
    ("replicate_for_zero", "pad_index(@p.mode@, time, p.length, p.reflect_length)",
     "p.mode == PadMode::constant ? PadMode::replicate : p.mode"),
    ("nan_times_zero", "convert<To>(in[source * p.in_time]) : @padding@;",
     "p.length == 0 ? padding : mutant::plus_zero_times(padding, "
     "convert<To>(in[(time < 0 ? 0 : p.length - 1) * p.in_time]))"),
    ("taps_flipped", "index.position * p.stride + @index.tap * p.dilation@;",
     "(p.taps - 1 - index.tap) * p.dilation"),
    ("channel_and_tap_swapped", 
     "index.position * p.out_position + @index.tap * p.out_tap + index.channel * p.out_channel@]",
     "p.order == WriteOrder::channel ? index.tap + index.channel * p.taps : index.tap * p.channels + index.channel"),
    ("last_position_tile_dropped", "place.positions = positions < p.tile_positions ? @static_cast<int>(positions)@ :",
     "place.first_position > 0 ? 0 : static_cast<int>(positions)"),
    ("last_channel_tile_dropped", "place.channels = channels < p.tile_channels ? @static_cast<int>(channels)@ :",
     "place.first_channel > 0 ? 0 : static_cast<int>(channels)"),
    ("last_output_dropped", "static_cast<std::int64_t>(place.positions) * place.channels * p.taps",
     "static_cast<std::int64_t>(place.positions) * place.channels * p.taps - 1"),
    ("halo_one_short", "@static_cast<int>((p.taps - 1) * p.dilation) + 1@;",
     "static_cast<int>((p.taps - 1) * p.dilation)"),
    ("batch_stride_0", "batch * p.in_batch", "std::int64_t{0}"),
    ("batch_offset_in_32_bits", "batch * p.in_batch", "mutant::wrapped(batch * p.in_batch)"),
    ("row_offset_in_32_bits", "place.first_position * p.out_position",
     "mutant::wrapped(place.first_position * p.out_position)"),
    ("truncating_cast", "convert<To>(@in[source * p.in_time]@)", "mutant::truncated(in[source * p.in_time])"),
    ("saturating_cast", "source >= 0 ? @convert<To>(in[source * p.in_time])@ :",
     "mutant::saturated(convert<To>(in[source * p.in_time]))"),
    ("guard_byte_written", "@static_cast<To*>(p.out) + place.out_base@;",
     "mutant::spilled(static_cast<To*>(p.out) + place.out_base + (place.positions - 1) * p.out_position + "
     "(p.taps - 1) * p.out_tap + (place.channels - 1) * p.out_channel, 1) - (place.positions - 1) * p.out_position - "
     "(p.taps - 1) * p.out_tap - (place.channels - 1) * p.out_channel"),
]) + mutants_of("window_vector", "kernels/window_vector.cpp", IMG2COL, [
    ("pad_row_off_by_one", "needed = @position * p.stride - p.pad_left@;", "position * p.stride - p.pad_left + 1"),
    ("replicate_for_zero_along_time", "pad_index(@p.mode@, time + step, p.length, p.reflect_length)",
     "p.mode == PadMode::constant ? PadMode::replicate : p.mode"),
    ("replicate_for_zero_along_channels", "pad_index(@p.mode@, place.first + sample, p.length, p.reflect_length)",
     "p.mode == PadMode::constant ? PadMode::replicate : p.mode"),
    ("nan_times_zero_along_time",
     "column.values[channel] = @padding@; } store_pack(tile + slot_of<To>(p, sample + step,",
     "p.length == 0 ? padding : mutant::plus_zero_times(padding, convert<To>("
     "row[channel * p.in_channel + (time + step < 0 ? 0 : p.length - 1) - time]))"),
    ("nan_times_zero_along_channels",
     "column.values[channel] = @padding@; } store_pack(tile + slot_of<To>(p, sample, pack",
     "p.length == 0 ? padding : mutant::plus_zero_times(padding, convert<To>("
     "in[(place.first + sample < 0 ? 0 : p.length - 1) * p.in_time + channel]))"),
    ("taps_flipped_tap_outer", "slot_of<To>(p, @sample + tap * dilation@, pack, vector)",
     "sample + (taps - 1 - tap) * dilation"),
    ("taps_flipped_channel_outer", "const int row = @sample + tap * dilation@;",
     "sample + (taps - 1 - tap) * dilation"),
    ("channel_and_tap_swapped", "int channel = @first / taps@, tap = first - channel * taps;",
     "first % taps"),
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
]) + mutants_of("pad_rows", "kernels/pad_rows.cpp", "*Pad*/emulated32", [
    ("pad_row_off_by_one", "in + (@begin - p.pad_left@)", "begin - p.pad_left + 1"),
    ("replicate_for_zero", "pad_index(@p.mode@,", "p.mode == PadMode::constant ? PadMode::replicate : p.mode"),
    ("batch_stride_0", "batch * p.in_batch", "std::int64_t{0}"),
    ("batch_offset_in_32_bits", "batch * p.in_batch", "mutant::wrapped(batch * p.in_batch)"),
    ("last_pack_dropped", "if (begin >= @p.positions@) return;", "p.positions - kCount"),
    ("bytes_not_shifted", "const unsigned bits = @static_cast<unsigned>(offset) % 4 * 8@;", "0u"),
    ("pr_ignored", "begin >= 0 && @begin + kCount <= p.positions@", "begin <= p.positions"),
    ("guard_byte_written", "out[@begin + i@]", "mutant::spilled(out + begin + i, 1) - out"),
]) + mutants_of("gemm", "kernels/gemm.cpp", "*Gemm*/emulated32", [
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
]) + mutants_of("tile", "kernels/tile.cpp", COPY, [
    ("last_row_tile_dropped", "const int rows = left_out < kTile ? @static_cast<int>(left_out)@ :",
     "out_begin > 0 ? 0 : static_cast<int>(left_out)"),
    ("last_column_tile_dropped", "const int columns = left_in < kTile ? @static_cast<int>(left_in)@ :",
     "in_begin > 0 ? 0 : static_cast<int>(left_in)"),
    ("batch_stride_0", "in_base += @index * p.in_strides[axis]@;", "axis == 0 ? 0 : index * p.in_strides[axis]"),
    ("batch_offset_in_32_bits", "in_base += @index * p.in_strides[axis]@;",
     "mutant::wrapped(index * p.in_strides[axis])"),
    ("tile_offset_in_32_bits", "out_base = @in_begin * out_pitch@", "mutant::wrapped(in_begin * out_pitch)"),
    ("truncating_cast", "convert<To>(@in[lane * in_step + row * in_pitch]@)",
     "mutant::truncated(in[lane * in_step + row * in_pitch])"),
    ("saturating_cast", "convert<To>(in[lane * in_step + row * in_pitch])",
     "mutant::saturated(convert<To>(in[lane * in_step + row * in_pitch]))"),
    ("guard_byte_written", "out[@lane * out_step + column * out_pitch@]",
     "mutant::spilled(out + lane * out_step + column * out_pitch, 1) - out"),
    ("one_row_too_many", "column < columns && @lane < rows@", "lane <= rows"),
]) + mutants_of("gather", "kernels/gather.cpp", COPY, [
    ("last_block_dropped", "element >= @p.elements@",
     "p.elements > kThreads ? p.elements / kThreads * kThreads : p.elements"),
    ("batch_stride_0", "in += @index * p.in_strides[axis]@;",
     "axis == 0 && p.rank > 1 ? 0 : index * p.in_strides[axis]"),
    ("offset_in_32_bits", "in += @index * p.in_strides[axis]@;", "mutant::wrapped(index * p.in_strides[axis])"),
    ("result_offset_in_32_bits", "out += @index * p.out_strides[axis]@;",
     "mutant::wrapped(index * p.out_strides[axis])"),
    ("truncating_cast", "convert<To>(@static_cast<const From*>(p.in)[in]@)",
     "mutant::truncated(static_cast<const From*>(p.in)[in])"),
    ("saturating_cast", "convert<To>(static_cast<const From*>(p.in)[in])",
     "mutant::saturated(convert<To>(static_cast<const From*>(p.in)[in]))"),
    ("guard_byte_written", "static_cast<To*>(p.out)[@out@]",
     "mutant::spilled(static_cast<To*>(p.out) + out, 1) - static_cast<To*>(p.out)"),
]) + mutants_of("native_window", "host/native/window.cpp", "*Img2col*/cpu", [
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
]) + mutants_of("native_copy", "host/native/copy.cpp", COPY.replace("emulated32", "cpu"), [
    ("end_box_too_short", "std::min(side, @p_.extents[axis] - cursor.index(place_[axis]) * box_.sides[axis]@)",
     "p_.extents[axis] - cursor.index(place_[axis]) * box_.sides[axis] - (cursor.index(place_[axis]) > 0 && "
     "p_.extents[axis] - cursor.index(place_[axis]) * box_.sides[axis] < side)"),
    ("step_in_32_bits", "/ side, @side * p_.in_strides[axis]@,", "mutant::wrapped(side * p_.in_strides[axis])"),
    ("last_box_dropped", "parallel_ranges(@boxes_.total()@,", "boxes_.total() - (boxes_.total() > 1)"),
]) + mutants_of("native_convert", "host/native/convert.cpp", "*Cast*/cpu", [
    ("truncating_cast_to_f16", "_mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT)",
     "_mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_ZERO)", True),
    ("saturating_cast_to_f16", "_mm256_cvtps_ph(@_mm256_loadu_ps(in + i)@, _MM_FROUND_TO_NEAREST_INT)",
     "_mm256_min_ps(_mm256_set1_ps(65504.0f), _mm256_loadu_ps(in + i))", True),
    ("truncating_cast_to_bf16", "0x7fffu + ((bits >> 16) & 1u)", "0u"),
]) + mutants_of("native_gemm", "host/native/gemm.cpp", "*Gemm*/cpu", [
    ("truncating_cast", "bias == nullptr ? @sums[i]@ : sums[i] + bias[i]", "mutant::truncated(sums[i])"),
    ("two_roundings", "bias == nullptr ? sums[i] : @sums[i]@ + bias[i]", "mutant::through_f16(sums[i])"),
    ("last_element_dropped", "i = 0; @i < count@; ++i) row[i]", "i < count - 1"),
    ("guard_byte_written", "convert_row(row, @static_cast<f16*>(y) + offset@, count);",
     "mutant::spilled(static_cast<f16*>(y) + offset, count)"),
]) + mutants_of("img2col", "host/api/img2col.cpp", "*Img2col*/cpu:*Weights*/cpu:CausalPadding.*", [
    ("pr_ignored", 'padded_length("img2col", length, @pad@)',
     "PadSpec{pad.left, 0, pad.mode, pad.value, pad.policy}"),
    ("frame_causal_pr_ignored", "pad.right = @(frames - 1) * window.stride + window.span() - length - pad.left@;",
     "std::int64_t{0}"),
    ("column_order_swapped", "tap_outer = @window.order == ColumnOrder::tap_outer@;",
     "window.order != ColumnOrder::tap_outer"),
    ("weight_order_swapped", "const bool tap_outer = @order == ColumnOrder::tap_outer@;",
     "order != ColumnOrder::tap_outer"),
]) + mutants_of("pad", "host/api/window.cpp", "*Pad*/cpu", [
    ("pr_ignored", "std::max(params.length, @std::max(pad.left, pad.right)@ + 1)", "pad.left"),
    ("constant_rounded_twice", "bits_of(to_f16(@value@))", "static_cast<float>(value)"),
])
