import Foundation

/// Regular expressions that find text whatever marks its letters have.
///
/// Every letter of the text stands for itself and all letters that are it with marks, in one code point or followed by combining marks.
enum AccentFolding {
    static func equals(_ text: String) -> String { #"\A\p{Mn}*"# + pattern(text) + #"\z"# }
    static func begins(_ text: String) -> String { #"\A\p{Mn}*"# + pattern(text) }
    static func contains(_ text: String) -> String { pattern(text) }
    static func ends(_ text: String) -> String { pattern(text) + #"\z"# }

    /// The letters that are another with marks, by that.
    private static let composed: [Unicode.Scalar: [Unicode.Scalar]] = {
        var letters: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        // Where Unicode has letters that decompose into one and marks: before CJK, and the presentation forms of Hebrew.
        for number in [0xC0...0x30FF, 0xFB1D...0xFB4E].joined() {
            guard let scalar = Unicode.Scalar(UInt32(number)) else { continue }
            let parts = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars
            guard parts.count > 1, let base = parts.first, parts.dropFirst().allSatisfy(\.isMark) else { continue }
            letters[base, default: []].append(scalar)
        }
        return letters
    }()

    private static func pattern(_ text: String) -> String {
        var pattern = ""
        // Composed again, because Hangul is stored in syllables, which are no letters with marks.
        var base = String.UnicodeScalarView()
        base.append(contentsOf: text.decomposedStringWithCanonicalMapping.unicodeScalars.filter { !$0.isMark })
        for scalar in String(base).precomposedStringWithCanonicalMapping.unicodeScalars {
            pattern += "["
            for letter in [scalar] + (composed[scalar] ?? []) {
                pattern += #"\x{"# + String(letter.value, radix: 16) + "}"
            }
            pattern += #"]\p{Mn}*"#
        }
        return pattern
    }
}

extension Unicode.Scalar {
    /// Whether it is a mark on the letter before it.
    fileprivate var isMark: Bool { properties.generalCategory == .nonspacingMark }
}
