//! Opens what is to be imported; compressed data is known by its first bytes and read directly.

use crate::import::error::ImportError;
use crate::import::gzip::Gzip;
use lzma_rust2::XzReader;
use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;

/// Bytes, from wherever they come.
pub(super) type Source = Box<dyn Read + Send>;

/// Name that stands for standard input.
pub const STDIN: &str = "-";

const GZIP: &[u8] = &[0x1f, 0x8b];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Compressions that are not read, and what unpacks them.
const FOREIGN: [(&[u8], &str, &str); 2] = [
    (b"BZh", "bzip2", "bunzip2 -c"),
    (b"PK\x03\x04", "zip", "unzip -p"),
];
/// What packs files as xz did once.
const LZMA: (&str, &str) = ("lzma", "unlzma -c");
/// An lzma file begins with this byte, the size of its dictionary and that of its contents.
const LZMA_BEGIN: u8 = 0x5d;
const MAGIC_BYTES: usize = 13;
/// Bytes that the contents of an lzma file may have, so that it is told from numbers.
const LZMA_CONTENTS: u64 = 1 << 40;
/// The longest distance between what repeats in a zstd file, as a power of 2: that of `zstd --long=31`, the longest there is.
const ZSTD_WINDOW: u32 = 31;
/// Memory that an xz file may ask for; `xz -9` asks for 65 MiB.
const XZ_LIMIT_KIB: u32 = 1 << 20;

/// The bytes of `path`, before decompression.
pub(super) fn open(path: &Path) -> Result<Source, ImportError> {
    if path.as_os_str() == STDIN {
        return Ok(Box::new(io::stdin()));
    }
    let refused = |cause: String| ImportError::Io {
        file: path.display().to_string(),
        cause,
    };
    let file = File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => refused(format!("{error}; check the path")),
        _ => refused(error.to_string()),
    })?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(refused("it is a directory; give a trace file".to_owned()));
    }
    Ok(Box::new(file))
}

/// What `source` holds when it is decompressed. `name` is for messages.
pub(super) fn decompressed(mut source: Source, name: &str) -> Result<Source, ImportError> {
    let mut magic = Vec::with_capacity(MAGIC_BYTES);
    Read::by_ref(&mut source)
        .take(MAGIC_BYTES as u64)
        .read_to_end(&mut magic)
        .map_err(|error| ImportError::io(name, &error))?;
    let begins = |with: &[u8]| magic.starts_with(with);
    let (gzip, xz, zstd) = (begins(GZIP), begins(XZ), begins(ZSTD));
    let foreign = FOREIGN.into_iter().find(|(with, ..)| begins(with));
    let foreign = foreign.map(|(_, kind, unpacker)| (kind, unpacker));
    if let Some((kind, unpacker)) = foreign.or(is_lzma(&magic).then_some(LZMA)) {
        return Err(ImportError::Io {
            file: name.to_owned(),
            cause: format!("{kind} is not read; use `{unpacker} FILE | memwalk trace import -`"),
        });
    }
    let whole = Cursor::new(magic).chain(source);
    if gzip {
        Ok(named("gzip", Gzip::new(whole)))
    } else if xz {
        Ok(named(
            "xz",
            XzReader::new_mem_limit(whole, true, XZ_LIMIT_KIB),
        ))
    } else if zstd {
        let refused = |error| ImportError::io(name, &error);
        let mut decoder = zstd::Decoder::new(whole).map_err(refused)?;
        decoder.window_log_max(ZSTD_WINDOW).map_err(refused)?;
        Ok(named("zstd", decoder))
    } else {
        Ok(Box::new(whole))
    }
}

/// Whether these are the first bytes of an lzma file, which has no mark of its own.
fn is_lzma(begin: &[u8]) -> bool {
    let [LZMA_BEGIN, a, b, c, d, contents @ ..] = begin else {
        return false;
    };
    let dictionary = u32::from_le_bytes([*a, *b, *c, *d]);
    let Ok(contents) = contents.try_into().map(u64::from_le_bytes) else {
        return false;
    };
    dictionary.is_power_of_two()
        && dictionary > 1 << 11
        && (contents == u64::MAX || contents < LZMA_CONTENTS)
}

/// A decoder whose errors say what it decodes.
struct Named<R> {
    compression: &'static str,
    decoder: R,
}

fn named(compression: &'static str, decoder: impl Read + Send + 'static) -> Source {
    Box::new(Named {
        compression,
        decoder,
    })
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder
            .read(buffer)
            .map_err(|error| match error.kind() {
                ErrorKind::Interrupted => error,
                kind => {
                    let compression = self.compression;
                    let message = format!(
                        "the {compression} data is damaged or cut short ({error}); copy the file again"
                    );
                    io::Error::new(kind, message)
                }
            })
    }
}
