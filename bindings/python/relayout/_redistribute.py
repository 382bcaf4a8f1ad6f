"""Tensors over many GPUs: Distribution, Group, redistribute."""
import ctypes as _ctypes
import os as _os
import sys as _sys

from . import _core, _frameworks
from ._workspaces import Workspaces

_ROUTES = {None: 0, "direct": 1, "staged": 2, "copy_engine": 3, "joined": 4}


class Distribution:
    """Which part of a tensor of this global shape each rank holds: boxes[rank] is (begin, end), the first index along
    each axis and one past the last. The boxes contain every element; they may be uneven, empty, and overlap."""

    def __init__(self, shape, boxes):
        boxes = tuple(boxes)
        self._take(tuple(shape), _core.distribution_boxes(tuple(shape), tuple(tuple(begin) for begin, _ in boxes),
                                                          tuple(tuple(end) for _, end in boxes)), len(boxes))

    def _take(self, shape, handle, ranks):
        self._shape, self._handle, self._ranks = shape, handle, ranks
        return self

    @classmethod
    def split(cls, shape, axis, ranks):
        """The axis cut into blocks of ceil(extent / ranks), as torch.chunk cuts it."""
        shape = tuple(shape)
        axis = axis + len(shape) if -len(shape) <= axis < 0 else axis
        return cls.__new__(cls)._take(shape, _core.distribution_split(shape, axis, ranks), ranks)

    @classmethod
    def replicated(cls, shape, ranks):
        """Every rank holds everything."""
        return cls.__new__(cls)._take(tuple(shape), _core.distribution_replicated(tuple(shape), ranks), ranks)

    @property
    def shape(self):
        """The global shape."""
        return self._shape

    @property
    def ranks(self):
        """The number of ranks."""
        return self._ranks

    def box(self, rank):
        """(begin, end) of what a rank holds."""
        return _core.distribution_box(self._handle, rank, len(self._shape))

    def local_shape(self, rank):
        """The shape of the tensor that a rank holds."""
        begin, end = self.box(rank)
        return tuple(last - first for first, last in zip(begin, end))

    def slices(self, rank):
        """What a rank holds as an index of the global tensor: whole[distribution.slices(rank)]."""
        return tuple(map(slice, *self.box(rank))) if self._shape else ()

    def __repr__(self):
        return f"Distribution({self._shape}, {[self.box(rank) for rank in range(self._ranks)]})"


