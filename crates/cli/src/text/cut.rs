//! Texts that are too long for a person.

use super::count;

/// Returns whole lines of `text`, about `most` bytes of them, and says how much is left out.
pub(crate) fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    // Where even one line is too long, it is cut as well.
    end = text[..end].rfind('\n').unwrap_or(end);
    let left = text.len() - end;
    format!("{}\n… {} more; `--output json` has all of it", &text[..end], count(left as u64, "byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_kept_and_the_rest_is_counted() {
        assert_eq!(bounded("ab\ncd\nef", 8), "ab\ncd\nef");
        assert_eq!(bounded("ab\ncd\nef", 7), "ab\ncd\n… 3 bytes more; `--output json` has all of it");
        assert_eq!(bounded("éééé", 3), "é\n… 6 bytes more; `--output json` has all of it");
    }
}
