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
