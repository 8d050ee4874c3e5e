//! Traces that are compressed, and text of all kinds.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn zeros_behind_gzip_data_are_passed_over() {
    let (one, other) = (gzip(b"0 10\n"), gzip(b"1 20\n"));
    let zeros = vec![0; 20_000];
    for parts in [
        vec![&one, &other],
        vec![&one, &other, &zeros],
        vec![&one, &zeros, &other],
    ] {
        let bytes: Vec<u8> = parts.into_iter().flatten().copied().collect();
        let (events, _) = import_bytes(&bytes, options("din")).unwrap();
        assert_eq!(events.len(), 2);
    }
    let behind = [one, b"more".to_vec()].concat();
    let message = refusal(&behind, "din");
    assert!(message.contains("the gzip data is damaged"), "{message}");
}

#[test]
fn zstd_data_of_the_longest_window_are_read() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.write_all(b"0 10\n").unwrap();
    let bytes = encoder.finish().unwrap();
    assert_eq!(import_bytes(&bytes, options("din")).unwrap().0.len(), 1);
}

#[test]
fn lzma_data_are_known() {
    let begin = [0x5d, 0, 0, 0x80, 0]
        .into_iter()
        .chain([0xff; 8])
        .chain([0, 1, 2]);
    let message = refusal(&begin.collect::<Vec<_>>(), "auto");
    assert!(
        message.contains("lzma is not read; use `unlzma -c FILE | memwalk trace import -`"),
        "{message}"
    );
}

#[test]
fn letters_beyond_ascii_are_text() {
    let of = |format: &str, pattern: Option<&str>| Options {
        pattern: pattern.map(str::to_owned),
        ..options(format)
    };
    let lines = "==1== Größe\n L 10,4\n".repeat(5000);
    for cut in 0..2 {
        // What is looked at ends within a letter.
        let text = format!("==1== {}\n{lines}", "x".repeat(cut));
        let (_, report) = import_bytes(text.as_bytes(), of("auto", None)).unwrap();
        assert_eq!(report.format, "lackey");
    }
    let pattern = Some("at (?P<address>[0-9]+)");
    for text in ["Größe at 16\n".as_bytes(), b"Gr\xf6\xdfe at 16\n"] {
        let (events, report) = import_bytes(text, of("auto", pattern)).unwrap();
        assert_eq!((events.len(), report.format), (1, "regex"));
    }
}

#[test]
fn the_files_own_name_tells_the_format_by_whole_words() {
    let format = |name: &str, text: &str| {
        let source = Box::new(Cursor::new(text.as_bytes().to_vec()));
        let import = Import::from_reader(name, source, options("auto"));
        import.map(|import| import.format().about().name)
    };
    let text = "0 10\n1 20\n";
    for name in ["gcc.din", "runs/gcc-din.txt", "DIN", "a_din_b"] {
        assert_eq!(format(name, text).unwrap(), "din", "{name}");
    }
    for name in ["recordings/trace.txt", "din/trace.txt", "coding.txt"] {
        let refused = format(name, text).unwrap_err().to_string();
        assert!(refused.contains("it could be"), "{refused}");
    }
}
