/// One document's text within the input, not yet read as JSON.
struct Record: Equatable {
    /// The line on which it begins, counted from 1.
    var line: Int
    /// Where it lies in the reader's window, until the next record is asked for.
    var range: Range<Int>
    /// Why it can be no document, known before its text is looked at.
    var problem: String?
}

/// Cuts an input into documents: one a line (NDJSON), or the elements of one JSON array.
///
/// It only looks for where documents begin and end; whether they are JSON is the parser's verdict,
/// so that one bad document is one bad record and the next is found all the same.
final class RecordReader {
    enum Format: Equatable { case lines, array }

    /// Texts longer than this are bad records; the largest document's canonical JSON is shorter.
    let maximumLength: Int

    private(set) var format: Format?
    var buffer: InputBuffer
    var line = 1
    /// What the record handed out last takes of the window.
    var pending = 0
    var array = ArrayState.opened

    init(_ source: any ByteSource, capacity: Int = 256 * 1024, maximumLength: Int = 64 << 20) {
        buffer = InputBuffer(source, capacity: capacity)
        self.maximumLength = maximumLength
    }

    /// How much of the input is read, 0 to 1, or nil when its size is not known.
    var fraction: Double? { buffer.fraction }

    /// The next record, or nil at the end of the input.
    /// - Throws: `CommandFailure` when the input cannot be read or unpacked.
    func next() throws -> Record? {
        buffer.discard(pending)
        pending = 0
        let format = try format ?? detectFormat()
        switch format {
        case .lines: return try nextLine()
        case .array: return try nextElement()
        }
    }

    /// Lends the text of the record that `next()` returned last.
    func withText<R>(
        of record: Record, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        try buffer.withBytes(record.range, body)
    }

    /// The byte at an offset of the window, reading on if it must; nil at the end.
    func byte(at offset: Int) throws -> UInt8? {
        while offset >= buffer.count {
            guard try buffer.fill() else { return nil }
        }
        return buffer[offset]
    }

    /// Goes over blanks and line ends, counting lines, to the first byte of something.
    func skipBlanks() throws {
        while let next = try byte(at: 0), next.isJSONBlank {
            if next == .newline { line += 1 }
            buffer.discard(1)
        }
    }

    private func detectFormat() throws -> Format {
        // A byte order mark says nothing that UTF-8 needs.
        if try byte(at: 0) == 0xEF, try byte(at: 1) == 0xBB, try byte(at: 2) == 0xBF {
            buffer.discard(3)
        }
        try skipBlanks()
        let detected: Format
        if try byte(at: 0) == .openBracket {
            detected = .array
            buffer.discard(1)
        } else {
            detected = .lines
        }
        format = detected
        return detected
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")

    /// Whether JSON calls it white space.
    var isJSONBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
