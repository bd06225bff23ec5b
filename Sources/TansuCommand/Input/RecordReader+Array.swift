/// Where a reader stands within the one JSON array that is its input.
enum ArrayState {
    /// Behind the opening bracket: an element or the closing bracket.
    case opened
    /// Behind a comma: an element.
    case comma
    /// Behind the closing bracket: nothing more than blanks.
    case closed
    /// Whatever there was to say of it was said.
    case done
}

/// Follows brackets and strings through the bytes of an element to where it ends.
private struct ElementScanner {
    var depth = 0
    var isInString = false
    var isEscaped = false
    var newlines = 0

    /// Whether the element ends before this byte, a comma or bracket of the array around it.
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

    /// The offset at which the element ends, or nil when the window's bytes do not tell yet.
    mutating func firstEnd(in buffer: InputBuffer, from offset: Int) -> Int? {
        buffer.withBytes(offset..<buffer.count) { bytes in
            for (index, byte) in bytes.enumerated() where ends(at: byte) { return offset + index }
            return nil
        }
    }
}

extension RecordReader {
    /// The next element of the array, or what is wrong with the array itself.
    func nextElement() throws -> Record? {
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
            return Record(
                line: line, range: 0..<0, problem: "There is text behind the end of the array")
        }
        return try element()
    }

    private func element() throws -> Record {
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
            return Record(line: number, range: 0..<0, problem: "The array is not closed with a ]")
        }
        if isTooLong {
            return Record(
                line: number, range: 0..<0,
                problem: "The element is longer than \(maximumLength) bytes")
        }
        return Record(line: number, range: trimmed(0..<scanned))
    }
}