class Group:
    """The ranks that exchange data. Group(streams) is one process with a rank for each stream: a torch.cuda.Stream, or
    (number of the GPU, address of its stream). Work is queued on these streams, whatever a framework's current ones are."""

    def __init__(self, streams):
        pairs = tuple(stream if isinstance(stream, tuple) else (stream.device_index, stream.cuda_stream)
                      for stream in streams)
        self._take(_core.group_of_streams(pairs))

    def _take(self, handle, library=None, communicator=None):
        self._handle, self._library, self._communicator = handle, library, communicator
        self._ranks, self._local_ranks = _core.group_ranks(handle)
        self._registered = []
        self._workspaces = Workspaces()
        return self

    @classmethod
    def emulated(cls, ranks, device=None):
        """`ranks` ranks on one device, for tests and to try out a program: on the processor, or on a GPU by its number."""
        return cls.__new__(cls)._take(_core.group_emulated(ranks, -1 if device is None else device))

    @classmethod
    def from_nccl(cls, communicator, stream):
        """One process for each rank: the address of an ncclComm_t of NCCL or RCCL, which stays the caller's, and the
        stream of this rank, as in Group(streams)."""
        device, native = stream if isinstance(stream, tuple) else (stream.device_index, stream.cuda_stream)
        return cls.__new__(cls)._take(_core.group_from_nccl(communicator, device, native))

    @classmethod
    def from_torch(cls, process_group=None):
        """One process for each rank of torch.distributed's process group; collective. It makes a communicator of its own
        on torch's current GPU, by an id that the process group carries, and works on the stream that is current now."""
        import torch
        device, native = -1, 0
        if torch.cuda.is_available():
            stream = torch.cuda.current_stream()
            device, native = stream.device_index, stream.cuda_stream
        library, communicator = _communicator(process_group)
        try:
            handle = _core.group_from_nccl(communicator, device, native)
        except Exception:
            library.ncclCommAbort(_ctypes.c_void_p(communicator))
            raise
        return cls.__new__(cls)._take(handle, library, communicator)

    @property
    def ranks(self):
        """The number of ranks."""
        return self._ranks

    @property
    def local_ranks(self):
        """The ranks of this process. Tensors are given for these."""
        return self._local_ranks

    def set_time_limit(self, seconds):
        """The longest that this process waits for ranks of others. Then planning, running and synchronize() are an Error
        of the code "timeout", and so is every later call: end the communicator (abort()) before tensors are freed."""
        _core.group_set_time_limit(self._handle, seconds)

    def register_output(self, out):
        """Lets the other processes write into this tensor, so that plans with it as `out` may take the direct route:
        collective, once, before planning. The group keeps the tensor."""
        _core.group_register_output(self._handle, out)
        self._registered.append(out)

    def register_workspace(self, workspace):
        """Lets the other processes copy messages into this tensor, on a multiple of 64 bytes, for plans that are made
        afterwards: collective. A rank needs about the bytes that it sends and gets, for the route "joined" those that stay on it,
        too. The group keeps the tensor."""
        _core.group_register_workspace(self._handle, workspace)
        self._registered.append(workspace)

    def synchronize(self):
        """Waits for the work of this process's ranks. Then the workspaces of plans that are gone are freed, too."""
        self._workspaces.free_behind(lambda: _core.group_synchronize(self._handle))

    def abort(self):
        """Ends the communicator that from_torch() made, with what waits for it. The group and its plans are of no use
        then: who calls them gets an Error."""
        self._end("ncclCommAbort")

    def close(self):
        """Gives back the communicator that from_torch() made, after all work; on every rank. One that was given to
        from_nccl() is not used any more, so that its owner may destroy it. Groups of one process go on."""
        if self._communicator is not None:
            self.synchronize()
        self._end("ncclCommDestroy")

    def _end(self, function):
        _core.group_close(self._handle)  # also for plans, which keep what they need of the group
        communicator, self._communicator = self._communicator, None
        if communicator is not None:
            getattr(self._library, function)(_ctypes.c_void_p(communicator))


class _UniqueId(_ctypes.Structure):
    _fields_ = [("bytes", _ctypes.c_char * 128)]


def _open_library():
    torch = _sys.modules["torch"]
    name = _os.environ.get("RELAYOUT_NCCL_LIBRARY") or ("librccl.so.1" if torch.version.hip else "libnccl.so.2")
    library = _ctypes.CDLL(name)  # that of torch, where torch has loaded it
    library.ncclCommInitRank.argtypes = [_ctypes.POINTER(_ctypes.c_void_p), _ctypes.c_int, _UniqueId, _ctypes.c_int]
    library.ncclGetErrorString.restype = _ctypes.c_char_p
    return library


def _check(library, result, function):
    if result != 0:
        from . import Error
        raise Error(f"{function} failed: {library.ncclGetErrorString(result).decode()}", "vendor")


def _communicator(process_group):
    """(the library, a new communicator over the process group). No rank waits for one that has no library."""
    import torch.distributed as dist
    from . import Error
    rank, ranks = dist.get_rank(process_group), dist.get_world_size(process_group)
    library, unique_id, failed = None, _UniqueId(), None
    try:
        library = _open_library()
        if rank == 0:
            _check(library, library.ncclGetUniqueId(_ctypes.byref(unique_id)), "ncclGetUniqueId")
    except (OSError, AttributeError, Error) as error:
        failed = f"{type(error).__name__}: {error}"
    said = [None] * ranks
    dist.all_gather_object(said, (bytes(unique_id), failed), group=process_group)
    for other, (_, failed) in enumerate(said):
        if failed is not None:
            raise Error(f"rank {other} cannot make a communicator: {failed}; RELAYOUT_NCCL_LIBRARY may name another file",
                        "unsupported")
    unique_id = _UniqueId.from_buffer_copy(said[0][0])
    communicator = _ctypes.c_void_p()
    _check(library, library.ncclCommInitRank(_ctypes.byref(communicator), ranks, unique_id, rank), "ncclCommInitRank")
    return library, communicator.value


