// Text is compared byte by byte in this package. The standard library's operators compare by canonical equivalence and its
// prefixes end between grapheme clusters: "_design/" followed by U+0301 would not begin with "_design/". These take their
// place in every file that imports TansuBSON, for texts, optional texts and arrays of them; not in generic code, such as
// synthesized equality and sets, which .ci/check-bytes looks for.

extension String {
    package static func == (a: String, b: String) -> Bool {
        a.utf8.count == b.utf8.count && a.utf8.elementsEqual(b.utf8)
    }
    package static func != (a: String, b: String) -> Bool { !(a == b) }
    package static func ~= (pattern: String, text: String) -> Bool { pattern == text }

    package func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
    package func hasSuffix(_ suffix: String) -> Bool { utf8.reversed().starts(with: suffix.utf8.reversed()) }
}

extension StringProtocol {
    package static func == (a: Self, b: some StringProtocol) -> Bool { a.utf8.elementsEqual(b.utf8) }
    package static func != (a: Self, b: some StringProtocol) -> Bool { !(a == b) }

    package func hasPrefix(_ prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }
    package func hasSuffix(_ suffix: some StringProtocol) -> Bool {
        utf8.reversed().starts(with: suffix.utf8.reversed())
    }
}

extension String {
    /// The text of bytes; `nil` when they are not UTF-8.
    ///
    /// The standard library's `init(validating:as:)` needs macOS 15, and Foundation's initializers drop a byte order mark.
    package init?(utf8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        // What is not UTF-8 was replaced by U+FFFD.
        guard utf8.elementsEqual(bytes) else { return nil }
    }

    /// What follows a prefix, or `nil` if the text does not begin with it.
    package func dropping(prefix: String) -> String? {
        hasPrefix(prefix) ? String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self) : nil
    }

    /// What precedes a suffix, or `nil` if the text does not end with it.
    package func dropping(suffix: String) -> String? {
        hasSuffix(suffix) ? String(decoding: utf8.dropLast(suffix.utf8.count), as: UTF8.self) : nil
    }

    /// What precedes the first occurrence of a scalar: all of the text if there is none.
    package func prefixUntil(_ end: Unicode.Scalar) -> String { String(unicodeScalars.prefix { $0 != end }) }

    /// The texts between the occurrences of a scalar.
    package func parts(
        separatedBy separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = false
    ) -> [String] {
        unicodeScalars.split(separator: separator, maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty)
            .map { String($0) }
    }

    /// The text without the spaces and tabs around it.
    package var trimmingSpaces: String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let start = utf8.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(decoding: start[...last], as: UTF8.self)
    }

    /// The text with the letters A to Z as small ones, and no other change.
    package var asciiLowercased: String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension Optional where Wrapped == String {
    package static func == (a: String?, b: String?) -> Bool {
        switch (a, b) {
        case (let a?, let b?): a == b
        case (nil, nil): true
        default: false
        }
    }
    package static func != (a: String?, b: String?) -> Bool { !(a == b) }
}

extension Array where Element == String {
    package static func == (a: [String], b: [String]) -> Bool {
        a.count == b.count && zip(a, b).allSatisfy { $0 == $1 }
    }
    package static func != (a: [String], b: [String]) -> Bool { !(a == b) }

    package func firstIndex(of text: String) -> Int? { firstIndex { $0 == text } }
}

extension Sequence where Element == String {
    package func contains(_ text: String) -> Bool { contains { $0 == text } }

    /// The set of the texts.
    package var bytewiseSet: Set<BytewiseText> { Set(lazy.map { BytewiseText($0) }) }
}

// MARK: - NUL

extension String {
    /// The bytes of a key or a regular expression, which BSON ends with a zero byte; `nil` unless it has a NUL.
    ///
    /// A NUL becomes C0 80, which is not UTF-8: whoever reads the document refuses it. Cut off at the NUL, or with another
    /// character instead, it would be another key.
    var bytesWithNUL: [UInt8]? {
        guard utf8.contains(0) else { return nil }
        return utf8.flatMap { $0 == 0 ? [0xC0, 0x80] : [$0] }
    }
}

// MARK: - BytewiseText

/// A text as an element of a set or the key of a dictionary: equal to another one if their bytes are equal.
///
/// `String` hashes by canonical equivalence, so that "é" in one scalar and in two is one key. Ids, names, keys and paths are
/// different when their bytes are. As a property wrapper, `@BytewiseText var name: String`, it does the same for the synthesized
/// equality of a type.
@propertyWrapper
package struct BytewiseText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    package var wrappedValue: String

    package init(wrappedValue: String) { self.wrappedValue = wrappedValue }

    package init(_ text: some StringProtocol) { wrappedValue = String(text) }

    package init(stringLiteral text: String) { wrappedValue = text }

    package var text: String { wrappedValue }

    package var description: String { text }

    package static func == (a: Self, b: Self) -> Bool { a.text == b.text }

    package static func < (a: Self, b: Self) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
