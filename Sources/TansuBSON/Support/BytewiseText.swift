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
