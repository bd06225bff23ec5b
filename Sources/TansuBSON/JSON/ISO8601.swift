/// Conversion between dates and text such as `2024-05-01T12:00:00.250Z`, without a formatter object.
package enum ISO8601 {
    /// The end of the year 9999 in milliseconds since 1970.
    static let endOfYear9999: Int64 = 253_402_300_799_999

    /// The text of a date, or nil before the year 0 and after the year 9999, which need more than four digits.
    ///
    /// - Parameter isSortable: Whether whole seconds have a fraction too, so that texts have the order of their dates.
    package static func text(_ milliseconds: Int64, isSortable: Bool = false) -> String? {
        guard milliseconds >= -62_167_219_200_000, milliseconds <= endOfYear9999 else { return nil }
        let days = floorDivide(milliseconds, 86_400_000)
        let rest = milliseconds - days * 86_400_000
        let (year, month, day) = civil(days)
        let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60)
        let fraction = rest % 1000 == 0 && !isSortable ? "" : "." + pad(rest % 1000, 3)
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(hour, 2)):\(pad(minute, 2)):\(pad(second, 2))"
            + "\(fraction)Z"
    }

    /// Parses a date in milliseconds since 1970, or returns nil when the text is not a date with a time and a zone.
    static func milliseconds(_ text: String) -> Int64? {
        var reader = Reader(text: Array(text.utf8))
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T"), let hour = reader.number(2), reader.skip(":"),
            let minute = reader.number(2), reader.skip(":"), let second = reader.number(2),
            let fraction = reader.fraction(), let zone = reader.zone(), reader.isAtEnd,
            (1...12).contains(month), day >= 1, day <= daysInMonth(year, month), hour < 24, minute < 60, second < 60
        else { return nil }
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - zone
        return seconds * 1000 + fraction
    }

    private struct Reader {
        let text: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == text.count }

        mutating func skip(_ character: UnicodeScalar) -> Bool {
            guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        mutating func digit() -> Int64? {
            guard position < text.count, text[position] >= 0x30, text[position] <= 0x39 else { return nil }
            position += 1
            return Int64(text[position - 1] - 0x30)
        }

        mutating func number(_ digits: Int) -> Int64? {
            var value: Int64 = 0
            for _ in 0..<digits {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        /// The milliseconds after a decimal point. Further digits are ignored.
        mutating func fraction() -> Int64? {
            guard skip(".") else { return 0 }
            guard var value = digit() else { return nil }
            var count = 1
            while let digit = digit() {
                if count < 3 { value = value * 10 + digit }
                count += 1
            }
            while count < 3 {
                value *= 10
                count += 1
            }
            return value
        }

        /// The offset from UTC in seconds, positive to the east.
        mutating func zone() -> Int64? {
            if skip("Z") { return 0 }
            let isEast = skip("+")
            guard isEast || skip("-"), let hours = number(2) else { return nil }
            _ = skip(":")
            guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
            return (isEast ? 1 : -1) * (hours * 3600 + minutes * 60)
        }
    }

    private static func pad(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 { a >= 0 ? a / b : (a - b + 1) / b }

    private static func daysInMonth(_ year: Int64, _ month: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days since 1970 of a date. The computation uses years that begin in March, so that the leap day is last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = floorDivide(year, 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date of a number of days since 1970.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
