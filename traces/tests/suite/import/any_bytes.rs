//! Whatever the bytes, an import ends, with events or an error.

use super::samples::golden;
use super::*;
use proptest::prelude::*;

/// Imports and ignores the outcome: it may fail, and may not panic.
fn import_anyhow(bytes: &[u8], format: &str) {
    let takes = |choice| {
        let format = Format::from_name(format);
        format.is_some_and(|format| format.about().takes.contains(&choice))
    };
    let pattern = "(?P<kind>.) (?P<address>[0-9]+)".to_owned();
    let options = Options {
        pattern: takes(Choice::Pattern).then_some(pattern),
        instructions: match takes(Choice::Fetch) {
            true => Instructions::Fetch,
            false => Instructions::Count,
        },
        ..options(format)
    };
    let _ = import_bytes(bytes, options);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        import_anyhow(&bytes, "auto");
        for format in Format::ALL {
            import_anyhow(&bytes, format.about().name);
        }
    }

    #[test]
    fn nor_do_samples_with_one_byte_changed(
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        for (name, options, _) in golden() {
            let mut bytes = std::fs::read(sample(name)).unwrap();
            let place = place.index(bytes.len());
            bytes[place] = byte;
            import_anyhow(&bytes, &options.format);
            import_anyhow(&bytes, "auto");
        }
    }
}
