/// The state of a reader whose input is one JSON array.
enum ArrayState {
    /// After the opening bracket. An element or the closing bracket follows.
    case opened
    /// After a comma. An element follows.
    case comma
    /// After the closing bracket. Only white space may follow.
    case closed
    /// At the end of the input or after an error of the array itself.
    case done
}

/// A scanner that tracks brackets and strings to find the end of an array element.
private struct ElementScanner {
    var depth = 0
    var isInString = false
    var isEscaped = false
    var newlines = 0

    /// Whether the element ends before this byte, which is a comma or a bracket of the array.
    mutating func ends(at byte: UInt8) -> Bool {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            } else if byte == .newline {
                newlines += 1
            }
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case .newline: newlines += 1
        case UInt8(ascii: "{"), .openBracket: depth += 1
        case UInt8(ascii: "}"): depth = max(0, depth - 1)
        case .closeBracket:
            if depth == 0 { return true }
            depth -= 1
        case UInt8(ascii: ","): return depth == 0
        default: break
        }
        return false
    }

    /// The offset of the end of the element, or nil when the end is not in the window.
    mutating func firstEnd(in buffer: InputBuffer, from offset: Int) -> Int? {
        buffer.withBytes(offset..<buffer.count) { bytes in
            for (index, byte) in bytes.enumerated() where ends(at: byte) { return offset + index }
            return nil
        }
    }
}

extension DocumentReader {
    /// The next element of the array, or an invalid document for an error of the array itself.
    func nextElement() throws -> RawDocument? {
        if array == .done { return nil }
        try skipBlanks()
        let first = try byte(at: 0)
        if array == .opened, first == .closeBracket {
            buffer.discard(1)
            array = .closed
            try skipBlanks()
        }
        if array == .closed {
            array = .done
            guard try byte(at: 0) != nil else { return nil }
            return RawDocument(
                line: line, range: 0..<0, problem: "There is text after the end of the array")
        }
        return try element()
    }

    private func element() throws -> RawDocument {
        let number = line
        var scanner = ElementScanner()
        var scanned = 0
        var isTooLong = false
        var delimiter: UInt8?
        while delimiter == nil {
            if let found = scanner.firstEnd(in: buffer, from: scanned) {
                scanned = found
                delimiter = buffer[found]
                continue
            }
            scanned = buffer.count
            if scanned > maximumLength {
                isTooLong = true
                buffer.discard(scanned)
                scanned = 0
            }
            if try !buffer.fill() { break }
        }
        line += scanner.newlines
        pending = delimiter == nil ? scanned : scanned + 1
        switch delimiter {
        case nil: array = .done
        case .closeBracket: array = .closed
        default: array = .comma
        }
        if delimiter == nil {
            return RawDocument(line: number, range: 0..<0, problem: "The array does not end with \"]\"")
        }
        if isTooLong {
            return RawDocument(
                line: number, range: 0..<0,
                problem: "The element is longer than \(maximumLength) bytes")
        }
        return RawDocument(line: number, range: trimmed(0..<scanned))
    }
}
