//! Fits what is too large into a budget, and says so.
//!
//! A budget is in tokens, and a token is taken for four bytes. What is small stays whole: room is shared so that only the
//! largest parts are cut, each at its head and tail, between characters.
//!
//! The notices come on top: an answer may be larger than its budget by a few hundred bytes.

use std::borrow::Cow;

/// How much one answer may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// In bytes.
    pub(crate) bytes: usize,
}

impl Budget {
    pub(crate) fn of_tokens(tokens: u64) -> Self {
        Self { bytes: usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX) }
    }
}

/// How a text is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Measure {
    /// Its bytes.
    Plain,
    /// Its bytes inside a JSON string, where quotes and control characters take more.
    InJson,
}

impl Measure {
    fn of(self, text: &str) -> usize {
        match self {
            Self::Plain => text.len(),
            Self::InJson => text.chars().map(|c| self.of_char(c)).sum(),
        }
    }

    fn of_char(self, c: char) -> usize {
        match (self, c) {
            (Self::InJson, '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}') => 2,
            (Self::InJson, '\0'..='\u{1f}') => 6,
            (Self::Plain | Self::InJson, _) => c.len_utf8(),
        }
    }
}

/// Returns `text`, or a notice and then its head and tail. `whole` says in the notice where all of it is.
pub(crate) fn cut<'a>(text: &'a str, room: usize, measure: Measure, whole: &str) -> Cow<'a, str> {
    if measure.of(text) <= room {
        return Cow::Borrowed(text);
    }
    let head = fitting(text.chars(), room / 2, measure);
    let tail = fitting(text.chars().rev(), room / 2, measure);
    let (total, shown) = (text.len(), head + tail);
    let notice = format!("[cut: {shown} of {total} bytes shown, from head and tail; {whole}]");
    if shown == 0 {
        return Cow::Owned(notice);
    }
    let (start, end) = (&text[..head], &text[total - tail..]);
    Cow::Owned(format!("{notice}\n{start}\n[… {} bytes left out …]\n{end}", total - shown))
}

/// Returns how many bytes of text the characters that fit have.
fn fitting(chars: impl Iterator<Item = char>, room: usize, measure: Measure) -> usize {
    let (mut used, mut bytes) = (0, 0);
    for c in chars {
        used += measure.of_char(c);
        if used > room {
            break;
        }
        bytes += c.len_utf8();
    }
    bytes
}

/// Shares `room` among parts that want so much each: whoever wants little gets it, and the rest get equal parts of what is
/// left.
pub(crate) fn shares<const N: usize>(room: usize, wants: [usize; N]) -> [usize; N] {
    let mut order: [usize; N] = std::array::from_fn(|index| index);
    order.sort_by_key(|index| wants[*index]);
    let (mut left, mut shares) = (room, [0; N]);
    for (served, index) in order.into_iter().enumerate() {
        shares[index] = wants[index].min(left / (N - served));
        left -= shares[index];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_as_it_is() {
        assert_eq!(cut("abc", 3, Measure::Plain, ""), "abc");
        assert_eq!(cut("", 0, Measure::Plain, ""), "");
        assert_eq!(cut("\"", 2, Measure::InJson, ""), "\"");
        assert!(cut("\"", 1, Measure::InJson, "").starts_with("[cut: 0 of 1 bytes"));
    }

    #[test]
    fn a_cut_text_begins_with_the_notice_and_keeps_head_and_tail() {
        insta::assert_snapshot!(cut("0123456789", 6, Measure::Plain, "ask again"), @"
        [cut: 6 of 10 bytes shown, from head and tail; ask again]
        012
        [… 4 bytes left out …]
        789
        ");
    }

    #[test]
    fn no_character_is_split_and_no_room_is_exceeded() {
        for text in ["äöüß".repeat(9), "a😀".repeat(9), "\u{1}\"\n".repeat(9), "é".repeat(3) + "x"] {
            for measure in [Measure::Plain, Measure::InJson] {
                for room in 0..40 {
                    let out = cut(&text, room, measure, "");
                    if let Cow::Owned(out) = &out
                        && let Some((_, rest)) = out.split_once("]\n")
                    {
                        let (head, rest) = rest.split_once("\n[… ").unwrap();
                        let (_, tail) = rest.split_once(" …]\n").unwrap();
                        assert!(text.starts_with(head) && text.ends_with(tail), "{text} {room}");
                        assert!(measure.of(head) + measure.of(tail) <= room, "{text} {room}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_the_largest_parts_give_way() {
        assert_eq!(shares(100, [10, 20, 30]), [10, 20, 30]);
        assert_eq!(shares(100, [1000, 20, 0]), [80, 20, 0]);
        assert_eq!(shares(100, [1000, 2000, 20]), [40, 40, 20]);
        assert_eq!(shares(0, [5, 0]), [0, 0]);
        assert_eq!(shares(7, []), [0; 0]);
    }
}
