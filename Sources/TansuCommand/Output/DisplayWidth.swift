/// The width of text in terminal columns: two for East Asian wide characters and emoji, none for combining marks, one
/// for all other characters.
enum DisplayWidth {
    /// The width of a text.
    static func of(_ text: some StringProtocol) -> Int {
        // The width of ASCII text is the number of its bytes, and that of Latin text the number of its letters.
        if isPrintableASCII(text) { return text.utf8.count }
        if text.unicodeScalars.allSatisfy({ isLatin($0.value) }) { return text.unicodeScalars.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// Whether a text has only ASCII characters that are no controls.
    static func isPrintableASCII(_ text: some StringProtocol) -> Bool {
        let isPrintable = text.utf8.withContiguousStorageIfAvailable { bytes in
            for byte in bytes where byte < 0x20 || byte > 0x7E { return false }
            return true
        }
        return isPrintable ?? text.utf8.allSatisfy { $0 >= 0x20 && $0 <= 0x7E }
    }

    /// Whether a character of width 1 does not combine with others: ASCII and Latin letters and signs without controls
    /// and the soft hyphen.
    private static func isLatin(_ value: UInt32) -> Bool {
        (0x20...0x7E).contains(value) || (0xA0..<0x300).contains(value) && value != 0xAD
    }

    /// The width of one character with its combining marks.
    static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        // U+FE0F selects the emoji form of the scalar before it, which is wide.
        if scalars.count > 1, scalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
        // Two regional indicators form a flag.
        if scalars.count == 2, scalars.allSatisfy({ (0x1F1E6...0x1F1FF).contains($0.value) }) { return 2 }
        // The first scalar determines the width because the others combine with it. Spacing marks of Indic scripts
        // take an additional column in most terminals.
        var width = 0
        for (index, scalar) in scalars.enumerated() {
            let own = of(scalar)
            if index == 0 {
                width = own
            } else if scalar.properties.generalCategory == .spacingMark {
                width += own
            }
        }
        return width
    }

    /// The width of one scalar.
    static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator,
            .paragraphSeparator:
            return 0
        default:
            return isWide(scalar.value) ? 2 : 1
        }
    }

    /// Whether Unicode's EastAsianWidth property of the scalar is wide or fullwidth.
    private static func isWide(_ value: UInt32) -> Bool {
        if value < 0x1100 { return false }
        var low = 0
        var high = wideRanges.count
        while low < high {
            let middle = (low + high) / 2
            if wideRanges[middle].upperBound < value {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < wideRanges.count && wideRanges[low].contains(value)
    }

    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
        0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F,
        0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5,
        0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5,
        0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
        0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55,
        0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1F004...0x1F004,
        0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F265,
        0x1F300...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393,
        0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4,
        0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D,
        0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596,
        0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC,
        0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6D7, 0x1F6DC...0x1F6DF, 0x1F6EB...0x1F6EC,
        0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7EB, 0x1F7F0...0x1F7F0, 0x1F90C...0x1F93A,
        0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x2FFFD,
        0x30000...0x3FFFD,
    ]
}
