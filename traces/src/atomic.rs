//! Files that appear under their name when they are whole, or never.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile, TempPath};

/// A temporary file beside `path`, so that it can take its name.
///
/// # Errors
/// The directory cannot be written, or `path` is something else than a regular file.
pub fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    if path.file_name().is_none() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a file name is missing",
        ));
    }
    // Renaming over a directory or a device would fail at the end or, worse, replace it.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "exists and is not a regular file",
        ));
    }
    // Opened here and not by the library, which makes it private and adds its name to every error.
    let mut options = File::options();
    options.write(true).create_new(true);
    let mut builder = Builder::new();
    builder.prefix(".memwalk-").suffix(".tmp");
    let place = behind_link(path);
    builder.make_in(directory(&place), |temporary| options.open(temporary))
}

/// Gives the temporary file its final name so that either all of it is there after a crash, or nothing.
///
/// # Errors
/// The system refuses.
pub fn persist(file: File, temporary: TempPath, path: &Path) -> io::Result<()> {
    file.sync_all()?;
    drop(file);
    let place = behind_link(path);
    temporary.persist(&place).map_err(|error| error.error)?;
    // The name itself is on the disk once the directory is; only Unix can open a directory.
    if cfg!(unix) {
        File::open(directory(&place))?.sync_all()
    } else {
        Ok(())
    }
}

/// The file that `path` leads to, there or not, so that a link stays a link.
fn behind_link(path: &Path) -> PathBuf {
    match path.read_link() {
        Ok(target) => directory(path).join(target),
        Err(_) => path.to_path_buf(),
    }
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
