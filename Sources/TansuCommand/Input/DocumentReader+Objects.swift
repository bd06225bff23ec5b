/// A scanner that finds the end of a JSON object that spans several lines.
private struct ObjectScanner {
    enum End {
        /// The object's closing brace is before this offset.
        case closed(Int)
        /// The object cannot continue after the newline at this offset.
        case broken(Int)
    }

    /// The kinds of the open containers: whether each is an array.
    private var containers: [Bool] = []
    private var isInString = false
    private var isEscaped = false
    /// The last byte that is not white space.
    private var last: UInt8?
    private var isAtLineStart = true
    private var lineEnd = 0

    /// Scans the bytes of the window from an offset on. Nil when the end is not in the window.
    mutating func end(in buffer: InputBuffer, from offset: Int) -> End? {
        buffer.withBytes(offset..<buffer.count) { bytes in
            for (index, byte) in bytes.enumerated() {
                if let end = advance(byte, at: offset + index) { return end }
            }
            return nil
        }
    }

    private mutating func advance(_ byte: UInt8, at offset: Int) -> End? {
        if isInString {
            if byte == .newline { return .broken(offset) }
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == .quote {
                isInString = false
            }
            return nil
        }
        if byte.isJSONBlank {
            if byte == .newline { (isAtLineStart, lineEnd) = (true, offset) }
            return nil
        }
        switch byte {
        case .quote: isInString = true
        case .openBrace:
            // An object at a position where none may be is the next document, after one that does not end.
            if isAtLineStart, !allowsValue { return .broken(lineEnd) }
            containers.append(false)
        case .openBracket: containers.append(true)
        case .closeBrace, .closeBracket:
            containers.removeLast()
            if containers.isEmpty { return .closed(offset + 1) }
        default: break
        }
        (last, isAtLineStart) = (byte, false)
        return nil
    }

    /// Whether a value may be at the current position.
    private var allowsValue: Bool {
        switch last {
        case nil, UInt8(ascii: ":"), .openBracket: true
        case UInt8(ascii: ","): containers.last ?? false
        default: false
        }
    }
}

extension DocumentReader {
    /// The next JSON object. What is no object ends with its line.
    func nextObject() throws -> RawDocument? {
        while true {
            let number = line
            var isTooLong = false
            guard let length = try lineLength(tooLong: &isTooLong) else { return nil }
            let text = trimmed(0..<length)
            if isTooLong { return tooLong(line: number, length: length) }
            if !text.isEmpty, buffer[text.lowerBound] == .openBrace, !isClosed(text) {
                return try objectOnSeveralLines()
            }
            pending = min(length + 1, buffer.count)
            line += 1
            if !text.isEmpty { return RawDocument(line: number, range: text) }
            buffer.discard(pending)
            pending = 0
        }
    }

    /// Whether a line that begins with a brace has the whole object. Braces in strings may make it true or false by
    /// mistake; the parser or the scanner then finds out.
    private func isClosed(_ text: Range<Int>) -> Bool {
        guard buffer[text.upperBound - 1] == .closeBrace else { return false }
        return buffer.withBytes(text) { bytes in
            var balance = 0
            for byte in bytes {
                balance += (byte == .openBrace ? 1 : 0) - (byte == .closeBrace ? 1 : 0)
            }
            return balance <= 0
        }
    }

    private func objectOnSeveralLines() throws -> RawDocument {
        let number = line
        var scanner = ObjectScanner()
        var scanned = 0
        var end: ObjectScanner.End?
        while end == nil {
            end = scanner.end(in: buffer, from: scanned)
            scanned = buffer.count
            if end == nil, scanned > maximumLength {
                line += newlines(in: 0..<scanned)
                buffer.discard(scanned)
                return tooLong(line: number, length: try newline(from: 0))
            }
            if end == nil, try !buffer.fill() { break }
        }
        let length: Int
        switch end {
        // Text after the object on its last line makes it invalid.
        case .closed(let offset): length = try newline(from: offset)
        case .broken(let offset): length = offset
        case nil: length = buffer.count
        }
        pending = min(length + 1, buffer.count)
        line += newlines(in: 0..<pending)
        return RawDocument(line: number, range: trimmed(0..<length))
    }

    func newlines(in range: Range<Int>) -> Int {
        buffer.withBytes(range) { bytes in bytes.reduce(0) { $0 + ($1 == .newline ? 1 : 0) } }
    }

    /// The offset of the next newline or of the end of the input.
    private func newline(from offset: Int) throws -> Int {
        var searched = offset
        while true {
            if let end = buffer.firstOffset(of: .newline, from: searched) { return end }
            searched = buffer.count
            if try !buffer.fill() { return searched }
        }
    }

    private func tooLong(line number: Int, length: Int) -> RawDocument {
        pending = min(length + 1, buffer.count)
        line += 1
        return RawDocument(
            line: number, range: 0..<0, problem: "The line is longer than \(maximumLength) bytes")
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
