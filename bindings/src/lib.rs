//! Python module `simcore._native`.
