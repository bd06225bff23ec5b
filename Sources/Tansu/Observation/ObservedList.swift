/// The result of a query: the documents with their identities, and the decoded values.
struct ObservedList<Element: Sendable>: Sendable {
    /// A document as it was found.
    struct Row: Sendable {
        let id: BSONValue?
        let document: BSONDocument
    }

    private(set) var rows: [Row] = []
    private(set) var elements: [Element] = []

    /// How many documents were found, with those that the query's policy of decoding leaves out.
    private(set) var found = 0

    mutating func append(_ bytes: UnsafeRawBufferPointer, _ codec: DocumentCodec<Element>) throws {
        found += 1
        guard let element = try codec.decodeUnlessSkipped(bytes) else { return }
        let document = BSONDocument(trustedBytes: Array(bytes))
        elements.append(element)
        rows.append(Row(id: document["_id"], document: document))
    }

    /// The first rows of the list.
    func prefix(_ count: Int) -> Self {
        var list = self
        list.rows = Array(rows.prefix(count))
        list.elements = Array(elements.prefix(count))
        return list
    }

    /// Whether both have the same documents in the same order.
    func hasSameRows(as other: Self) -> Bool {
        rows.count == other.rows.count
            && zip(rows, other.rows).allSatisfy { $0.document.bytes == $1.document.bytes }
    }

    /// The steps from another list to this one.
    ///
    /// Documents are identified by their `_id`; those without one (the query omits it) by their content.
    func changes(from old: Self) -> [Database.ListChange] {
        let origins = origins(in: old)
        var changes: [Database.ListChange] = []
        let kept = Set(origins.compactMap { $0 })
        for index in old.rows.indices.reversed() where !kept.contains(index) { changes.append(.removed(at: index)) }
        let staying = origins.longestIncreasing
        for (index, origin) in origins.enumerated() {
            guard let origin else {
                changes.append(.inserted(at: index))
                continue
            }
            if !staying.contains(index) { changes.append(.moved(from: origin, to: index)) }
            if old.rows[origin].document.bytes != rows[index].document.bytes { changes.append(.updated(at: index)) }
        }
        return changes
    }

    /// For each row its index in another list; `nil` for those that are not in it.
    func origins(in old: Self) -> [Int?] {
        var indices: [Identity: [Int]] = [:]
        for index in old.rows.indices.reversed() { indices[Identity(old.rows[index]), default: []].append(index) }
        return rows.map { indices[Identity($0)]?.popLast() }
    }

    /// What a document is known by.
    private enum Identity: Hashable {
        case id(BSONValue)
        case content([UInt8])

        init(_ row: Row) {
            self = row.id.map { .id($0) } ?? .content(row.document.bytes)
        }
    }
}

extension [Int?] {
    /// The indices of the longest run of growing numbers: what is there stays, so that the fewest move.
    var longestIncreasing: Set<Int> {
        var ends: [Int] = []  // for each length, the index at which the run with the least last number ends
        var before: [Int: Int] = [:]
        for (index, number) in enumerated() {
            guard let number else { continue }
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if let other = self[ends[middle]], other < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var run: Set<Int> = []
        var index = ends.last
        while let at = index {
            run.insert(at)
            index = before[at]
        }
        return run
    }
}

extension Database {
    /// One step from a list to the next one.
    ///
    /// Indices of removed elements, and those where moved elements were, are of the old list; all others are of the new
    /// list, as table views expect. Removals come first, the last element first, so that they can also be made one by one.
    public enum ListChange: Sendable, Hashable {
        /// An element of the old list is not in the new one.
        case removed(at: Int)

        /// An element of the new list was not in the old one.
        case inserted(at: Int)

        /// An element passed others that are in both lists.
        case moved(from: Int, to: Int)

        /// An element's document has changed. It may have moved as well.
        case updated(at: Int)
    }

    /// The result of an observed query, and its difference to the previous one.
    public struct ListUpdate<Element: Sendable>: Sendable {
        /// The whole new list.
        public let elements: [Element]

        /// The steps to it; of the first list all its elements are inserted.
        public let changes: [ListChange]
    }
}
