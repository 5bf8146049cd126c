//! `Retry-After`: how long a server asks to be left alone, in seconds or as a date.

/// A day. Whoever asks for more is taken for having asked for this.
const MOST_MS: u64 = 24 * 60 * 60 * 1000;

/// Returns the milliseconds from now on; none where it is neither.
pub(super) fn milliseconds(text: &str, now_ms: i64) -> Option<u64> {
    let text = text.trim();
    let asked = match text.parse::<u64>() {
        Ok(seconds) => seconds.saturating_mul(1000),
        Err(_) => u64::try_from(date(text)?.saturating_mul(1000).saturating_sub(now_ms)).unwrap_or(0),
    };
    Some(asked.min(MOST_MS))
}

/// Returns the seconds since 1970 of a date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, rest) = text.split_once(", ")?;
    let parts: Vec<&str> = rest.split(' ').collect();
    let [day, month, year, time, "GMT"] = parts.as_slice() else { return None };
    let within = |text: &str, most: i64| text.parse::<i64>().ok().filter(|number| (0..=most).contains(number));
    let (day, year) = (within(day, 31)?, within(year, 9999)?);
    let month = i64::try_from(MONTHS.iter().position(|name| name == month)?).ok()? + 1;
    let clock: Vec<i64> = time.split(':').map(|part| within(part, 60)).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = clock.as_slice() else { return None };
    // Years are counted from March, so that the leap day is the last of its year.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days =
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day;
    Some((days - 719_469) * 86_400 + hours * 3600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_count_from_now_and_anything_else_not_at_all() {
        let now = 784_111_777_000;
        let check = |text: &str, expect: Option<u64>| assert_eq!(milliseconds(text, now), expect, "{text}");
        check("7", Some(7000));
        check(" 0 ", Some(0));
        check("99999999999999999999", None);
        check("9999999999999999999", Some(MOST_MS));
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(0));
        check("Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000));
        check("Sun, 06 Nov 1994 08:00:00 GMT", Some(0));
        check("Thu, 29 Feb 1996 00:00:00 GMT", Some(MOST_MS));
        check("soon", None);
        check("Sun, 06 Foo 1994 08:49:37 GMT", None);
        check("-5", None);
        assert_eq!(date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(date("Tue, 29 Feb 2000 12:00:00 GMT"), Some(951_825_600));
    }
}
