/// A text as an element of a set or the key of a dictionary: equal to another one if their bytes are equal.
///
/// `String` hashes by canonical equivalence, so that "é" in one scalar and in two is one key. Ids, names, keys and paths are
/// different when their bytes are.
package struct BytewiseText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let text: String

    package init(_ text: some StringProtocol) { self.text = String(text) }

    package init(stringLiteral text: String) { self.text = text }

    package var description: String { text }

    package static func == (a: Self, b: Self) -> Bool { a.text == b.text }

    package static func < (a: Self, b: Self) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