class RedistributePlan:
    """A redistribution that was checked and planned: made by plan_redistribute(), run as often as is wanted. It keeps its
    tensors and a workspace of its own."""
    _workspaces = ()

    def __init__(self, *_):
        raise TypeError("a RedistributePlan is made by plan_redistribute()")

    def run(self, x=None, *, out=None):
        """Queues the redistribution on the group's streams and gives its output: between the planned tensors, or others of
        the same shapes, strides and types, as far behind multiples of 16 bytes. A plan made without out= makes a new output
        for each run with `x`."""
        if out is None and x is not None and self._makes_output:
            out = self._empty(_listed(x))
        _core.run_redistribution(self._handle, None if x is None else _listed(x), None if out is None else _listed(out),
                                 tuple(workspace.tensor for workspace in self._workspaces))
        return self._out if out is None else self._as_given(_listed(out))

    def __del__(self):
        if self._workspaces:
            self._group._workspaces.give_back(self._workspaces)

    def workspace_bytes(self, rank):
        """Bytes of the workspace of one of this process's ranks, which the plan keeps."""
        return _core.redistribution_workspace_bytes(self._handle, rank)

    def explain(self):
        """The plan in plain words, several lines."""
        return _core.explain_redistribution(self._handle)

    def _empty(self, x):
        return tuple(_core.empty_like(one, shape, self._dtype) for one, shape in zip(x, self._shapes))

    def _as_given(self, tensors):
        return tensors[0] if self._is_single else list(tensors)


def _listed(x):
    return tuple(x) if isinstance(x, (list, tuple)) else (x,)


def _tell_that_none_is_made(group, in_distribution, out_distribution):
    """A plan without tensors, which is refused: the other ranks, which wait for this one's, learn that it has none."""
    from . import Error
    try:
        _core.plan_redistribute(group._handle, in_distribution._handle, (), (), out_distribution._handle, (), _ROUTES[None], None,
                                {})
    except (Error, AttributeError, TypeError, ValueError):
        pass


def plan_redistribute(group, x, in_distribution, out_distribution, axes=None, *, out=None, dtype=None, route=None,
                      workspace_limit=None, **options):
    """A RedistributePlan of redistribute(), which takes the same arguments; collective where ranks are processes."""
    plan = RedistributePlan.__new__(RedistributePlan)
    plan._is_single = not isinstance(x, (list, tuple))
    x = _listed(x)
    try:
        if route not in _ROUTES:
            from . import Error
            raise Error("route must be one of 'direct', 'staged', 'copy_engine', 'joined', or None")
        plan._group, plan._dtype, plan._makes_output = group, _frameworks.dtype_name(dtype), out is None
        axes = tuple(range(len(in_distribution.shape)) if axes is None else axes)
        axes = tuple(axis + len(axes) if -len(axes) <= axis < 0 else axis for axis in axes)
        plan._shapes = tuple(out_distribution.local_shape(rank) for rank in group.local_ranks if rank < out_distribution.ranks)
        outs = plan._empty(x) if out is None else _listed(out)
    except BaseException:
        _tell_that_none_is_made(group, in_distribution, out_distribution)
        raise
    plan._handle = _core.plan_redistribute(group._handle, in_distribution._handle, x, axes, out_distribution._handle, outs,
                                           _ROUTES[route], workspace_limit, options)
    plan._out = plan._as_given(outs)
    sizes = tuple(plan.workspace_bytes(rank) for rank in group.local_ranks)
    # Workspaces begin on multiples of 64 bytes, and not every framework's memory does.
    if any(sizes):
        plan._workspaces = group._workspaces.take([size + 63 for size in sizes], x)
    return plan


def redistribute(group, x, in_distribution, out_distribution, axes=None, *, out=None, **options):
    """The global tensor whose parts are x, with result axis j being axis axes[j] of it, in another distribution and type: a
    distributed transpose, an exchange of heads and sequence, a resharding, an all-gather. x is a list with the tensor of
    each rank of this process, or the tensor where there is one; so is the result. Options: dtype, route ("direct",
    "staged", "copy_engine", "joined"; without one the fastest is predicted), workspace_limit in bytes, cast_rounding, saturate_fp8,
    saturate_integers. Work is queued on the group's streams. Collective where ranks are processes: each call plans."""
    return plan_redistribute(group, x, in_distribution, out_distribution, axes, out=out, **options).run()
