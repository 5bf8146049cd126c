//! Moments, in UTC.

/// Returns milliseconds since 1970 as `2026-11-30T20:56:32Z`.
#[must_use]
pub fn utc(ms: i64) -> String {
    let seconds = ms.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// Returns the day of the Gregorian calendar: in eras of 400 years, each of which begins on 1 March, so that a leap day is
/// the last of its year.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leap_days_and_days_before_1970_are_right() {
        let check = |ms, expect: &str| assert_eq!(utc(ms), expect, "{ms}");
        check(0, "1970-01-01T00:00:00Z");
        check(-1, "1969-12-31T23:59:59Z");
        check(951_827_696_789, "2000-02-29T12:34:56Z");
        check(1_700_000_000_000, "2023-11-14T22:13:20Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00Z");
        check(i64::MAX, "292278994-08-17T07:12:55Z");
        check(i64::MIN, "-292275055-05-16T16:47:04Z");
    }
}
