//! The seal: how a file proves that it is a whole, unchanged memwalk trace before the Parquet library sees it.
//!
//! Every byte of a file is covered: the row groups by the checksums in its contents, the footer (which holds the
//! contents) by the seal, a footer entry that also names the format and its version. The seal's checksum is that of the
//! footer, length and closing magic included, with the checksum's own digits set to `0`. It is found by its text,
//! so a damaged footer is never parsed.

use crate::store::format::FORMAT;

/// Key of the metadata entry that holds the seal.
pub(crate) const SEAL_KEY: &str = "memwalk.seal";
/// Hexadecimal digits of a CRC-32.
const DIGITS: usize = 8;
const BEFORE_DIGITS: &str = ",\"footer_crc32\":\"";

/// What a footer's seal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) version: u64,
    /// Whether the checksum is that of the footer; nothing if the checksum cannot be read.
    pub(super) intact: Option<bool>,
}

fn opening() -> String {
    format!("{{\"format\":\"{FORMAT}\",\"schema_version\":")
}

/// Text of a seal whose checksum is yet to be filled in.
pub(super) fn blank(version: u64) -> String {
    format!(
        "{}{version}{BEFORE_DIGITS}{}\"}}",
        opening(),
        "0".repeat(DIGITS)
    )
}

/// Fills in the checksum of a footer that holds a blank seal; says whether it does.
pub(super) fn close(footer: &mut [u8]) -> bool {
    let Some((_, Some(digits))) = find(footer) else {
        return false;
    };
    let checksum = format!("{:08x}", crc32fast::hash(footer));
    footer[digits..digits + DIGITS].copy_from_slice(checksum.as_bytes());
    true
}

/// Looks for the seal in a footer.
pub(super) fn inspect(footer: &[u8]) -> Option<Seal> {
    let (version, digits) = find(footer)?;
    let intact = digits.map(|digits| {
        let (before, rest) = footer.split_at(digits);
        let (written, after) = rest.split_at(DIGITS);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(before);
        hasher.update(&[b'0'; DIGITS]);
        hasher.update(after);
        format!("{:08x}", hasher.finalize()).as_bytes() == written
    });
    Some(Seal { version, intact })
}

/// Version of the last seal in `footer`, and where its checksum's digits begin if it has them.
fn find(footer: &[u8]) -> Option<(u64, Option<usize>)> {
    let opening = opening();
    let start = footer
        .windows(opening.len())
        .rposition(|window| window == opening.as_bytes())?
        + opening.len();
    let version_digits = footer[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let version = std::str::from_utf8(&footer[start..start + version_digits])
        .ok()?
        .parse()
        .ok()?;
    let rest = &footer[start + version_digits..];
    let digits = (rest.starts_with(BEFORE_DIGITS.as_bytes())
        && rest.len() >= BEFORE_DIGITS.len() + DIGITS)
        .then_some(start + version_digits + BEFORE_DIGITS.len());
    Some((version, digits))
}
