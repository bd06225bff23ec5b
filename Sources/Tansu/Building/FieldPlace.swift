/// Where a field is: in the document or in an element of an array, and the keys that lead to it from there.
struct FieldPlace: Sendable, Hashable {
    /// In how many arrays the element is that the keys begin in; 0 for the document itself.
    var depth: Int

    /// None for the document or the element itself.
    var keys: [String] = []

    static let document = FieldPlace(depth: 0)

    /// Whether a property `id` here is stored as `_id`.
    var isDocument: Bool { self == .document }

    func appending(_ more: [String]) -> FieldPlace {
        FieldPlace(depth: depth, keys: keys + more)
    }

    /// The keys as the text of a path.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery` for a key that no path can name.
    func path() throws -> String {
        if let key = keys.first(where: { $0.isEmpty || $0.utf8.contains(0) }) {
            throw TansuError(.invalidQuery, "a query cannot name a key that is empty or has a NUL", context: key)
        }
        if keys == ["*"] || keys == ["**"] || keys.first?.first == "$" {
            throw TansuError(.invalidQuery, "the key means something else in a query", context: keys[0])
        }
        return keys.map(Self.escaped).joined(separator: ".")
    }

    private static func escaped(_ key: String) -> String {
        guard key.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "\\") }) else { return key }
        return key.reduce(into: "") { text, character in
            if character == "." || character == "\\" { text.append("\\") }
            text.append(character)
        }
    }
}
