"""Peers that may not be installed."""


def optional(name):
    """(module, "") or (None, why not)."""
    try:
        return __import__(name), ""
    except Exception as error:  # a broken installation fails in its own way
        return None, f"{type(error).__name__}: {error}"
