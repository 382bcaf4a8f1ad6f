"""Times calls on a processor as relayout_bench times itself there: operands rotated past the caches, few samples, of which the
fastest counts: other work on a shared machine makes single ones up to twice as long."""

import subprocess
import time

SAMPLES = 5
SAMPLE_SECONDS = 0.02
MOST_CALLS = 100
MOST_SETS = 512
MOST_BYTES = 512 << 20  # a shared server's whole L3 may be reported to a small machine on it
UNKNOWN_CACHE = 32 << 20


def last_cache_bytes():
    try:
        return int(subprocess.run(["getconf", "LEVEL3_CACHE_SIZE"], capture_output=True, text=True, check=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return UNKNOWN_CACHE


class CpuTimer:
    """make(shape, type): an operand of random numbers."""

    def __init__(self, make):
        self.make = make
        self.rotation = min(4 * last_cache_bytes() + 1, MOST_BYTES)

    def seconds(self, function, shapes, case_bytes):
        """Seconds per call, of the fastest sample."""
        sets = min(-(-self.rotation // max(case_bytes, 1)), MOST_SETS)
        operands = [[self.make(*shape) for shape in shapes] for _ in range(sets)]
        for one in operands:
            function(*one)
        turn = 0

        def sample(calls):
            nonlocal turn
            start = time.perf_counter()
            for _ in range(calls):
                function(*operands[turn % sets])
                turn += 1
            return (time.perf_counter() - start) / calls
        calls = max(1, min(MOST_CALLS, -int(-SAMPLE_SECONDS // sample(1))))
        return min(sample(calls) for _ in range(SAMPLES))
