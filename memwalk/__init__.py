"""Where in the memory hierarchy does a data structure lose its time, and what would change that.

This is the one import name of the project. Its parts lie in folders of their own at the top of a checkout, to which there are
links here; an installed memwalk has the folders themselves here.
"""

from importlib import import_module


def __getattr__(name: str) -> str:
    """Find the version when somebody asks for it: the library that knows it takes a while to import."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    version: str = import_module("importlib.metadata").version("memwalk")
    return version
