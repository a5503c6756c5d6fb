//! Milliseconds since 1970 as text, in UTC. No time zones: that would take a library and a database.

const DAY: u64 = 24 * 60 * 60 * 1000;

/// `2026-11-15T12:35:03.120Z`.
pub fn date_and_time(milliseconds: u64) -> String {
    let (year, month, day) = date(milliseconds / DAY);
    format!("{year:04}-{month:02}-{day:02}T{}", time(milliseconds))
}

/// `12:35:03.120Z`.
pub fn time(milliseconds: u64) -> String {
    let (seconds, rest) = (milliseconds % DAY / 1000, milliseconds % 1000);
    format!("{:02}:{:02}:{:02}.{rest:03}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Year, month and day of a day since 1970.
fn date(mut days: u64) -> (u64, u64, u64) {
    let mut year = 1970;
    while days >= length_of(year) {
        days -= length_of(year);
        year += 1;
    }
    let february = length_of(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

fn length_of(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days_and_years() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_798_761_599_000, "2026-12-31T23:59:59.000Z"),
            (1_798_761_600_000, "2027-01-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(date_and_time(milliseconds), text);
        }
    }
}
