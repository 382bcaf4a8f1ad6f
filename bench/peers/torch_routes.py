"""How a user of PyTorch would do each case: one or more routes, of which the best one counts.

A tensor is held as it lies in memory: layout "ncl" as [batch, channels, length], "nlc" as [batch, length, channels]. A
route takes such tensors and returns its result likewise, contiguous.
"""

import functools

import torch
import torch.nn.functional as F

import formulas
import torch_elementwise

TYPES = {"bool": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i32": torch.int32, "f16": torch.float16,
         "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
ELEMENTWISE = {"elementwise": torch_elementwise.elementwise_routes, "quantized": torch_elementwise.quantized_routes}
PAD_MODES = {"constant": "constant", "replicate": "replicate", "reflect": "reflect", "circular": "circular",
             "reflect_zero_extended": "reflect"}


def about():
    return {"version": f"PyTorch {torch.__version__}", "runtime": f"CUDA {torch.version.cuda}"}


def input_shapes(parameters):
    """[(shape in memory, PyTorch's type)] of a case's inputs."""
    return [(shape, TYPES[name]) for shape, name in formulas.input_shapes(parameters)]


def routes(parameters):
    """[(name, function of the inputs)]."""
    if parameters["operation"] in ELEMENTWISE:
        return ELEMENTWISE[parameters["operation"]](parameters, TYPES[parameters["out_type"]])
    return {"copy": copy_routes, "permute": permute_routes, "cast": cast_routes, "pad": pad_routes, "img2col": img2col_routes,
            "conv1d": conv1d_routes, "depthwise": depthwise_routes,
            "depthwise_backward": backward_routes, "depthwise_update": update_routes}[parameters["operation"]](parameters)


def copy_routes(_):
    return [("clone", lambda x: x.clone())]


def permute_routes(parameters):
    axes = parameters["axes"]
    if "alpha" not in parameters:
        return [("permute, contiguous", lambda x: x.permute(axes).contiguous())]
    alpha, beta = parameters["alpha"], parameters["beta"]

    def in_one_pass(x):
        view = x.permute(axes)
        return torch.mul(view, alpha, out=torch.empty(view.shape, dtype=x.dtype, device=x.device))

    if beta == 0:
        return [("permute, mul", in_one_pass)]
    return [("permute, add", lambda x, old: torch.add(old if beta == 1 else beta * old, x.permute(axes), alpha=alpha))]


def cast_routes(parameters):
    out_type = TYPES[parameters["out_type"]]
    if parameters["in_layout"] == parameters["out_layout"]:
        return [("to", lambda x: x.to(out_type, copy=True))]

    def in_one_pass(x):
        view = x.transpose(-1, -2)
        return torch.empty(view.shape, dtype=out_type, device=x.device).copy_(view)

    return [("to, transpose, contiguous", lambda x: x.to(out_type).transpose(-1, -2).contiguous()),
            ("copy_ of the transposed view", in_one_pass)]


def mapped_samples(length, pad):
    """Which sample each padded position reads, on the host."""
    index = torch.arange(-pad["left"], length + pad["right"])
    mode = pad["mode"]
    if mode == "replicate":
        return index.clamp(0, length - 1)
    if mode == "circular":
        return index % length
    if mode == "symmetric":
        index = torch.where(index < 0, -1 - index, index)
        return torch.where(index >= length, 2 * length - 1 - index, index)
    index = index.abs()
    return torch.where(index >= length, 2 * (length - 1) - index, index)


def pad_routes(parameters):
    pad, out_type = parameters["pad"], TYPES[parameters["out_type"]]
    length = parameters["shape"][2]
    source, target = parameters["in_layout"], parameters["out_layout"]
    time = 2 if source == "ncl" else 1
    mode = PAD_MODES.get(pad["mode"])
    both = (pad["left"], pad["right"])

    def result(x, layout):
        return (x if layout == target else x.transpose(1, 2)).contiguous()

    def by_pad(x):
        x = x.to(out_type)
        if mode == "constant":
            widths = both if source == "ncl" else (0, 0) + both
            return result(F.pad(x, widths, value=pad["value"]), source)
        signal = x if source == "ncl" else x.transpose(1, 2)
        return result(F.pad(signal, both, mode=mode), "ncl")

    found = [("F.pad", by_pad)] if mode else []
    if mode != "constant":
        index = mapped_samples(length, pad)
        on_device = {}

        def by_index(x):
            if x.device not in on_device:
                on_device[x.device] = index.to(x.device)
            return result(x.to(out_type).index_select(time, on_device[x.device]), source)

        found.append(("index_select", by_index))
    return found


def padded_signal(x, parameters):
    """[batch, channels, length], cast and padded with a constant, which is what the benchmark's windows have."""
    pad = parameters["pad"]
    if pad["mode"] != "constant":
        raise ValueError("the peers' windows are padded with a constant, not by " + pad["mode"])
    x = x.to(TYPES[parameters["out_type"]])
    if parameters["in_layout"] == "nlc":
        return F.pad(x, (0, 0, pad["left"], pad["right"]), value=pad["value"]).transpose(1, 2)
    return F.pad(x, (pad["left"], pad["right"]), value=pad["value"])


def unfolded(x, parameters):
    """The chain cast, pad, unfold, permute."""
    if parameters["dilation"] != 1:
        raise ValueError("the peers' windows have dilation 1")
    windows = padded_signal(x, parameters).unfold(2, parameters["taps"], parameters["stride"])
    windows = windows.permute(0, 2, 3, 1) if parameters["order"] == "tap" else windows.permute(0, 2, 1, 3)
    return windows.reshape(windows.shape[0] * windows.shape[1], -1)


def concatenated(x, parameters):
    """Taps side by side: only for stride 1 and the order of taps first."""
    signal = padded_signal(x, parameters).transpose(1, 2).contiguous()
    positions = signal.shape[1] - parameters["taps"] + 1
    a = torch.cat([signal[:, k:k + positions] for k in range(parameters["taps"])], dim=2)
    return a.reshape(a.shape[0] * positions, -1)


def img2col_routes(parameters):
    found = [("pad, unfold, permute", lambda x: unfolded(x, parameters).contiguous())]
    if parameters["stride"] == 1 and parameters["order"] == "tap":
        found.append(("pad, transpose, cat", lambda x: concatenated(x, parameters)))
    return found


def conv1d_routes(parameters):
    """y [batch * ho, out_channels] by the two matrix routes; the convolution's own layout is [batch, out_channels, ho], and
    it is left so: another transpose would only make it slower."""
    taps, channels = parameters["taps"], parameters["shape"][1]

    def by_conv1d(x, bt):
        weights = bt.view(-1, taps, channels).transpose(1, 2).contiguous()
        return F.conv1d(padded_signal(x, parameters), weights, stride=parameters["stride"])

    found = [("pad, conv1d", by_conv1d)]
    found += [(name + ", matmul", lambda x, bt, route=route: route(x) @ bt.t())
              for name, route in img2col_routes(parameters)]
    return found


def depthwise_routes(parameters):
    taps, length = parameters["taps"], parameters["shape"][2]
    last = parameters["in_layout"] == "nlc"

    def by_conv1d(x, weights, bias=None, before=False):
        signal = x.transpose(1, 2) if last else x
        if before:
            y = F.conv1d(F.pad(signal, (taps - 1, 0)), weights[:, None], bias, groups=weights.shape[0])
        else:  # the samples too many on the right are cut off
            y = F.conv1d(signal, weights[:, None], bias, padding=taps - 1, groups=weights.shape[0])[:, :, :length]
        if parameters["silu"]:
            y = F.silu(y)
        return (y.transpose(1, 2) if last else y).contiguous()

    return [("conv1d, cut", by_conv1d),
            ("pad, conv1d", lambda *operands: by_conv1d(*operands, before=True))]


def backward_routes(parameters):
    """As ours, from what the forward pass was given: the sums are computed again, by the forward pass that autograd needs."""
    forward = dict(depthwise_routes({**parameters, "silu": True}))["conv1d, cut"]

    def by_autograd(x, weights, bias, d_out):
        operands = [tensor.detach().requires_grad_(True) for tensor in (x, weights, bias)]
        with torch.enable_grad():
            y = forward(*operands)
        return torch.autograd.grad(y, operands, d_out)[0].contiguous()

    return [("conv1d and its autograd", by_autograd)]


def update_routes(_):
    def by_conv1d(state, weights, bias, _):
        return F.silu(F.conv1d(state, weights[:, None], bias, groups=weights.shape[0]))

    return [("conv1d of the state, which stays", by_conv1d)]


def results(parameters, inputs):
    """[(name, a call for the result as it lies in memory)] by every route, from and to numpy."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tensors = [torch.tensor(x).to(device, dtype) for x, (_, dtype) in zip(inputs, input_shapes(parameters))]

    def result(function):
        found = function(*tensors)
        return (found.float() if found.dtype == torch.bfloat16 else found).cpu().numpy()

    return [(name, functools.partial(result, function)) for name, function in routes(parameters)]
