/// Eight bytes of text at a time: one branch for all of them. A comparison of bytes in a word sets the highest bit of those
/// that fit; it may set it in others as well, but only in bytes above one that fits.
extension UnsafeRawBufferPointer {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// A word whose highest bits are set in the bytes that are zero in another one.
    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }

    /// The offset of the first quote, backslash or control character from `start` on, or nil.
    @inline(__always)
    func firstToEscape(from start: Int) -> Int? {
        var i = start
        while count &- i >= 8 {
            let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: i, as: UInt64.self))
            let quotes = word ^ (Self.ones &* UInt64(UInt8(ascii: "\"")))
            let backslashes = word ^ (Self.ones &* UInt64(UInt8(ascii: "\\")))
            let controls = (word &- (Self.ones &* 0x20)) & ~word
            let found = (controls | Self.zeros(quotes) | Self.zeros(backslashes)) & Self.highBits
            if found != 0 { return i &+ found.trailingZeroBitCount / 8 }
            i &+= 8
        }
        while i < count {
            let byte = self[i]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return i }
            i &+= 1
        }
        return nil
    }

    /// Whether there are equal bytes at two offsets.
    @inline(__always)
    func hasEqual(_ length: Int, at a: Int, and b: Int) -> Bool {
        for i in 0..<length where self[a &+ i] != self[b &+ i] { return false }
        return true
    }

    /// Whether the bytes in a range are ASCII.
    @inline(__always)
    func isASCII(from start: Int, to end: Int) -> Bool {
        var bits: UInt64 = 0
        var i = start
        while end &- i >= 8 {
            bits |= loadUnaligned(fromByteOffset: i, as: UInt64.self)
            i &+= 8
        }
        while i < end {
            bits |= UInt64(self[i])
            i &+= 1
        }
        return bits & Self.highBits == 0
    }
}

extension UnsafeRawBufferPointer {
    /// The offset of the first byte that is not part of valid UTF-8, or nil when all of it is valid.
    ///
    /// The validation of the standard library creates a `String`, which allocates memory for each text of a document.
    /// This one does not allocate.
    func firstInvalidUTF8(from start: Int, to end: Int) -> Int? {
        var i = start
        while i < end {
            if end &- i >= 8 {
                let word = loadUnaligned(fromByteOffset: i, as: UInt64.self)
                if word & 0x8080_8080_8080_8080 == 0 {
                    i &+= 8
                    continue
                }
            }
            let lead = self[i]
            if lead < 0x80 {
                i &+= 1
                continue
            }
            guard let length = utf8SequenceLength(at: i, lead: lead, end: end) else { return i }
            i &+= length
        }
        return nil
    }

    /// The length of the well-formed multi-byte sequence at `i` (Unicode table 3-7), or nil.
    private func utf8SequenceLength(at i: Int, lead: UInt8, end: Int) -> Int? {
        func isTrail(_ offset: Int) -> Bool { i + offset < end && self[i + offset] & 0xC0 == 0x80 }
        guard i + 1 < end else { return nil }
        let second = self[i + 1]
        switch lead {
        case 0xC2...0xDF:
            return isTrail(1) ? 2 : nil
        case 0xE0...0xEF:
            let low: UInt8 = lead == 0xE0 ? 0xA0 : 0x80
            let high: UInt8 = lead == 0xED ? 0x9F : 0xBF
            return second >= low && second <= high && isTrail(2) ? 3 : nil
        case 0xF0...0xF4:
            let low: UInt8 = lead == 0xF0 ? 0x90 : 0x80
            let high: UInt8 = lead == 0xF4 ? 0x8F : 0xBF
            return second >= low && second <= high && isTrail(2) && isTrail(3) ? 4 : nil
        default:
            return nil
        }
    }
}
