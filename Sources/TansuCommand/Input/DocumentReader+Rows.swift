/// A scanner that finds the end of a row. A newline in quotes is part of a value.
private struct RowScanner {
    /// The byte between values, or nil when any of `RowParser.separators` may be it.
    let separator: UInt8?
    private var isQuoted = false
    private var isAtStart = true
    private var wasQuote = false

    init(separator: UInt8?) { self.separator = separator }

    /// The offset of the newline or carriage return after the row, or nil when it is not in the window.
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
        (wasQuote, isAtStart) = (false, separator.map { $0 == byte } ?? RowParser.separators.contains(byte))
        return byte == .newline || byte == .carriageReturn
    }
}

extension DocumentReader {
    /// Reads the first row.
    /// - Throws: `CommandError` when it is no header.
    func readHeader() throws {
        guard var parser = table, var raw = try nextRow() else { return }
        do {
            if let separator = try text(of: raw, RowParser.namedSeparator) {
                parser.setSeparator(separator)
                table = parser
                guard let next = try nextRow() else { return }
                raw = next
            }
            try text(of: raw) {
                parser.setSeparator(ofHeader: $0)
                try parser.setHeader($0)
            }
            table = parser
        } catch let error as InvalidDocument {
            throw CommandError(
                code: "INVALID_HEADER", message: error.message, path: "line \(raw.line)", status: .invalidInput)
        }
        if parser.options.hasHeader {
            discardRow()
        } else {
            firstRow = raw
        }
    }

    private func text<R>(of raw: RawDocument, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        if let problem = raw.problem { throw InvalidDocument(message: problem) }
        return try withText(of: raw, body)
    }

    private func discardRow() {
        buffer.discard(pending)
        pending = 0
    }

    /// The next row that is not blank. It ends with a newline, a carriage return, or both in either order.
    func nextRow() throws -> RawDocument? {
        if let row = firstRow {
            firstRow = nil
            return row
        }
        while true {
            discardRow()
            if let rowEnd, let next = try byte(at: 0), next == (rowEnd == .newline ? .carriageReturn : .newline) {
                buffer.discard(1)
            }
            rowEnd = nil
            let number = line
            var isTooLong = false
            guard let length = try rowLength(tooLong: &isTooLong) else { return nil }
            pending = min(length + 1, buffer.count)
            rowEnd = length < buffer.count ? buffer[length] : nil
            line += lineBreaks(in: 0..<length) + 1
            if isTooLong {
                return RawDocument(
                    line: number, range: 0..<0, problem: "The row is longer than \(maximumLength) bytes")
            }
            if length > 0 { return RawDocument(line: number, range: 0..<length) }
        }
    }

    /// The number of bytes up to the end of the row, or nil at the end of the input. The bytes of a row that is too long
    /// are discarded.
    private func rowLength(tooLong: inout Bool) throws -> Int? {
        var scanner = RowScanner(separator: table?.options.separator)
        var scanned = 0
        while true {
            if let end = scanner.end(in: buffer, from: scanned) { return end }
            scanned = buffer.count
            if scanned > maximumLength {
                tooLong = true
                line += lineBreaks(in: 0..<scanned)
                buffer.discard(scanned)
                scanned = 0
            }
            if try !buffer.fill() { return scanned > 0 || tooLong ? scanned : nil }
        }
    }

    /// The number of line ends in quotes.
    private func lineBreaks(in range: Range<Int>) -> Int {
        buffer.withBytes(range) { bytes in
            var count = 0
            for (index, byte) in bytes.enumerated() {
                // A newline and a carriage return next to each other are one.
                if byte == .newline { count += 1 }
                if byte == .carriageReturn, index == 0 || bytes[index - 1] != .newline,
                    index + 1 == bytes.count || bytes[index + 1] != .newline
                {
                    count += 1
                }
            }
            return count
        }
    }
}
