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
    let place = behind_links(path)?;
    builder.make_in(directory(&place), |temporary| options.open(temporary))
}

/// Gives the temporary file its final name so that either all of it is there after a crash, or nothing.
///
/// # Errors
/// The system refuses.
pub fn persist(file: File, temporary: TempPath, path: &Path) -> io::Result<()> {
    file.sync_all()?;
    drop(file);
    let place = behind_links(path)?;
    temporary.persist(&place).map_err(|error| error.error)?;
    // The name itself is on the disk once the directory is; only Unix can open a directory.
    if cfg!(unix) {
        File::open(directory(&place))?.sync_all()
    } else {
        Ok(())
    }
}

/// Links of which one leads to the next, more than which no system follows.
const MOST_LINKS: usize = 40;

/// The file that `path` leads to, there or not and by however many links, so that each stays a link.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..=MOST_LINKS {
        match place.read_link() {
            Ok(target) => place = directory(&place).join(target),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "is a link that leads to itself",
    ))
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    fn write(path: &Path) -> io::Result<()> {
        let (mut file, temporary) = temporary(path)?.into_parts();
        file.write_all(b"whole")?;
        persist(file, temporary, path)
    }

    #[test]
    fn links_stay_links_and_what_they_lead_to_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("below")).unwrap();
        // Each is relative to where it lies: first -> below/second -> ../third -> file, which is not there.
        symlink("below/second", path("first")).unwrap();
        symlink("../third", path("below/second")).unwrap();
        symlink(path("file"), path("third")).unwrap();
        write(&path("first")).unwrap();
        for link in ["first", "below/second", "third"] {
            assert!(path(link).is_symlink(), "{link}");
        }
        assert_eq!(std::fs::read(path("file")).unwrap(), b"whole");
    }

    #[test]
    fn a_link_to_itself_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("round");
        symlink("round", &path).unwrap();
        assert!(write(&path).is_err());
        assert!(path.is_symlink());
    }
}
