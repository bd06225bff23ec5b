/// A scanner of the tokens of JSON text in UTF-8.
struct JSONScanner {
    private let text: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    enum Number {
        case integer(Int64)
        case double(Double)
    }

    var isAtEnd: Bool { position == text.count }

    @inline(__always)
    var peek: UInt8? { position < text.count ? text[position] : nil }

    @inline(__always)
    mutating func advance() { position &+= 1 }

    @inline(__always)
    mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position &+= 1 }
    }

    mutating func skip(_ word: StaticString) throws(BSONError) {
        let start = position
        for i in 0..<word.utf8CodeUnitCount {
            guard peek == word.utf8Start[i] else { throw error("Expected a value", at: start) }
            advance()
        }
    }

    /// Scans the token after a value in an object or array: true for the closing bracket, false for a comma.
    mutating func isLast(closing: UInt8) throws(BSONError) -> Bool {
        skipSpace()
        switch peek {
        case closing:
            advance()
            return true
        case UInt8(ascii: ","):
            advance()
            skipSpace()
            return false
        default:
            throw error("Expected a comma or \"\(Character(UnicodeScalar(closing)))\"")
        }
    }

    /// The text that was scanned since a position.
    func text(from start: Int) -> String { String(decoding: text[start..<position], as: UTF8.self) }

    // MARK: Errors

    func error(_ message: String, at offset: Int? = nil) -> BSONError { error(.invalidJSON, message, at: offset) }

    func error(_ code: BSONError.Code, _ message: String, at offset: Int? = nil) -> BSONError {
        let offset = min(offset ?? position, text.count)
        let before = text[..<offset]
        let line = before.reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return BSONError(code, message, offset: offset, line: line, column: offset - lineStart + 1)
    }

    // MARK: Numbers

    mutating func number() throws(BSONError) -> Number {
        let start = position
        let isNegative = peek == UInt8(ascii: "-")
        if isNegative { advance() }
        var mantissa: UInt64 = 0
        var digitCount = 0
        let hasLeadingZero = peek == UInt8(ascii: "0")
        try digits(&mantissa, &digitCount)
        if hasLeadingZero, digitCount > 1 { throw error("A number has a leading zero", at: start) }
        var scale = 0
        var isInteger = true
        if peek == UInt8(ascii: ".") {
            advance()
            isInteger = false
            let before = digitCount
            try digits(&mantissa, &digitCount)
            scale = before - digitCount
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            advance()
            isInteger = false
            let isBelow = peek == UInt8(ascii: "-")
            if isBelow || peek == UInt8(ascii: "+") { advance() }
            var exponent: UInt64 = 0
            var count = 0
            try digits(&exponent, &count)
            let magnitude = count > 6 ? 1_000_000 : Int(exponent)
            scale += isBelow ? -magnitude : magnitude
        }
        if isInteger, digitCount <= 18 {
            return .integer(isNegative ? -Int64(mantissa) : Int64(mantissa))
        }
        return try longNumber(start, isInteger, isNegative, mantissa, digitCount, scale)
    }

    private func longNumber(
        _ start: Int, _ isInteger: Bool, _ isNegative: Bool, _ mantissa: UInt64, _ digitCount: Int, _ scale: Int
    ) throws(BSONError) -> Number {
        // When doubles represent the mantissa and the power of ten exactly, one operation gives the nearest double.
        if !isInteger, digitCount <= 15, scale >= -22, scale <= 22 {
            let magnitude = Double(mantissa)
            let value = scale < 0 ? magnitude / Self.powersOfTen[-scale] : magnitude * Self.powersOfTen[scale]
            return .double(isNegative ? -value : value)
        }
        let text = text(from: start)
        if isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else {
            throw error(.numberOutOfRange, "A number is too large for a double", at: start)
        }
        return .double(value)
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
        1e19, 1e20, 1e21, 1e22,
    ]

    @inline(__always)
    private mutating func digits(_ value: inout UInt64, _ count: inout Int) throws(BSONError) {
        let start = position
        while let byte = peek, byte >= 0x30, byte <= 0x39 {
            // This may overflow. Only numbers of few digits use the value.
            value = value &* 10 &+ UInt64(byte &- 0x30)
            advance()
        }
        guard position > start else { throw error("Expected a digit") }
        count += position - start
    }

    // MARK: Strings

    /// Scans a string in quotes and appends its text.
    mutating func string(into out: inout ByteBuffer) throws(BSONError) {
        let start = position
        advance()
        while true {
            try plainRun(into: &out, start: start)
            if text[position] == UInt8(ascii: "\"") {
                advance()
                return
            }
            advance()
            try escape(into: &out)
        }
    }

    /// Appends the bytes up to the next quote or backslash.
    private mutating func plainRun(into out: inout ByteBuffer, start: Int) throws(BSONError) {
        let runStart = position
        position = text.firstToEscape(from: runStart) ?? text.count
        guard let byte = peek else { throw error("A string is not terminated", at: start) }
        if byte < 0x20 { throw error("A string contains a control character that is not escaped") }
        let isASCII = text.isASCII(from: runStart, to: position)
        if !isASCII, let bad = text.firstInvalidUTF8(from: runStart, to: position) {
            throw error(.invalidUTF8, "The text is not valid UTF-8", at: bad)
        }
        out.append(UnsafeRawBufferPointer(rebasing: text[runStart..<position]))
    }

    private mutating func escape(into out: inout ByteBuffer) throws(BSONError) {
        let start = position - 1
        guard let byte = peek else { throw error("A string is not terminated", at: start) }
        advance()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "b"): out.append(0x08 as UInt8)
        case UInt8(ascii: "f"): out.append(0x0C as UInt8)
        case UInt8(ascii: "n"): out.append(0x0A as UInt8)
        case UInt8(ascii: "r"): out.append(0x0D as UInt8)
        case UInt8(ascii: "t"): out.append(0x09 as UInt8)
        case UInt8(ascii: "u"):
            var code = UInt32(try hexDigits(start))
            if code >> 10 == 0x36 {
                guard peek == UInt8(ascii: "\\") else { throw error("A surrogate pair is incomplete", at: start) }
                advance()
                guard peek == UInt8(ascii: "u") else { throw error("A surrogate pair is incomplete", at: start) }
                advance()
                let low = UInt32(try hexDigits(start))
                guard low >> 10 == 0x37 else { throw error("A surrogate pair is incomplete", at: start) }
                code = 0x10000 + ((code & 0x3FF) << 10 | low & 0x3FF)
            }
            guard let scalar = UnicodeScalar(code) else { throw error("A surrogate pair is incomplete", at: start) }
            for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { out.append(unit) }
        default:
            throw error("A string contains an unknown escape sequence", at: start)
        }
    }

    private mutating func hexDigits(_ start: Int) throws(BSONError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Hex.value(byte) else {
                throw error("The escape sequence \"\\u\" needs four hexadecimal digits", at: start)
            }
            value = value << 4 | UInt16(digit)
            advance()
        }
        return value
    }
}
