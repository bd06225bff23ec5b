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
            return formatter
        }
    }

    /// The date, or nil when the text has another form or names a day or time that does not exist.
    func date(_ text: String) -> BSONValue? {
        if let formatter { return formatter.date(from: text).map { BSONValue($0) } }
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
}
