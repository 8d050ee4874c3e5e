//! The syntax of an ini file, as strict as it must be to mean to us what it means to DRAMSim3's reader.
//!
//! That reader (inih) forgives much without a word: it joins indented lines to the value before, cuts long lines in
//! two, joins values given twice and takes a comment for a part of the value unless a space precedes it. Here each of
//! these is a mistake.

/// Longest line that DRAMSim3's reader takes in one piece (`INI_MAX_LINE` of inih less the terminator and newline).
const LONGEST_LINE: usize = 198;

/// One `key = value` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) line: usize,
    pub(super) section: &'a str,
    pub(super) key: &'a str,
    pub(super) value: &'a str,
}

/// What is wrong, and in which line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) line: usize,
    pub(super) message: String,
}

impl Mistake {
    pub(super) fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

/// The entries of an ini file in their order. Comments are lines that begin with `;` or `#`, and ends of lines that
/// begin with ` ;`.
pub(super) fn parse(text: &str) -> Result<Vec<Entry<'_>>, Mistake> {
    let mut section = "";
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (number, raw) in text.lines().enumerate() {
        let line = number + 1;
        let content = raw.trim_end();
        if content.is_empty() || content.starts_with([';', '#']) {
            continue;
        }
        if content.len() > LONGEST_LINE {
            return Err(Mistake::new(
                line,
                format!(
                    "the line has {} bytes; the most is {LONGEST_LINE}",
                    content.len()
                ),
            ));
        }
        if content.starts_with(char::is_whitespace) {
            return Err(Mistake::new(
                line,
                "the line is indented, which continues the one before; remove the spaces before it",
            ));
        }
        let content = uncommented(content);
        if let Some(rest) = content.strip_prefix('[') {
            section = rest.strip_suffix(']').ok_or_else(|| {
                Mistake::new(line, format!("`{content}` is no section; write `[name]`"))
            })?;
            continue;
        }
        let entry = entry(line, section, content)?;
        if let Some(first) = entries
            .iter()
            .find(|other| (other.section, other.key) == (section, entry.key))
        {
            return Err(Mistake::new(
                line,
                format!("`{}` is given in line {} already", entry.key, first.line),
            ));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn entry<'a>(line: usize, section: &'a str, content: &'a str) -> Result<Entry<'a>, Mistake> {
    let (key, value) = content.split_once(['=', ':']).ok_or_else(|| {
        Mistake::new(
            line,
            format!("`{content}` is neither `key = value` nor `[section]`"),
        )
    })?;
    let (key, value) = (key.trim(), value.trim());
    if section.is_empty() {
        return Err(Mistake::new(
            line,
            format!("`{key}` stands before the first [section]"),
        ));
    }
    if value.contains([';', '#']) {
        return Err(Mistake::new(
            line,
            format!("`{value}` ends in no comment: one begins with a space and a semicolon"),
        ));
    }
    Ok(Entry {
        line,
        section,
        key,
        value,
    })
}

/// The line without the comment at its end.
fn uncommented(content: &str) -> &str {
    let comment = content
        .match_indices(';')
        .find(|&(at, _)| content[..at].ends_with(char::is_whitespace));
    comment.map_or(content, |(at, _)| content[..at].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_keys_and_comments_are_told_apart() {
        let text = "; a file\n# of ours\n[timing] ; all in cycles\ntCK = 0.625 ; ns\r\nCL:22\n";
        let entries = parse(text).expect("a good file");
        let flat: Vec<_> = entries
            .iter()
            .map(|entry| (entry.line, entry.section, entry.key, entry.value))
            .collect();
        assert_eq!(
            flat,
            [(4, "timing", "tCK", "0.625"), (5, "timing", "CL", "22")]
        );
    }

    #[test]
    fn what_dramsim3_would_misread_is_refused() {
        let long = format!("[timing]\n{} = 1", "k".repeat(200));
        for (text, line, part) in [
            ("[timing]\n CL = 22", 2, "indented"),
            ("[timing]\nCL = 22; cycles", 2, "a space and a semicolon"),
            ("[timing]\nCL = 22\nCL = 24", 3, "line 2 already"),
            ("[timing\nCL = 22", 1, "no section"),
            ("CL = 22", 1, "before the first"),
            ("[timing]\nCL 22", 2, "neither"),
            (long.as_str(), 2, "the most is 198"),
        ] {
            let mistake = parse(text).expect_err(text);
            assert_eq!(mistake.line, line, "{text}");
            assert!(mistake.message.contains(part), "{}", mistake.message);
        }
    }
}
