//! Calls of `time` at one moment, in UTC and in a zone with summer time.

use std::time::{Duration, UNIX_EPOCH};

use crate::library::Call;
use crate::library::testing::Desk;
use crate::value::Value;

/// 2024-02-29 13:05:09.250 UTC, a Thursday.
const NOW: i64 = 1_709_211_909;

fn desk(zone: &str) -> Desk {
    let mut desk = Desk::default();
    desk.world.now = Some(UNIX_EPOCH + Duration::from_millis(NOW as u64 * 1000 + 250));
    desk.world.surroundings.environment = [("TZ".into(), zone.into())].into();
    desk
}

fn int(number: i64) -> Value {
    Value::Int(number)
}

fn text(text: &str) -> Value {
    Value::text(text)
}

#[test]
fn every_function_gives_what_its_name_says() {
    let rows: Vec<(&str, Vec<Value>, &str)> = vec![
        ("now", vec![], "1709211909"),
        ("now_ms", vec![], "1709211909250"),
        ("now_ns", vec![], "1709211909250000000"),
        ("tick", vec![], "1709211909250000000"),
        ("elapsed_ms", vec![int(1_709_211_909_000_000_000)], "250.0"),
        ("sleep", vec![int(1)], "nil"),
        ("sleep_ms", vec![int(5)], "nil"),
        ("year", vec![], "2024"),
        ("month", vec![], "2"),
        ("day", vec![], "29"),
        ("hour", vec![], "13"),
        ("minute", vec![], "5"),
        ("second", vec![], "9"),
        ("second", vec![int(-1)], "59"),
        ("second", vec![int(i64::MAX)], "E11002"),
        ("weekday", vec![], "4"),
        ("weekday", vec![int(3 * 86_400)], "0"),
        ("weekday_name", vec![], r#""Thursday""#),
        ("month_name", vec![], r#""February""#),
        ("day_of_year", vec![], "60"),
        ("quarter", vec![], "1"),
        ("week_of_year", vec![], "9"),
        (
            "format",
            vec![text("YYYY/YY-MM-DD HH:mm:ss.SSS hh A a Z ZZ é")],
            r#""2024/24-02-29 13:05:09.250 01 PM pm +0000 +00:00 é""#,
        ),
        ("format", vec![text("HH:mm"), int(60)], r#""00:01""#),
        ("iso", vec![], r#""2024-02-29T13:05:09+00:00""#),
        ("date", vec![], r#""2024-02-29""#),
        ("clock", vec![], r#""13:05:09""#),
        ("parse", vec![text("2024-02-29 13:05:09"), text("YYYY-MM-DD HH:mm:ss")], "1709211909"),
        ("parse", vec![text("29.02.24 01:05 pm"), text("DD.MM.YY hh:mm a")], "1709211900"),
        ("parse", vec![text("12:00 AM"), text("hh:mm A")], "0"),
        ("parse", vec![text("1970-01-01T02:00:00+02:00"), text("YYYY-MM-DDTHH:mm:ssZZ")], "0"),
        ("parse", vec![text("2023-02-29"), text("YYYY-MM-DD")], "E11001"),
        ("parse", vec![text("2023-2-1"), text("YYYY-MM-DD")], "E11001"),
        ("parse", vec![text("2023-02-01x"), text("YYYY-MM-DD")], "E11001"),
        ("parse", vec![text("é"), text("YYYY")], "E11001"),
        ("parse", vec![text("13:00 PM"), text("hh:mm A")], "E11001"),
        ("make", vec![int(2024), int(2), int(29), int(13), int(5), int(9)], "1709211909"),
        ("make", vec![int(1970), int(1), int(32)], "2678400"),
        ("make", vec![int(1971), int(-11), int(1)], "0"),
        ("make", vec![int(1_000_000), int(1), int(1)], "E11002"),
        ("make", vec![int(i64::MAX), int(i64::MIN), int(i64::MAX)], "E11002"),
        ("add_seconds", vec![int(0), int(-5)], "-5"),
        ("add_minutes", vec![int(0), int(2)], "120"),
        ("add_hours", vec![int(0), int(2)], "7200"),
        ("add_days", vec![int(0), int(2)], "172800"),
        ("add_days", vec![int(0), int(i64::MAX)], "E11002"),
        ("add_weeks", vec![int(0), int(1)], "604800"),
        ("add_months", vec![int(1_706_659_200), int(1)], "1709164800"),
        ("add_months", vec![int(0), int(i64::MAX)], "E11002"),
        ("add_years", vec![int(NOW), int(1)], "1740747909"),
        ("diff", vec![int(10), int(3)], "7"),
        ("diff_days", vec![int(200_000), int(0)], "2"),
        ("diff_hours", vec![int(0), int(7300)], "-2"),
        ("diff_minutes", vec![int(125), int(0)], "2"),
        ("is_before", vec![int(1), int(2)], "true"),
        ("is_after", vec![int(1), int(2)], "false"),
        ("timezone", vec![], r#""UTC""#),
        ("utc_offset", vec![], "0"),
        ("is_leap_year", vec![], "true"),
        ("is_leap_year", vec![int(1900)], "false"),
        ("is_leap_year", vec![int(2000)], "true"),
        ("days_in_month", vec![], "29"),
        ("days_in_month", vec![int(2023), int(2)], "28"),
        ("days_in_month", vec![int(2023), int(13)], "E11002"),
        ("days_in_month", vec![int(2023)], "E7001"),
        ("start_of_day", vec![], "1709164800"),
        ("end_of_day", vec![], "1709251199"),
        ("start_of_month", vec![], "1706745600"),
        ("end_of_month", vec![], "1709251199"),
        ("start_of_year", vec![], "1704067200"),
        ("end_of_year", vec![], "1735689599"),
    ];
    let mut desk = desk("UTC");
    for (name, arguments, expected) in &rows {
        assert_eq!(&desk.shown("time", name, arguments), expected, "{name} of {arguments:?}");
    }
    let mut constants = 0;
    for native in super::TABLES.iter().copied().flatten() {
        let constant = matches!(native.call, Call::Constant(_));
        constants += usize::from(constant);
        assert!(constant || rows.iter().any(|(name, ..)| *name == native.name), "{} has no row", native.name);
    }
    assert_eq!(constants, 24);
}

#[test]
fn the_parts_are_those_of_the_programs_own_time_zone() {
    let mut desk = desk("EST5EDT,M3.2.0,M11.1.0");
    let summer = 1_720_000_000;
    assert_eq!(desk.shown("time", "hour", &[]), "8");
    assert_eq!(desk.shown("time", "iso", &[int(summer)]), r#""2024-07-03T05:46:40-04:00""#);
    assert_eq!(desk.shown("time", "timezone", &[]), r#""EST""#);
    assert_eq!(desk.shown("time", "utc_offset", &[]), "-18000");
    let made = [2024, 7, 3, 5, 46, 40].map(Value::Int);
    assert_eq!(desk.shown("time", "make", &made), summer.to_string());
    let parsed = [text("2024-07-03 05:46:40"), text("YYYY-MM-DD HH:mm:ss")];
    assert_eq!(desk.shown("time", "parse", &parsed), summer.to_string());
}
