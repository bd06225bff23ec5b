/// The encoding of a text.
enum TextEncoding: String, CaseIterable, Sendable {
    /// UTF-8, as JSON has it.
    case standard = "utf-8"
    /// With a byte order mark, or else as the zero bytes of its ASCII characters show it.
    case utf16 = "utf-16"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"
    case latin1 = "iso-8859-1"
    case windows1252 = "windows-1252"
}

/// A source that converts the text of another one to UTF-8.
final class DecodingSource: ByteSource {
    private let source: any ByteSource
    /// Nil until the first bytes have shown it.
    private var encoding: TextEncoding?
    private var input = [UInt8](repeating: 0, count: 16 * 1024)
    /// What was read of a character that is not complete.
    private var rest: [UInt8] = []
    private var decoded: ArraySlice<UInt8> = []

    /// - Parameter encoding: The encoding, or nil for UTF-8, or UTF-16 when its byte order mark is at the beginning.
    init(_ source: any ByteSource, encoding: TextEncoding?) {
        self.source = source
        self.encoding = encoding
    }

    var fraction: Double? { source.fraction }
    var name: String { source.name }

    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        if encoding == .standard, rest.isEmpty, decoded.isEmpty { return try source.read(into: memory) }
        while decoded.isEmpty {
            let got = try input.withUnsafeMutableBytes { try source.read(into: $0) }
            rest += input[..<got]
            if encoding == nil || encoding == .utf16 {
                // One byte does not show the encoding, unless it is the only one or no part of a mark.
                if got > 0, rest.count == 1, rest[0] >= 0xFE || encoding == .utf16 { continue }
                encoding = Self.marked(rest) ?? (encoding == nil ? .standard : Self.unmarked(rest))
            }
            try decode(isAtEnd: got == 0)
            if got == 0 { break }
        }
        let count = min(decoded.count, memory.count)
        memory.copyBytes(from: decoded.prefix(count))
        decoded.removeFirst(count)
        return count
    }

    /// The encoding of UTF-16 that a byte order mark shows.
    private static func marked(_ bytes: [UInt8]) -> TextEncoding? {
        bytes.starts(with: [0xFF, 0xFE])
            ? .utf16LittleEndian : bytes.starts(with: [0xFE, 0xFF]) ? .utf16BigEndian : nil
    }

    /// The encoding of UTF-16 without a byte order mark: of ASCII characters, which a line end or the syntax of JSON has at least,
    /// the first byte is zero in the one and the second in the other.
    private static func unmarked(_ bytes: [UInt8]) -> TextEncoding {
        var zeros = [0, 0]
        for (index, byte) in bytes.enumerated() where byte == 0 { zeros[index % 2] += 1 }
        return zeros[0] > zeros[1] ? .utf16BigEndian : .utf16LittleEndian
    }

    /// Converts `rest`.
    private func decode(isAtEnd: Bool) throws {
        var text: [UInt8] = []
        switch encoding {
        case .latin1: for byte in rest { text += Self.encoded(Unicode.Scalar(byte)) }
        case .windows1252: for byte in rest { text += Self.encoded(Self.windows1252(byte)) }
        case .utf16LittleEndian, .utf16BigEndian:
            try decodeUTF16(isBigEndian: encoding == .utf16BigEndian, isAtEnd: isAtEnd, into: &text)
            decoded = text[...]
            return
        case nil, .standard, .utf16: text = rest
        }
        rest = []
        decoded = text[...]
    }

    private func decodeUTF16(isBigEndian: Bool, isAtEnd: Bool, into text: inout [UInt8]) throws {
        func unit(_ index: Int) -> UInt32? {
            guard index + 1 < rest.count else { return nil }
            let (first, second) = (UInt32(rest[index]), UInt32(rest[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        var index = 0
        while let high = unit(index) {
            var value = high
            if (0xD800..<0xDC00).contains(high) {
                guard let low = unit(index + 2) else { break }
                guard (0xDC00..<0xE000).contains(low) else { throw Self.invalid }
                value = 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
                index += 2
            }
            guard let scalar = Unicode.Scalar(value) else { throw Self.invalid }
            text += Self.encoded(scalar)
            index += 2
        }
        rest.removeFirst(index)
        if isAtEnd, !rest.isEmpty { throw Self.invalid }
    }

    private static var invalid: CommandError {
        CommandError(
            code: "INVALID_TEXT", message: "The input is not valid UTF-16",
            remedy: "convert it to UTF-8; \"tansu import --encoding\" reads other encodings", status: .invalidInput)
    }

    private static func encoded(_ scalar: Unicode.Scalar) -> String.UTF8View { String(Character(scalar)).utf8 }

    /// The character of a byte. The five bytes that have none are control characters, as in browsers.
    private static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
        (0x80..<0xA0).contains(byte) ? upperControls[Int(byte) - 0x80] : Unicode.Scalar(byte)
    }

    private static let upperControls = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)
}
