//! Days as the tables have them.

/// Days from 1970-01-01 to a day of the Gregorian calendar.
///
/// Years begin in March, so that the leap day is the last of its year; 153 days make five months from there on.
pub(super) const fn day(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let from_march_of_year_0 = 365 * year + leap_days + (153 * month + 2) / 5 + day - 1;
    from_march_of_year_0 - DAYS_TO_1970
}

/// From 1 March of year 0 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::day;
    use tpchgen::dates::TPCHDate;

    #[test]
    fn days_are_those_of_the_generator() {
        assert_eq!((day(1970, 1, 1), day(2000, 3, 1)), (0, 11_017));
        let first = day(1992, 1, 1);
        assert_eq!(first, i64::from(TPCHDate::UNIX_EPOCH_OFFSET));
        assert_eq!(day(1998, 12, 1) - day(1998, 8, 7), 116);
        assert_eq!(day(1996, 3, 1) - day(1996, 2, 28), 2);
    }
}
