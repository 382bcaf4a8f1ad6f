#!/usr/bin/env python3
"""relayout.causal_conv1d under torch.compile(fullgraph=True), beside its own eager calls, which causal_conv1d_test.py holds
against torch: the same bits, strides, states and gradients. Needs torch 2.4; ends with 77 with an older one or none."""
import itertools
import sys
import threading
import unittest

from torch_library_test import DEVICES, HAS_GPU, IS_OLD, WITHOUT_GPU, BACKENDS, Case, Recorder, leaf, torch, usable

if IS_OLD:
    print(f"torch {torch.__version__} is too old")
    sys.exit(77)

import relayout  # noqa: E402
from relayout import causal_conv1d as cc  # noqa: E402

PLACES = [(device, backend) for device in DEVICES for backend in BACKENDS if usable(backend, device)]


def samples(batch, dim, seqlen, device, channels_last=True, dtype=torch.float32):
    if channels_last:
        return torch.randn(batch, seqlen, dim, device=device).to(dtype).transpose(1, 2)
    return torch.randn(batch, dim, seqlen, device=device).to(dtype)


def compiled(function, backend, **options):
    return torch.compile(function, backend=backend, fullgraph=True, **options)


class Compiled(Case):
    def alike(self, ours, theirs, what=None):
        """The same elements at the same places."""
        self.assertEqual((ours.dtype, ours.shape, ours.stride()), (theirs.dtype, theirs.shape, theirs.stride()), what)
        self.assertTrue(torch.equal(ours, theirs), what)

    def test_all_arguments_with_gradients(self):
        """Every choice once with each of two others, not with all."""
        choices = [("last", "bias", "silu", "states"), ("last", "", None, "states"), ("first", "bias", None, "final"),
                   ("last", "bias", "swish", "out"), ("first", "", "silu", "ids"), ("last", "bias", None, "ids"),
                   ("first", "bias", "silu", ""), ("last", "", "silu", "final")]
        for (device, backend), (layout, has_bias, activation, extra) in itertools.product(PLACES, choices):
            for dtype, kind in ((torch.float32, torch.float32), (torch.bfloat16, torch.float16)):
                with self.subTest(device=device, backend=backend, layout=layout, bias=has_bias, activation=activation,
                                  extra=extra, dtype=dtype):
                    torch._dynamo.reset()
                    x = samples(2, 6, 9, device, layout == "last", dtype)
                    tensors = {"x": x, "weight": torch.randn(6, 4, device=device).to(kind)}
                    fixed = {"activation": activation}
                    if has_bias:
                        tensors["bias"] = torch.randn(6, device=device).to(kind)
                    if extra in ("states", "out"):
                        tensors["initial_states"] = samples(2, 6, 3, device, True, dtype)
                    if extra == "ids":
                        fixed["seq_idx"] = torch.tensor([[0, 0, 1, 1, 1, 2, 3, -1, -1], [5] * 9], device=device,
                                                        dtype=torch.int32 if has_bias else torch.int64)
                    with_states = extra in ("states", "out", "final")
                    fixed["return_final_states"] = with_states
                    outputs = []
                    for how in (cc.causal_conv1d_fn, compiled(cc.causal_conv1d_fn, backend)):
                        given = {name: tensor.detach().clone().requires_grad_() for name, tensor in tensors.items()}
                        own = dict(fixed)
                        if extra == "out":
                            own["final_states_out"] = samples(2, 6, 3, device, False, dtype)
                        result = how(**given, **own)
                        parts = list(result) if with_states else [result]
                        torch.autograd.backward(parts, [torch.full_like(part, 0.5) for part in parts])
                        outputs.append([*parts, *(own[name] for name in ("final_states_out",) if name in own),
                                        *(tensor.grad for tensor in given.values())])
                    for number, (eager, ours) in enumerate(zip(*outputs)):
                        self.alike(ours.detach(), eager.detach(), number)

    def test_without_gradients_and_with_some(self):
        x, weight, bias = samples(2, 6, 9, "cpu"), torch.randn(6, 4, requires_grad=True), torch.randn(6)
        for call in (cc.causal_conv1d_fn, compiled(cc.causal_conv1d_fn, "aot_eager")):
            with torch.no_grad():
                self.assertFalse(call(x, weight, bias).requires_grad)
            weight.grad = None
            call(x, weight, bias).sum().backward()
            self.assertIsNotNone(weight.grad)

    def test_updates(self):
        """The weights are parameters, as in a model; there is no gradient."""
        def steps(x, state, weight, bias, lengths, lines):
            first = cc.causal_conv1d_update(x, state, weight, bias, "silu", lengths, lines)
            return first, cc.causal_conv1d_update(2 * x, state, weight, None, None, lengths, lines)

        cases = itertools.product(PLACES, (False, True), (None, 1, 3), (False, True), (None, torch.int32, torch.int64))
        for (device, backend), grad, seqlen, ring, indices in cases:
            with self.subTest(device=device, backend=backend, grad=grad, seqlen=seqlen, ring=ring, indices=indices):
                torch._dynamo.reset()
                x = samples(3, 6, seqlen or 1, device)
                x = x.squeeze(-1) if seqlen is None else x
                weight = torch.randn(6, 4, device=device, requires_grad=True)
                bias = torch.randn(6, device=device, requires_grad=True)
                lengths = torch.tensor([0, 7, 100], dtype=torch.int32, device=device) if ring else None
                lines = None if indices is None else torch.tensor([3, -1, 0], dtype=indices, device=device)
                ours = samples(3 if indices is None else 5, 6, 3 + 4 * ring, device)
                theirs = ours.clone()
                call = compiled(steps, backend)
                with torch.set_grad_enabled(grad):
                    for _ in range(2):
                        results = call(x, ours, weight, bias, lengths, lines)
                        for a, b in zip(results, steps(x, theirs, weight, bias, lengths, lines)):
                            self.assertFalse(a.requires_grad)
                            self.same(a, b)
                        self.alike(ours, theirs)

    def test_updates_in_inference_mode(self):
        for device, backend in PLACES:
            for shape in ((2, 6), (2, 6, 3)):
                with self.subTest(device=device, backend=backend, shape=shape), torch.inference_mode():
                    torch._dynamo.reset()
                    x, weight = torch.randn(shape, device=device), torch.randn(6, 4, device=device)
                    ours, theirs = (torch.ones(2, 6, 3, device=device) for _ in range(2))
                    call = compiled(cc.causal_conv1d_update, backend)
                    for _ in range(2):
                        self.alike(call(x, ours, weight), cc.causal_conv1d_update(x, theirs, weight))
                        self.alike(ours, theirs)

    def test_states_of_sequences(self):
        for device, backend in PLACES:
            torch._dynamo.reset()
            x, ends = torch.randn(31, 6, device=device), torch.tensor([0, 0, 3, 23, 24, 31], device=device)
            self.alike(compiled(cc.causal_conv1d_varlen_states, backend)(x, ends, 5), cc.causal_conv1d_varlen_states(x, ends, 5))

    def test_the_module_of_others_autograd_functions(self):
        """As mamba_ssm calls causal_conv1d_cuda."""
        class Function(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight, bias):
                out, states = torch.empty_like(x), x.new_empty(x.shape[0], x.shape[1], 3)
                cc.forward_into(x, weight, bias, None, None, out, states, True)
                ctx.save_for_backward(x, weight, bias)
                return out, states

            @staticmethod
            def backward(ctx, dout, dstates):
                x, weight, bias = ctx.saved_tensors
                dx, dweight, dbias = torch.empty_like(x), torch.zeros_like(weight), torch.zeros_like(bias)
                cc.backward_into(x, weight, bias, dout, None, None, dstates, dx, dweight, dbias, None, True)
                return dx, dweight, dbias

        def steps(x, state, weight, bias):
            out = torch.empty_like(x)
            cc.update_into(x, state, weight, bias, out, False, None, None)
            return out + state.sum()

        for device, backend in PLACES:
            with self.subTest(device=device, backend=backend):
                torch._dynamo.reset()
                ours = [leaf(samples(2, 6, 9, device)), *(torch.randn(shape, device=device, requires_grad=True)
                                                          for shape in ((6, 4), (6,)))]
                theirs = [leaf(tensor) for tensor in ours]
                results = compiled(Function.apply, backend)(*ours), Function.apply(*theirs)
                for a, b in zip(*results):
                    self.same(a, b)
                for result in results:
                    (result[0].sum() + result[1].square().sum()).backward()
                for a, b in zip(ours, theirs):
                    self.same(a.grad, b.grad)
                state = samples(2, 6, 3, device)
                same = state.clone()
                self.close(compiled(steps, backend)(ours[0].detach(), state, *ours[1:]), steps(ours[0].detach(), same, *ours[1:]))
                self.same(state, same)

    def test_shapes_that_change(self):
        call = compiled(cc.causal_conv1d_fn, "aot_eager", dynamic=True)
        for length in (10, 17, 33):
            x, weight = samples(2, 6, length, "cpu").requires_grad_(), torch.randn(6, 4)
            out, states = call(x, weight, return_final_states=True)
            expected, expected_states = cc.causal_conv1d_fn(x, weight, return_final_states=True)
            self.alike(out, expected)
            self.alike(states, expected_states)
            self.assertIsNotNone(torch.autograd.grad(out.sum(), x)[0])

    def test_one_operator_when_compiled_and_none_otherwise(self):
        x, weight, state, seen = samples(2, 6, 9, "cpu"), torch.randn(6, 4), torch.zeros(2, 6, 3), []

        def call():
            cc.causal_conv1d_fn(x, weight)
            cc.causal_conv1d_update(x, state, weight)
            return cc.causal_conv1d_varlen_states(x[0].t(), torch.tensor([0, 9]), 2)

        def backend(graph, _):
            seen.extend(str(node.target) for node in graph.graph.nodes if "relayout" in str(node.target))
            return graph

        with Recorder() as recorder:
            call()
        self.assertEqual(recorder.calls, [])
        compiled(call, backend)()
        self.assertEqual([name.split(".")[-1] for name in seen],
                         ["depthwise_conv1d", "causal_conv1d_update", "depthwise_varlen_states"])

    def test_refusals(self):
        """A graph that breaks at them says what eager calls say."""
        x, weight = samples(2, 6, 9, "cpu"), torch.randn(6, 4)
        call = torch.compile(cc.causal_conv1d_fn, backend="aot_eager")
        for kind, words, arguments in (
                (relayout.Error, "f16|float16", {"return_final_states": True, "final_states_out": torch.zeros(2, 6, 3).half()}),
                (relayout.Error, r"\[2, 6, 4\]", {"return_final_states": True, "final_states_out": torch.zeros(2, 6, 4)}),
                (NotImplementedError, "relu", {"activation": "relu"}), (AssertionError, "seq_idx", {
                    "seq_idx": torch.zeros(2, 9, dtype=torch.int32), "return_final_states": True})):
            for function in (cc.causal_conv1d_fn, call):
                with self.subTest(words), self.assertRaisesRegex(kind, words):
                    torch._dynamo.reset()
                    function(x, weight, **arguments)

    def test_threads(self):
        """Other threads' eager calls stay eager while one compiles."""
        x, weight, failures, stop = samples(2, 6, 9, "cpu"), torch.randn(6, 4), [], threading.Event()
        expected = cc.causal_conv1d_fn(x, weight)

        def work():
            try:
                while not stop.is_set():
                    self.alike(cc.causal_conv1d_fn(x, weight), expected)
            except BaseException as error:  # the main thread tells of it
                failures.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(3):
                torch._dynamo.reset()
                self.alike(compiled(cc.causal_conv1d_fn, "aot_eager")(x, weight), expected)
        finally:
            stop.set()
            thread.join()
        self.assertEqual(failures, [])


