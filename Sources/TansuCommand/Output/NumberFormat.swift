/// The formatting of numbers, durations and sizes.
enum NumberFormat {
    /// 34006 as "34,006".
    static func grouped(_ value: Int64) -> String {
        let digits = String(value.magnitude)
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    static func grouped(_ value: Int) -> String { grouped(Int64(value)) }

    /// "1 document", "34,006 documents".
    static func count(_ value: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(grouped(value)) \(value == 1 ? singular : plural ?? singular + "s")"
    }

    /// Seconds as "0.41 s", milliseconds as "3.2 ms", below that "85 µs".
    static func duration(_ duration: Duration) -> String {
        let parts = duration.components
        return self.duration(
            milliseconds: Double(parts.seconds) * 1000 + Double(parts.attoseconds) / 1e15)
    }

    /// The same from milliseconds.
    static func duration(milliseconds: Double) -> String {
        if milliseconds < 1 { return "\(Int((milliseconds * 1000).rounded())) µs" }
        if milliseconds >= 10, milliseconds < 1000 { return "\(Int(milliseconds.rounded())) ms" }
        if milliseconds < 10 { return "\(decimals(milliseconds, 1)) ms" }
        return "\(decimals(milliseconds / 1000, 2)) s"
    }

    /// A rate, rounded to two significant digits: "82,000 per second".
    static func perSecond(_ count: Int, _ duration: Duration) -> String {
        let parts = duration.components
        let seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        guard seconds > 0 else { return "" }
        let rate = Double(count) / seconds
        var unit = 1.0
        while rate / unit >= 100 { unit *= 10 }
        return "\(grouped(Int64((rate / unit).rounded() * unit))) per second"
    }

    /// 12582912 as "12.6 MB" (powers of ten).
    static func bytes(_ value: Int64) -> String {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var amount = Double(value)
        var unit = 0
        while amount >= 999.95, unit < units.count - 1 {
            amount /= 1000
            unit += 1
        }
        return unit == 0 ? "\(value) B" : "\(decimals(amount, 1)) \(units[unit])"
    }

    /// A number with a fixed number of digits after the decimal point.
    static func decimals(_ value: Double, _ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (value * scale).rounded()
        guard scaled.magnitude < 1e15 else { return String(value) }
        let whole = Int64(scaled) / Int64(scale)
        let fraction = String((Int64(scaled) % Int64(scale)).magnitude)
        let sign = scaled < 0 && whole == 0 ? "-" : ""
        let zeros = String(repeating: "0", count: max(0, digits - fraction.count))
        return digits == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(zeros)\(fraction)"
    }
}
