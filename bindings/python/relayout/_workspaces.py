"""The workspaces of a group's plans. Queued work may use one when its plan is gone, and the framework would hand the memory to
others then, since it knows nothing of the group's streams. So the group keeps it, and the next plan may have it: its work
follows on the same stream."""
from . import _core


class _Workspace:
    """Memory for the rank at this place among a process's."""

    def __init__(self, place, size, tensor):
        self.place, self.size, self.tensor = place, size, tensor


class Workspaces:
    """Those of one group that no plan has now."""

    def __init__(self):
        self._spares = []

    def take(self, sizes, like):
        """One for each of the process's ranks, of at least so many bytes, of the kinds of the tensors `like`."""
        return tuple(self._one(place, size, x) for place, (size, x) in enumerate(zip(sizes, like)))

    def _one(self, place, size, like):
        for spare in list(self._spares):
            if spare.place == place and spare.size >= size:
                try:
                    self._spares.remove(spare)
                    return spare
                except ValueError:  # another thread has it by now
                    continue
        return _Workspace(place, size, _core.empty_like(like, (size,), "u8"))

    def give_back(self, workspaces):
        self._spares.extend(workspaces)

    def free_behind(self, wait):
        """Frees those that are here, when wait() has waited for all that is queued."""
        spares, self._spares = self._spares, []
        try:
            wait()
        except BaseException:
            self._spares += spares
            raise

    def __len__(self):
        return len(self._spares)
