import Foundation
import TansuBSON

/// The reading of dates in tables. Those without a time zone are in UTC.
struct DateParser {
    private let formatter: DateFormatter?

    /// - Parameter format: The pattern (Unicode TR 35), such as "dd.MM.yyyy", or nil for the forms of ISO 8601:
    ///   `2012-12-24`, `2012-12-24 12:15`, `2012-12-24T12:15:30.501+01:00`.
    init(format: String?) {
        formatter = format.map { format in
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "UTC")
            formatter.dateFormat = format
            // As in ISO 8601: also days before 1582 are those of the Gregorian calendar.
            formatter.gregorianStartDate = .distantPast
            return formatter
        }
    }

    /// The date, or nil when the text has another form or names a day or time that does not exist.
    func date(_ text: String) -> BSONValue? {
        if let formatter {
            guard let date = formatter.date(from: text), !isYearShortened(date, text, formatter) else { return nil }
            return BSONValue(date)
        }
        var bytes = Array(text.utf8)
        if bytes.count > 10, bytes[10] == 0x20 { bytes[10] = UInt8(ascii: "T") }
        if bytes.count == 10 { bytes += "T00:00".utf8 }
        // Seconds may be missing, and so may the time zone.
        if bytes.count == 16 || bytes.count > 16 && bytes[16] != UInt8(ascii: ":") {
            bytes.insert(contentsOf: ":00".utf8, at: 16)
        }
        if bytes.count >= 19, bytes[19...].allSatisfy({ $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }) {
            bytes.append(UInt8(ascii: "Z"))
        }
        let quoted = jsonText(String(decoding: bytes, as: UTF8.self))
        return try? BSONValue(extendedJSON: "{\"$date\": \(quoted)}")
    }

    /// Whether a pattern with four digits of the year was used for a text with two, which would be a year of antiquity.
    private func isYearShortened(_ date: Date, _ text: String, _ formatter: DateFormatter) -> Bool {
        guard Self.letters(of: formatter.dateFormat).contains("yyyy") else { return false }
        let year = Self.calendar.component(.year, from: date)
        return year < 1000 && !text.contains(String(format: "%04d", year))
    }

    /// Why a pattern is none for dates, or nil.
    static func fault(of format: String) -> String? {
        let letters = Self.letters(of: format)
        let has = { (symbols: String) in letters.contains { symbols.contains($0) } }
        if format.contains("%") { return "it has a %; a day is \"dd\", not \"%d\"" }
        if let letter = letters.first(where: { !symbols.contains($0) }) { return "\"\(letter)\" has no meaning in it" }
        if !has("yuYr") { return "it has no year; that is \"yyyy\"" }
        if has("Y"), !has("w") { return "\"Y\" is the year of a week; the year of a date is \"yyyy\"" }
        if has("D"), has("ML") { return "\"D\" is the day of the year; that of the month is \"dd\"" }
        if has("m"), !has("HhKk") { return "\"m\" are minutes; the month is \"MM\"" }
        let parser = DateParser(format: format)
        // A day whose parts differ.
        guard let formatter = parser.formatter,
            let probe = calendar.date(from: DateComponents(year: 2011, month: 4, day: 23))
        else { return nil }
        guard let read = formatter.date(from: formatter.string(from: probe)),
            calendar.component(.year, from: read) == 2011
        else { return "it cannot be read" }
        return nil
    }

    /// The symbols of Unicode TR 35.
    private static let symbols = "GyYuUrQqMLlwWdDFgEecabBhHKkjJCmsSAzZOvVXx"

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        return calendar
    }

    /// The letters of a pattern outside of quotes.
    private static func letters(of format: String) -> String {
        var isQuoted = false
        return format.filter { character in
            if character == "'" { isQuoted.toggle() }
            return !isQuoted && character.isASCII && character.isLetter
        }
    }
}
