#!/usr/bin/env python3
"""The functions of vLLM and SGLang on the CPU, beside torch's own operations sequence by sequence. Ends with 77 where there
is no torch."""
import functools
import itertools
import os
import sys
import types
import unittest
from unittest import mock

try:
    import torch
except ImportError:
    sys.exit(77)

from relayout import sglang, vllm
from relayout.causal_conv1d import causal_conv1d_ref, causal_conv1d_update_ref

TOLERANCES = {torch.float32: 1e-5, torch.bfloat16: 3e-2}


def starts(lengths):
    return torch.nn.functional.pad(torch.tensor(lengths).cumsum(0), (1, 0)).int()


class Serving(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(2)

    def close(self, ours, theirs):
        self.assertEqual(ours.shape, theirs.shape)
        bound = TOLERANCES[ours.dtype]
        self.assertTrue(torch.allclose(ours.float(), theirs.float(), rtol=bound, atol=bound), ours - theirs)

    def lines(self, count, dim, columns, dtype):
        return torch.randn(count, columns, dim).to(dtype).transpose(1, 2)

    def test_prefill(self):
        lengths, dim = [5, 1, 7, 0, 2, 3], 6
        total, begin = sum(lengths), starts(lengths)
        for dtype, width, spare in itertools.product(TOLERANCES, (2, 4, 5), (0, 3)):
            for which in ("vllm", "sglang"):
                with self.subTest(dtype=dtype, width=width, spare=spare, which=which):
                    x = torch.randn(total, dim + 4).to(dtype)[:, 2:2 + dim].t()
                    states = self.lines(12, dim, width - 1 + spare, dtype)
                    before = states.clone()
                    # More lines than sequences; -1 and, for vLLM, 0 are none.
                    cache_lines = [3, 0, 7, 5, -1, 9, 11, 11]
                    has_state = torch.tensor([True, True, False, True, True, True])
                    weight, bias = torch.randn(dim, width), torch.randn(dim)
                    arguments = (x, weight, bias, states, begin)
                    options = {"cache_indices": torch.tensor(cache_lines), "has_initial_state": has_state}
                    if which == "vllm":
                        out = vllm.causal_conv1d_fn(*arguments, **options)
                    else:
                        out = sglang.causal_conv1d_fn(*arguments, lengths, **options)
                    self.assertEqual(out.dtype, dtype)
                    expected_states = before.clone()
                    for i, length in enumerate(lengths):
                        line = cache_lines[i]
                        if line < 0 or (line == 0 and which == "vllm"):
                            continue
                        part = x[None, :, begin[i]:begin[i + 1]]
                        old = before[line, :, :width - 1].clone() if has_state[i] else torch.zeros(dim, width - 1).to(dtype)
                        result, new = causal_conv1d_ref(part.float(), weight, bias, initial_states=old[None].float(),
                                                        return_final_states=True, activation="silu")
                        self.close(out[:, begin[i]:begin[i + 1]], result[0])
                        expected_states[line, :, :width - 1] = new[0].to(dtype)
                    self.assertTrue(torch.equal(states, expected_states))

    def test_prefill_in_the_type_of_the_states(self):
        x, weight = torch.randn(4, 5), torch.randn(4, 3)
        states = torch.zeros(1, 2, 4, dtype=torch.bfloat16).transpose(1, 2)
        out = vllm.causal_conv1d_fn(x, weight, None, states, starts([5]), activation=None)
        self.assertEqual(out.dtype, torch.float32)
        self.assertTrue(torch.equal(out, out.bfloat16().float()))
        self.assertTrue(torch.equal(states[0], x[:, -2:].bfloat16()))

    def test_updates(self):
        dim, batch = 6, 4
        for dtype, width, seqlen, spare in itertools.product(TOLERANCES, (2, 4), (1, 3), (0, 2)):
            for which in ("vllm", "sglang"):
                with self.subTest(dtype=dtype, width=width, seqlen=seqlen, spare=spare, which=which):
                    states = self.lines(9, dim, width - 1 + spare, dtype)
                    before, chosen = states.clone(), torch.tensor([4, 8, -1, 2]).int()
                    x = torch.randn(batch, seqlen, dim).to(dtype).transpose(1, 2)
                    if seqlen == 1:
                        x = x.squeeze(-1)
                    given, weight, bias = x.clone(), torch.randn(dim, width), torch.randn(dim)
                    function = vllm.causal_conv1d_update if which == "vllm" else sglang.causal_conv1d_update
                    out = function(x, states, weight, bias, activation="silu", conv_state_indices=chosen)
                    there = chosen >= 0
                    rows = chosen[there].long()
                    old = before[rows][..., :width - 1].float()
                    expected = causal_conv1d_update_ref(given[there].float(), old, weight, bias, "silu")
                    self.close(out[there], expected)
                    if which == "vllm":
                        self.assertEqual(out.data_ptr(), x.data_ptr())
                        self.assertTrue(torch.equal(out[~there], given[~there]))
                    else:
                        self.assertTrue(torch.equal(x, given))
                    expected_states = before.clone()
                    expected_states[rows, :, :width - 1] = old.to(dtype)
                    self.assertTrue(torch.equal(states, expected_states))

    def test_more_lines_than_sequences_without_indices(self):
        """Sequence b then has line b."""
        dim, width = 4, 3
        weight, x = torch.randn(dim, width), torch.randn(dim, 5)
        for which, ids in ((vllm, {"null_block_id": None}), (sglang, {})):
            states = torch.randn(6, dim, width - 1)
            before = states.clone()
            lengths = ([3, 2],) if which is sglang else ()
            out = which.causal_conv1d_fn(x, weight, None, states, starts([3, 2]), *lengths,
                                         has_initial_state=torch.tensor([True, True]), **ids)
            for b, (first, last) in enumerate(((0, 3), (3, 5))):
                self.close(out[None, :, first:last], causal_conv1d_ref(x[None, :, first:last], weight, activation="silu",
                                                                       initial_states=before[b:b + 1]))
            self.assertTrue(torch.equal(states, torch.cat([x[None, :, 1:3], x[None, :, 3:5], before[2:]])))
            before, samples = states.clone(), torch.randn(2, dim)
            given = samples.clone()
            out = which.causal_conv1d_update(samples, states, weight, **ids)
            self.close(out, causal_conv1d_update_ref(given, before[:2], weight))
            self.assertTrue(torch.equal(states, before))  # which the reference moved on
            ring, places = torch.randn(6, dim, 7), torch.tensor([5, 20]).int()
            if which is sglang:
                expected = ring.clone()
                out = sglang.causal_conv1d_update(given, ring, weight, cache_seqlens=places)
                self.close(out, causal_conv1d_update_ref(given, expected[:2], weight, cache_seqlens=places))
                self.assertTrue(torch.equal(ring, expected))

    def test_updates_of_tokens(self):
        lengths, dim, width = [2, 1, 3], 5, 4
        begin = starts(lengths)
        states = self.lines(6, dim, width - 1, torch.float32)
        before, x, weight = states.clone(), torch.randn(sum(lengths), dim), torch.randn(dim, width)
        given = x.clone()
        out = vllm.causal_conv1d_update(x, states, weight, activation=True, conv_state_indices=torch.tensor([5, 1, 3]).int(),
                                        query_start_loc=begin, max_query_len=3)
        for i, line in enumerate((5, 1, 3)):
            old = before[line][None].clone()
            part = given[begin[i]:begin[i + 1]].t()[None]
            self.close(out[begin[i]:begin[i + 1]].t()[None], causal_conv1d_update_ref(part, old, weight, activation="silu"))
            self.close(states[line], old[0])

    def test_padded_updates_of_tokens(self):
        """As a captured graph has them: more starts and accepted numbers than sequences."""
        lengths, dim, width, drafts = [2, 2], 5, 4, 2
        states = self.lines(4, dim, width - 1 + drafts - 1, torch.float32)
        x, weight, lines = torch.randn(8, dim), torch.randn(dim, width), torch.tensor([3, 1]).int()
        accepted = torch.tensor([1, 2, 0, 0, 0, 0, 0, 0]).int()
        begin = torch.nn.functional.pad(starts(lengths), (0, 6), value=4)
        expected_states, expected = states.clone(), x.clone()
        vllm.causal_conv1d_update(expected[:4], expected_states, weight, None, "silu", lines, num_accepted_tokens=accepted[:2],
                                  query_start_loc=starts(lengths), max_query_len=2)
        self.assertFalse(torch.equal(states, expected_states))
        for last in (8, 2):  # as many starts as tokens, or one more than sequences
            ours, padded = states.clone(), x.clone()
            vllm.causal_conv1d_update(padded, ours, weight, None, "silu", lines, num_accepted_tokens=accepted[:last],
                                      query_start_loc=begin[:last + 1], max_query_len=2)
            self.assertTrue(torch.equal(padded, expected))
            self.assertTrue(torch.equal(ours, expected_states))

    def test_updates_to_an_output(self):
        dim, weight = 4, torch.randn(4, 3)
        for dtype, out_dtype in itertools.product(TOLERANCES, TOLERANCES):
            with self.subTest(dtype=dtype, out_dtype=out_dtype):
                states, x = self.lines(3, dim, 2, dtype), torch.randn(2, dim).to(out_dtype)
                given, before, out = x.clone(), states.clone(), torch.full((2, dim), 7.0, dtype=out_dtype)
                lines = torch.tensor([2, -1]).int()
                self.assertIs(vllm.causal_conv1d_update(x, states, weight, None, None, lines, out=out), out)
                self.assertTrue(torch.equal(x, given))
                expected = causal_conv1d_update_ref(given[:1].to(dtype).float(), before[2:].float(), weight)
                coarse = max(dtype, out_dtype, key=TOLERANCES.get)
                self.close(out[:1].to(coarse), expected.to(coarse))
                self.assertTrue(torch.equal(out[1], torch.full((dim,), 7.0, dtype=out_dtype)))

    def test_accepted_tokens(self):
        dim, width, drafts = 3, 4, 3
        weight, history = torch.randn(dim, width), torch.randn(1, dim, 20)
        expected = causal_conv1d_ref(history, weight)
        # The line as the step before left it: width - 2 samples, then its drafts.
        for accepted in (1, 2, 3):
            state = torch.zeros(2, dim, width - 1 + drafts - 1)
            state[1, :, :width - 2 + drafts] = history[0, :, 6:6 + width - 2 + drafts]
            first = 6 + width - 2 + accepted  # the first sample behind the accepted ones
            x = history[..., first:first + drafts].clone()
            out = vllm.causal_conv1d_update(x, state, weight, conv_state_indices=torch.tensor([1]).int(),
                                            num_accepted_tokens=torch.tensor([accepted]).int())
            self.close(out, expected[..., first:first + drafts])
            self.close(state[1:, :, :width - 2 + drafts], history[..., first - (width - 2):first + drafts])

    def test_null_lines(self):
        states, weight = torch.randn(3, 2, 2), torch.randn(2, 3)
        before, x = states.clone(), torch.randn(3, 2)
        vllm.causal_conv1d_update(x, states, weight, conv_state_indices=torch.tensor([0, 2, 1]).int(), pad_slot_id=2)
        self.assertTrue(torch.equal(states[[0, 2]], before[[0, 2]]))
        self.assertFalse(torch.equal(states[1], before[1]))
        vllm.causal_conv1d_update(x, states, weight, conv_state_indices=torch.tensor([0, 2, 1]).int(), null_block_id=None)
        self.assertFalse(torch.equal(states[0], before[0]))

    def test_prefill_in_blocks(self):
        """Prompts in two chunks: every block then holds the state behind it, as a run in one piece leaves it."""
        dim, size, blocks = 6, 8, 6
        first_chunk, second_chunk = [5, 16, 30, 8, 9], [9, 1, 3, 24, 7]
        batch = len(first_chunk)
        for dtype, width, null_id in itertools.product(TOLERANCES, (2, 4), (0, None)):
            with self.subTest(dtype=dtype, width=width, null_id=null_id):
                before, weight, bias = width - 1, torch.randn(dim, width), torch.randn(dim)
                table = 1 + torch.randperm(batch * blocks).int().reshape(batch, blocks)
                table[1, 5] = -1 if null_id is None else null_id  # a block that nobody reaches
                states = self.lines(batch * blocks + 1, dim, before + 1, dtype)
                expected_states = states.clone()
                prompts = [torch.randn(dim, a + b).to(dtype) for a, b in zip(first_chunk, second_chunk)]
                computed = torch.zeros(batch).int()
                outs = [[] for _ in prompts]
                for lengths in (first_chunk, second_chunk):
                    ends = computed + torch.tensor(lengths).int()
                    x = torch.cat([p[:, b:e] for p, b, e in zip(prompts, computed, ends)], 1).t().contiguous().t()
                    begin = starts(lengths)
                    out = vllm.causal_conv1d_fn(
                        x, weight, bias, states, begin, cache_indices=table, has_initial_state=computed > 0,
                        null_block_id=null_id, block_idx_first_scheduled_token=computed // size,
                        block_idx_last_scheduled_token=(ends - 1) // size,
                        initial_state_idx=((computed - 1) // size).clamp(min=0).int(), num_computed_tokens=computed,
                        block_size_to_align=size)
                    for i in range(batch):
                        outs[i].append(out[:, begin[i]:begin[i + 1]])
                        # The ends of blocks inside the chunk, and its own end.
                        for end in [e for e in range(int(computed[i]) + 1, int(ends[i])) if e % size == 0] + [int(ends[i])]:
                            padded = torch.cat([torch.zeros(dim, before).to(dtype), prompts[i][:, :end]], 1)
                            expected_states[table[i, (end - 1) // size].long(), :, :before] = padded[:, -before:]
                    computed = ends
                    self.assertTrue(torch.equal(states, expected_states))
                for prompt, out in zip(prompts, outs):
                    self.close(torch.cat(out, 1), causal_conv1d_ref(prompt[None].float(), weight, bias,
                                                                    activation="silu")[0])

    def test_updates_in_blocks(self):
        """From one block to the next or in one; the block that is read alone stays."""
        dim, width = 5, 4
        table = torch.tensor([[3, 1], [4, 2], [0, 5], [6, 7]]).int()
        initial, last = torch.tensor([0, 1, 0, 1]).int(), torch.tensor([1, 1, 1, 0]).int()
        for dtype, drafts in itertools.product(TOLERANCES, (0, 2)):
            with self.subTest(dtype=dtype, drafts=drafts):
                states = self.lines(8, dim, width - 1 + drafts, dtype)
                before, x, weight = states.clone(), torch.randn(4, dim, 1 + drafts).to(dtype), torch.randn(dim, width)
                given, accepted = x.clone(), torch.tensor([1, 2, 1, 3]).int() if drafts else None
                out = vllm.causal_conv1d_update(x, states, weight, None, "silu", table, num_accepted_tokens=accepted,
                                                block_idx_last_scheduled_token=last, initial_state_idx=initial)
                expected_states = before.clone()
                for i in (0, 1, 3):
                    read, written = table[i, initial[i]].long(), table[i, last[i]].long()
                    offset = int(accepted[i]) - 1 if drafts else 0
                    row = torch.cat([before[read, :, offset:offset + width - 1], given[i]], 1)
                    expected = causal_conv1d_ref(row[None].float(), weight, activation="silu")[..., width - 1:]
                    self.close(out[i:i + 1], expected)
                    expected_states[written, :, :row.shape[1] - 1] = row[:, 1:]
                self.assertTrue(torch.equal(out[2], given[2]))
                self.assertTrue(torch.equal(states, expected_states))
        with self.assertRaisesRegex(ValueError, "initial_state_idx"):
            vllm.causal_conv1d_update(x, states, weight, conv_state_indices=table, block_idx_last_scheduled_token=last)

    def test_what_is_not_served(self):
        x, weight, states = torch.randn(2, 4), torch.randn(2, 3), torch.zeros(1, 2, 2)
        blocks = torch.zeros(1).int()
        with self.assertRaisesRegex(NotImplementedError, "retrieve_parent_token"):
            vllm.causal_conv1d_update(x.t(), states, weight, retrieve_parent_token=blocks)
        with self.assertRaisesRegex(NotImplementedError, "cache_seqlens"):
            sglang.causal_conv1d_update(x.t(), states, weight, cache_seqlens=blocks,
                                        intermediate_conv_window=torch.zeros(1, 1, 2, 2))
        self.assertTrue(torch.equal(states, torch.zeros(1, 2, 2)))

    def test_trees_of_drafts(self):
        """Every draft is what follows its own ancestors, as a plain sequence."""
        trees = [  # children first, then siblings: each draft's parent
            ([1, 3, -1, -1, -1], [-1, 2, 4, -1, -1], [0, 0, 0, 1, 0]),
            ([1, 2, 3, 4, -1], [-1, -1, -1, -1, -1], [0, 0, 1, 2, 3]),
            ([1, -1, 4, -1, -1], [-1, 2, 3, -1, -1], [0, 0, 0, 0, 2]),
            ([1, 2, -1, -1, -1], [-1, 4, 3, -1, -1], [0, 0, 1, 1, 0]),
        ]
        children, siblings, parents = (torch.tensor(list(each)) for each in zip(*trees))
        batch, drafts, dim = len(trees), 5, 4
        for dtype, width, which, accepts in itertools.product(TOLERANCES, (2, 4), ("tree", "row"), (False, True)):
            with self.subTest(dtype=dtype, width=width, which=which, accepts=accepts):
                states = self.lines(7, dim, width - 1 + drafts - 1, dtype)
                before, chosen = states.clone(), torch.tensor([5, 2, -1, 0]).int()
                accepted = torch.tensor([1, 3, 2, 5]).int() if accepts else None
                x = torch.randn(batch, drafts, dim).to(dtype).transpose(1, 2)
                weight, bias = torch.randn(dim, width), torch.randn(dim)
                windows = torch.randn(6, drafts + 1, dim, width - 1).to(dtype)
                old_windows, places = windows.clone(), torch.tensor([3, 0, 1, 4]).int()
                options = {"retrieve_next_token": children, "retrieve_next_sibling": siblings,
                           "retrieve_parent_token": torch.full((batch, drafts + 3), 7).int()} if which == "tree" else {}
                out = sglang.causal_conv1d_update(
                    x, states, weight, bias, "silu", conv_state_indices=chosen, num_accept_tokens=accepted,
                    intermediate_conv_window=windows, intermediate_state_indices=places, **options)
                expected_states, expected_windows = before.clone(), old_windows.clone()
                for i in (0, 1, 3):
                    first = int(accepted[i]) - 1 if accepts else 0
                    window = before[chosen[i].long(), :, first:first + width - 1]
                    for t in range(drafts):
                        path = [t]
                        while path[0] > 0:
                            path.insert(0, int(parents[i, path[0]]) if which == "tree" else path[0] - 1)
                        row = torch.cat([window, x[i][:, path]], 1)
                        expected = causal_conv1d_ref(row[None].float(), weight, bias, activation="silu")
                        self.close(out[i, :, t], expected[0, :, -1])
                        expected_windows[places[i].long(), t] = row[:, -(width - 1):]
                    row = torch.cat([window, x[i]], 1)
                    if accepts:
                        expected_states[chosen[i].long(), :, :row.shape[1] - 1] = row[:, 1:]
                    else:
                        expected_states[chosen[i].long(), :, :width - 1] = row[:, -(width - 1):]
                self.assertTrue(torch.equal(windows, expected_windows))
                self.assertTrue(torch.equal(states, expected_states))
                if which == "tree":
                    kept = torch.full((batch, drafts + 3), 7)
                    kept[[0, 1, 3], :drafts] = parents[[0, 1, 3]]
                    self.assertTrue(torch.equal(options["retrieve_parent_token"].long(), kept))

    def test_in_place_on_the_samples(self):
        """sgl_kernel's functions."""
        dim, width = 4, 3
        weight, bias, states = torch.randn(dim, width), torch.randn(dim), torch.randn(3, dim, width - 1)
        before, x = states.clone(), torch.randn(dim, 7)
        given, begin = x.clone(), starts([3, 2, 2])
        sglang.kernel_fwd(x, weight, bias, states, begin, torch.tensor([2, -1, 0]).int(),
                          torch.tensor([True, True, False]), True, -1)
        for first, last, initial in ((0, 3, before[2:3]), (5, 7, None)):
            self.close(x[None, :, first:last], causal_conv1d_ref(given[None, :, first:last], weight, bias,
                                                                 initial_states=initial, activation="silu"))
        self.assertTrue(torch.equal(x[:, 3:5], given[:, 3:5]))
        self.assertTrue(torch.equal(states, torch.stack([given[:, 5:], before[1], given[:, 1:3]])))
        for old in (None, torch.randn(2, dim, width - 1)):
            x = torch.randn(2, dim, 5)
            given, flags = x.clone(), None if old is None else torch.tensor([True, True])
            first = None if old is None else old.clone()
            sglang.kernel_fwd(x, weight, bias, old, None, None, flags, False, -1)
            self.close(x, causal_conv1d_ref(given, weight, bias, initial_states=first))
        x, states = torch.randn(2, dim, 1), before.clone()
        given, rows = x.clone(), torch.tensor([1, -1]).int()
        sglang.kernel_update(x, states, weight, bias, True, None, rows, -1)
        self.close(x[:1], causal_conv1d_update_ref(given[:1], before[1:2], weight, bias, "silu"))
        self.assertTrue(torch.equal(x[1], given[1]))
        self.assertTrue(torch.equal(states, before))  # which the reference moved on
        # Wider states move on as a whole.
        x, states = torch.randn(2, dim, 1), torch.randn(2, dim, width + 2)
        given, expected = x.clone(), states.clone()
        sglang.kernel_update(x, states, weight, bias, False, None, None, -1)
        self.close(x, causal_conv1d_update_ref(given, expected, weight, bias))
        self.assertTrue(torch.equal(states, expected))


def modules(name, **functions):
    """A module of this name with its packages, and a user of its functions."""
    made = {}
    for end in range(1, name.count(".") + 2):
        package = ".".join(name.split(".")[:end])
        made[package] = types.ModuleType(package)
        made[package].__path__ = []
    made[name].__dict__.update(functions)
    made["their_user"] = types.ModuleType("their_user")
    made["their_user"].__dict__.update(functions)
    made["their_user"].__dict__.update({f"{function}_as": value for function, value in functions.items()})
    return made


class Install(unittest.TestCase):
    def install(self, module, install, **functions):
        with mock.patch.dict(sys.modules, modules(module, **functions)):
            install()
            return [sys.modules[name].__dict__ for name in (module, "their_user")]

    def test_vllm(self):
        def new(x, null_block_id=0):
            pass

        def old(x, pad_slot_id=-1):
            pass

        for theirs, default in ((new, False), (old, True)):
            twin = types.FunctionType(theirs.__code__, {}, "twin", theirs.__defaults__)
            def twice():
                vllm.install()
                vllm.install()

            for place in self.install(vllm._MODULE, twice, causal_conv1d_fn=theirs, causal_conv1d_update=twin):
                for name in ("causal_conv1d_fn", "causal_conv1d_update"):
                    ours, taken = getattr(vllm, name), place[name]
                    self.assertEqual(isinstance(taken, functools.partial), default)
                    self.assertIs(taken.func if default else taken, ours)

    def test_vllm_only_where_it_is_asked_for(self):
        with mock.patch.object(vllm, "install") as install:
            with mock.patch.dict(os.environ, {"RELAYOUT_VLLM": "0"}):
                vllm.plugin()
            install.assert_not_called()
            with mock.patch.dict(os.environ, {"RELAYOUT_VLLM": "1"}):
                vllm.plugin()
            install.assert_called_once()

    def test_sglang(self):
        def one(x):
            pass

        def two(x):
            pass

        for place in self.install(sglang._MODULES[0], sglang.install, causal_conv1d_fn=one, causal_conv1d_update=two):
            self.assertIs(place["causal_conv1d_fn"], sglang.causal_conv1d_fn)
        for kernels in sglang._KERNELS:
            said = []
            places = self.install(kernels, lambda: said.extend(sglang.install()), causal_conv1d_fwd=one,
                                  causal_conv1d_update=two)
            self.assertIs(places[1]["causal_conv1d_fwd_as"], sglang.kernel_fwd)
            self.assertIs(places[0]["causal_conv1d_update"], sglang.kernel_update)
            self.assertEqual(said, [f"{kernels}.causal_conv1d_fwd", f"{kernels}.causal_conv1d_update"])
        selector = types.ModuleType(sglang._SELECTOR)
        selector.clear_cache = mock.Mock()
        with mock.patch.dict(sys.modules, {sglang._SELECTOR: selector}):
            self.install(sglang._KERNELS[1], sglang.install, causal_conv1d_fwd=one)
        selector.clear_cache.assert_called_once()
        with mock.patch.dict(sys.modules, {"sglang": None}), self.assertRaises(ModuleNotFoundError):
            sglang.install()


if __name__ == "__main__":
    unittest.main()
