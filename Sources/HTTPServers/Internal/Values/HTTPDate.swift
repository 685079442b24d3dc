#if HTTPServers
    internal import Glibc

    /// The value of the field `Date`, which is computed once a second.
    ///
    /// > Thread safety: one thread at a time.
    struct HTTPDate {
        private var second = 0
        private var text = ""

        /// Returns the current date, as RFC 9110 writes it.
        mutating func now() -> String {
            let now = time(nil)
            if now != second {
                second = now
                text = HTTPDate.text(of: now)
            }
            return text
        }

        /// Returns the date of a number of seconds since 1970.
        static func text(of seconds: Int) -> String {
            let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
            let months = [
                "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
            ]
            var seconds = seconds
            // Safe: the value has a pointer, which is not used.
            var parts = unsafe tm()
            // Safe: the function reads and fills local variables.
            _ = unsafe gmtime_r(&seconds, &parts)
            func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
            let (day, month, year) = unsafe (parts.tm_mday, Int(parts.tm_mon), parts.tm_year + 1900)
            let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
            let weekday = unsafe days[Int(parts.tm_wday)]
            return
                "\(weekday), \(two(day)) \(months[month]) \(year) \(two(hour)):\(two(minute)):\(two(second)) GMT"
        }
    }
#endif
