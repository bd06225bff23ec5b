extension BSONDocument {
    /// Whether two documents have the same fields in any order, at every level.
    ///
    /// The order of array elements is significant. Below ``maximumDepth`` levels the comparison is byte for byte.
    public func equalsIgnoringKeyOrder(_ other: BSONDocument) -> Bool {
        equals(other, depth: 0)
    }

    fileprivate func equals(_ other: BSONDocument, depth: Int) -> Bool {
        if bytes == other.bytes { return true }
        // The order of fields does not affect the size.
        guard bytes.count == other.bytes.count, depth < Self.maximumDepth else { return false }
        let mine = sorted { $0.key < $1.key }
        let theirs = other.sorted { $0.key < $1.key }
        return mine.count == theirs.count
            && zip(mine, theirs).allSatisfy { a, b in
                a.key.utf8.elementsEqual(b.key.utf8) && Self.equals(a.value, b.value, depth: depth + 1)
            }
    }

    fileprivate static func equals(_ a: BSONValue, _ b: BSONValue, depth: Int) -> Bool {
        switch (a, b) {
        case (.document(let x), .document(let y)):
            x.equals(y, depth: depth)
        case (.array(let x), .array(let y)):
            x.count == y.count && zip(x, y).allSatisfy { equals($0, $1, depth: depth + 1) }
        case (.codeWithScope(let x), .codeWithScope(let y)):
            x.code == y.code && (x.scope ?? [:]).equals(y.scope ?? [:], depth: depth)
        default:
            a == b
        }
    }
}

extension BSONValue {
    /// Whether two values are equal except for the order of fields, as in
    /// ``BSONDocument/equalsIgnoringKeyOrder(_:)``.
    public func equalsIgnoringKeyOrder(_ other: BSONValue) -> Bool {
        BSONDocument.equals(self, other, depth: 0)
    }
}
