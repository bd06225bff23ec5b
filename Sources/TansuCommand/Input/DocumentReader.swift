import TansuBSON

/// The text of one document of the input, before parsing.
struct RawDocument: Equatable {
    /// The line on which it begins, counted from 1.
    var line: Int
    /// Its range in the reader's window, valid until the next call of `next()`.
    var range: Range<Int>
    /// The reason why it is invalid, if the reader detected one before parsing.
    var problem: String?
}

/// A reader that splits an input into documents: JSON objects one after another (NDJSON or pretty-printed), the elements of
/// one JSON array, or the rows of a table.
///
/// It finds only the boundaries of documents and does not parse them. So it continues after an invalid document.
final class DocumentReader {
    enum Format: Equatable { case objects, array, rows }

    /// The maximum length of a document's text. The canonical JSON of the largest document is shorter.
    let maximumLength: Int

    private(set) var format: Format?
    /// The table whose rows are documents, if the input is one.
    var table: RowParser?
    var buffer: InputBuffer
    var line = 1
    /// The number of bytes in the window that the last document takes.
    var pending = 0
    var array = ArrayState.opened
    /// The first row of a table without a header, which has been read already.
    var firstRow: RawDocument?
    /// Whether documents are returned with their text.
    var keepsText = false
    /// The header of a table.
    var header: [UInt8]?
    /// Called with what separates the values of a table, if it is no comma and nobody has named it.
    var onGuess: (String) -> Void = { _ in }
    /// The byte that the last row of a table ended with.
    var rowEnd: UInt8?

    /// - Parameter table: The format of the input when it is a table with a header.
    init(
        _ source: any ByteSource, table: RowParser? = nil, capacity: Int = 256 * 1024, maximumLength: Int = 64 << 20
    ) {
        buffer = InputBuffer(source, capacity: capacity)
        self.table = table
        self.maximumLength = maximumLength
    }

    /// The fraction of the input that was read, between 0 and 1, or nil when its size is not known.
    var fraction: Double? { buffer.fraction }

    /// The next document, or nil at the end of the input.
    /// - Throws: `CommandError` when the input cannot be read or decompressed, or when the header of a table is invalid.
    func next() throws -> RawDocument? {
        buffer.discard(pending)
        pending = 0
        let format = try format ?? detectFormat()
        switch format {
        case .objects: return try nextObject()
        case .array: return try nextElement()
        case .rows: return try nextRow()
        }
    }

    /// Calls a closure with the text of the document that `next()` returned last.
    func withText<R>(
        of raw: RawDocument, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        try buffer.withBytes(raw.range, body)
    }

    /// The byte at an offset of the window, or nil at the end of the input. It reads more bytes when necessary.
    func byte(at offset: Int) throws -> UInt8? {
        while offset >= buffer.count {
            guard try buffer.fill() else { return nil }
        }
        return buffer[offset]
    }

    /// Skips white space and counts lines.
    func skipBlanks() throws {
        while let next = try byte(at: 0), next.isJSONBlank {
            if next == .newline { line += 1 }
            buffer.discard(1)
        }
    }

    /// - Throws: `CommandError` when the window has a NUL byte, which no text has.
    func rejectBinary() throws {
        _ = try byte(at: 0)
        let isBinary = buffer.withBytes(0..<buffer.count) { $0.contains(0) }
        if isBinary, let error = FileKind.binary.error(for: buffer.name, wanted: "JSON or CSV") { throw error }
    }

    private func detectFormat() throws -> Format {
        try rejectBinary()
        // UTF-8 does not need a byte order mark.
        if try byte(at: 0) == 0xEF, try byte(at: 1) == 0xBB, try byte(at: 2) == 0xBF {
            buffer.discard(3)
        }
        let detected: Format
        if table != nil {
            try readHeader()
            detected = .rows
        } else {
            try skipBlanks()
            detected = try byte(at: 0) == .openBracket ? .array : .objects
            if detected == .array { buffer.discard(1) }
        }
        format = detected
        return detected
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let quote = UInt8(ascii: "\"")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")

    /// Whether it is white space in JSON.
    var isJSONBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

// MARK: - Parsing

/// The reason why the text of a document is invalid.
struct InvalidDocument: Error, Equatable {
    var message: String
    /// What there is of the document as JSON, if the source has no text.
    var text: [UInt8]?
}

extension DocumentReader {
    /// Parses the document that `next()` returned last.
    func parse(_ raw: RawDocument) -> Result<BSONDocument, InvalidDocument> {
        if let problem = raw.problem { return .failure(InvalidDocument(message: problem)) }
        do {
            if let table { return .success(try withText(of: raw) { try table.document($0) }) }
            return .success(try withText(of: raw) { try BSONDocument(storedJSON: $0) })
        } catch {
            return .failure(InvalidDocument(message: message(for: error, in: raw)))
        }
    }

    private func message(for error: any Error, in raw: RawDocument) -> String {
        if let error = error as? InvalidDocument { return error.message }
        guard let error = error as? BSONError else { return CommandError(error).message }
        let isOneLine = withText(of: raw) { !$0.contains(.newline) }
        let whole = format == .array ? "element" : isOneLine ? "line" : "document"
        let location = error.offset.map { " (at byte \($0 + 1) of the \(whole))" }
        return CommandError.capitalized(error.message) + (location ?? "")
    }
}

// MARK: - Array

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
            return RawDocument(
                line: number, range: isTooLong ? 0..<0 : trimmed(0..<scanned),
                problem: "The array does not end with \"]\"")
        }
        if isTooLong {
            return RawDocument(
                line: number, range: 0..<0,
                problem: "The element is longer than \(maximumLength) bytes")
        }
        return RawDocument(line: number, range: trimmed(0..<scanned))
    }
}

// MARK: - Objects

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
            if !text.isEmpty, !isMark(text) { return RawDocument(line: number, range: text) }
            buffer.discard(pending)
            pending = 0
        }
    }

    /// Whether a line says why an import rejected the text after it.
    func isMark(_ text: Range<Int>) -> Bool {
        buffer.withBytes(text) { $0.starts(with: RejectsFile.mark) }
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