@unittest.skipUnless(HAS_GPU, WITHOUT_GPU)
class Gpu(Case):
    def test_cuda_graphs_of_a_training_step(self):
        def loss(x, weight, bias):
            return cc.causal_conv1d_fn(x, weight, bias, activation="silu").square().sum()

        call = torch.compile(loss, mode="reduce-overhead", fullgraph=True)
        for _ in range(4):
            ours = [leaf(samples(2, 64, 300, "cuda")), *(torch.randn(shape, device="cuda", requires_grad=True)
                                                         for shape in ((64, 4), (64,)))]
            theirs = [leaf(tensor) for tensor in ours]
            torch.compiler.cudagraph_mark_step_begin()
            call(*ours).backward()
            loss(*theirs).backward()
            for a, b in zip(ours, theirs):
                torch.testing.assert_close(a.grad, b.grad)

    def test_the_current_stream(self):
        x, weight, stream = samples(4, 512, 4096, "cuda"), torch.randn(512, 4, device="cuda"), torch.cuda.Stream()
        call = compiled(lambda x, weight: cc.causal_conv1d_fn(2 * x, weight), "inductor")
        expected = call(x, weight)
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            y = x.clone()
            out = call(y, weight)
        stream.synchronize()
        self.same(out, expected)


if __name__ == "__main__":
    unittest.main()
