extension DocumentReader {
    /// The next line that is not blank.
    func nextLine() throws -> RawDocument? {
        while true {
            let number = line
            var isTooLong = false
            guard let length = try lineLength(tooLong: &isTooLong) else { return nil }
            let text = trimmed(0..<length)
            pending = min(length + 1, buffer.count)
            line += 1
            if isTooLong {
                return RawDocument(
                    line: number, range: 0..<0,
                    problem: "The line is longer than \(maximumLength) bytes")
            }
            if !text.isEmpty { return RawDocument(line: number, range: text) }
            buffer.discard(pending)
            pending = 0
        }
    }

    /// The number of bytes up to the end of the line, or nil at the end of the input. The bytes of a line that is too
    /// long are discarded.
    private func lineLength(tooLong: inout Bool) throws -> Int? {
        var searched = 0
        while true {
            if let end = buffer.firstOffset(of: .newline, from: searched) { return end }
            searched = buffer.count
            if searched > maximumLength {
                tooLong = true
                buffer.discard(searched)
                searched = 0
            }
            if try !buffer.fill() { return searched > 0 || tooLong ? searched : nil }
        }
    }

    /// The range without white space at its ends, including carriage returns.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, buffer[lower].isJSONBlank { lower += 1 }
        while upper > lower, buffer[upper - 1].isJSONBlank { upper -= 1 }
        return lower..<upper
    }
}
