"""Whether the native module is older than the Rust it is made of: in a checkout somebody may have forgotten to build it."""

from pathlib import Path

from memwalk.simcore import _native

CRATES = ("traces", "simcore", "workloads", "bindings")
"""Folders of a checkout whose Rust is in the native module."""


def newer_source(module: Path | None = None) -> Path | None:
    """Return the Rust source, or Cargo's lock or manifest, that has changed last, if that was after the native module was built.

    An installed memwalk has no sources: None.
    """
    module = Path(str(_native.__file__)) if module is None else module
    checkout = module.resolve().parent.parent  # a package of the checkout is imported through a link
    manifests = [checkout / "Cargo.toml", checkout / "Cargo.lock", *(checkout / crate / "Cargo.toml" for crate in CRATES)]
    if not all(path.is_file() for path in manifests):
        return None
    sources = [*manifests, *(path for crate in CRATES for path in (checkout / crate / "src").rglob("*.rs"))]
    latest = max(sources, key=lambda path: path.stat().st_mtime_ns)
    return latest if latest.stat().st_mtime_ns > module.stat().st_mtime_ns else None
