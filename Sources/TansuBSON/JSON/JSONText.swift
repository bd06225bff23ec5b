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
