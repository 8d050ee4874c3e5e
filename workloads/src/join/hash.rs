//! Hash codes of keys: by XOR and shift only (thesis section 4.7.1), so that no two keys have one code.

/// The hash code of a key.
pub(super) fn hash(key: u32) -> u32 {
    let mut code = key;
    code ^= code << 13;
    code ^= code >> 17;
    code ^ (code << 5)
}

/// The key of a hash code.
pub(super) fn key_of(code: u32) -> u32 {
    let mut key = code;
    // Shifts by 5 and 13 are undone a shift's width at a time.
    key ^= key << 5;
    key ^= key << 10;
    key ^= key << 20;
    key ^= key >> 17;
    key ^= key << 13;
    key ^ (key << 26)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_code_tells_its_key(key: u32) {
            prop_assert_eq!(key_of(hash(key)), key);
        }
    }
}
