/// Text of others that is shown on a terminal: what the terminal would obey or not show is escaped. These are control
/// characters, separators of lines, and the characters that change the direction or have no form.
///
/// The escapes are those of JSON, so that JSON keeps its meaning.
enum HarmlessText {
    /// The text with harmful characters escaped.
    /// - Parameter own: Another form for a control character of ASCII.
    static func escaped(_ text: String, own: (Unicode.Scalar) -> String? = { _ in nil }) -> String {
        if DisplayWidth.isPrintableASCII(text) { return text }
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        var result = ""
        var previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            if !isHarmful(scalar) || joins(scalar, after: previous) {
                result.unicodeScalars.append(scalar)
            } else if scalar.value < 0x80, let text = own(scalar) {
                result += text
            } else {
                for unit in String(scalar).utf16 { result += escape(unit) }
            }
            previous = scalar
        }
        return result
    }

    /// What this program writes to a terminal: lines, with styles of its own.
    static func onTerminal(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        if bytes.allSatisfy({ $0 == 0x0A || (0x20...0x7E).contains($0) }) { return Array(bytes) }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.unicodeScalars.contains(where: { isHarmful($0) && $0 != "\n" }) else { return Array(text.utf8) }
        let scalars = text.unicodeScalars
        var result = ""
        var index = scalars.startIndex
        while index < scalars.endIndex {
            if let end = endOfStyle(scalars[index...]) {
                result.unicodeScalars.append(contentsOf: scalars[index..<end])
                index = end
                continue
            }
            let next = scalars[scalars.index(after: index)...].firstIndex(of: "\u{1B}") ?? scalars.endIndex
            result += escaped(String(scalars[index..<next])) { $0 == "\n" || $0 == "\t" ? String($0) : nil }
            index = next
        }
        return Array(result.utf8)
    }

    /// The end of what changes colors or boldness at the beginning of a text, as `Terminal` writes it.
    private static func endOfStyle(_ text: Substring.UnicodeScalarView) -> String.Index? {
        guard text.first == "\u{1B}", text.dropFirst().first == "[" else { return nil }
        let rest = text.dropFirst(2).drop { ("0"..."9").contains($0) }
        return rest.first == "m" ? text.index(after: rest.startIndex) : nil
    }

    /// How many bytes at the end are a character of UTF-8 that is not complete.
    static func incompleteTail(_ bytes: [UInt8]) -> Int {
        for (count, byte) in bytes.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > count + 1 ? count + 1 : 0
        }
        return 0
    }

    static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E: return false
        // Variation selectors and the grapheme joiner belong to the character before them.
        case 0xFE00...0xFE0F, 0xE0100...0xE01EF, 0x034F, 0x180B...0x180D, 0x180F: return false
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether a character joins others, as in an emoji of several people and in Persian.
    private static func joins(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar) -> Bool {
        (scalar.value == 0x200C || scalar.value == 0x200D) && previous.value > 0xFF && !isHarmful(previous)
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
