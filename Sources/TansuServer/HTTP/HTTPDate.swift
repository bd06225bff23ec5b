#if TansuServer
    import Foundation

    /// Dates in header fields.
    enum HTTPDate {
        /// As in `Date`: `Sun, 06 Nov 1994 08:49:37 GMT`.
        static func text(_ date: Date) -> String { text(date, separator: " ") }

        /// As in cookies: `Sun, 06-Nov-1994 08:49:37 GMT`.
        static func cookieText(_ date: Date) -> String { text(date, separator: "-") }

        private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        private static let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        private static let calendar = {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            return calendar
        }()

        private static func text(_ date: Date, separator: String) -> String {
            let parts = calendar.dateComponents([.weekday, .day, .month, .year, .hour, .minute, .second], from: date)
            func two(_ number: Int?) -> String {
                let text = String(number ?? 0)
                return text.utf8.count < 2 ? "0" + text : text
            }
            let day = [two(parts.day), months[(parts.month ?? 1) - 1], String(parts.year ?? 0)].joined(
                separator: separator)
            let time = [two(parts.hour), two(parts.minute), two(parts.second)].joined(separator: ":")
            return "\(days[(parts.weekday ?? 1) - 1]), \(day) \(time) GMT"
        }
    }
#endif
