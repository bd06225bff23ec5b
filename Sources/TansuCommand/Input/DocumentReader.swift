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
