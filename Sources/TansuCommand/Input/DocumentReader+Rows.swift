/// A scanner that finds the end of a row. A newline in quotes is part of a value.
private struct RowScanner {
    let separator: UInt8
    private var isQuoted = false
    private var isAtStart = true
    private var wasQuote = false

    init(separator: UInt8) { self.separator = separator }

    /// The offset of the newline after the row, or nil when it is not in the window.
    mutating func end(in buffer: InputBuffer, from offset: Int) -> Int? {
        buffer.withBytes(offset..<buffer.count) { bytes in
            for (index, byte) in bytes.enumerated() where ends(at: byte) { return offset + index }
            return nil
        }
    }

    private mutating func ends(at byte: UInt8) -> Bool {
        if byte == .quote, isQuoted || isAtStart || wasQuote {
            // The second of two quotes continues the value.
            (isQuoted, wasQuote, isAtStart) = (!isQuoted, isQuoted, false)
            return false
        }
        if isQuoted { return false }
        (wasQuote, isAtStart) = (false, byte == separator)
        return byte == .newline
    }
}

extension DocumentReader {
    /// Reads the first row.
    /// - Throws: `CommandError` when it is no header.
    func readHeader() throws {
        guard let raw = try nextRow() else { return }
        do {
            if let problem = raw.problem { throw InvalidDocument(message: problem) }
            var parser = table
            try withText(of: raw) { try parser?.setHeader($0) }
            table = parser
        } catch let error as InvalidDocument {
            throw CommandError(
                code: "INVALID_HEADER", message: error.message, path: "line \(raw.line)", status: .invalidInput)
        }
        buffer.discard(pending)
        pending = 0
    }

    /// The next row that is not blank.
    func nextRow() throws -> RawDocument? {
        while true {
            let number = line
            var isTooLong = false
            guard let length = try rowLength(tooLong: &isTooLong) else { return nil }
            pending = min(length + 1, buffer.count)
            line += newlines(in: 0..<pending)
            if isTooLong {
                return RawDocument(
                    line: number, range: 0..<0, problem: "The row is longer than \(maximumLength) bytes")
            }
            let hasReturn = length > 0 && buffer[length - 1] == UInt8(ascii: "\r")
            let row = 0..<(hasReturn ? length - 1 : length)
            if !row.isEmpty { return RawDocument(line: number, range: row) }
            buffer.discard(pending)
            pending = 0
        }
    }

    /// The number of bytes up to the end of the row, or nil at the end of the input. The bytes of a row that is too long
    /// are discarded.
    private func rowLength(tooLong: inout Bool) throws -> Int? {
        var scanner = RowScanner(separator: table?.separator ?? UInt8(ascii: ","))
        var scanned = 0
        while true {
            if let end = scanner.end(in: buffer, from: scanned) { return end }
            scanned = buffer.count
            if scanned > maximumLength {
                tooLong = true
                line += newlines(in: 0..<scanned)
                buffer.discard(scanned)
                scanned = 0
            }
            if try !buffer.fill() { return scanned > 0 || tooLong ? scanned : nil }
        }
    }
}
