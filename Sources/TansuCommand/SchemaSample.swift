import TansuBSON

/// What the documents of a sample have: their fields, nested ones as well, with types and values. Its memory is bounded by
/// the number of paths.
struct SchemaSample {
    /// A field, or the items of an array.
    final class Node {
        /// How many documents that could have it, have it.
        var count = 0
        /// How many values of each type there were; items of arrays count each.
        var types: [BSONType: Int] = [:]
        /// The fields of objects, in the order in which they were seen.
        var fields: [(key: String, node: Node)] = []
        var positions: [BytewiseText: Int] = [:]
        var items: Node?
        var examples: [BSONValue] = []
        /// The least and the greatest number, date or text.
        var range: (least: BSONValue, most: BSONValue)?
        var distinct = DistinctSketch()
    }

    /// A line of a table: a path, such as "pets[].species", and what is known of it.
    struct Line {
        let path: String
        let node: Node
        /// How many there could have been.
        let total: Int
    }

    let root = Node()
    private(set) var documents = 0
    private var nodes = 0
    private static let nodeLimit = 2000

    /// Whether there were more paths than are kept.
    var isCut: Bool { nodes >= Self.nodeLimit }

    mutating func add(_ document: BSONDocument) {
        documents += 1
        root.count += 1
        add(.document(document), to: root)
    }

    private mutating func add(_ value: BSONValue, to node: Node) {
        node.types[value.type, default: 0] += 1
        switch value {
        case .document(let document):
            for (key, value) in document {
                guard let field = field(key, of: node) else { continue }
                field.count += 1
                add(value, to: field)
            }
        case .array(let array):
            if node.items == nil {
                nodes += 1
                node.items = Node()
            }
            guard let items = node.items else { return }
            items.count += array.isEmpty ? 0 : 1
            for value in array { add(value, to: items) }
        default: note(value, in: node)
        }
    }

    private mutating func field(_ key: String, of node: Node) -> Node? {
        if let position = node.positions[BytewiseText(key)] { return node.fields[position].node }
        guard nodes < Self.nodeLimit else { return nil }
        nodes += 1
        let field = Node()
        node.positions[BytewiseText(key)] = node.fields.count
        node.fields.append((key, field))
        return field
    }

    private func note(_ value: BSONValue, in node: Node) {
        node.distinct.add(value)
        if node.examples.count < 3, !value.isNull, !node.examples.contains(value), value.description.utf8.count <= 40 {
            node.examples.append(value)
        }
        guard let range = node.range else {
            if Self.isOrdered(value) { node.range = (value, value) }
            return
        }
        if Self.precedes(value, range.least) { node.range?.least = value }
        if Self.precedes(range.most, value) { node.range?.most = value }
    }

    private static func isOrdered(_ value: BSONValue) -> Bool {
        value.doubleValue.map { !$0.isNaN }
            ?? (value.type == .date || value.type == .string && value.description.utf8.count <= 40)
    }

    /// Whether a value is less than another of its kind.
    private static func precedes(_ a: BSONValue, _ b: BSONValue) -> Bool {
        switch (a, b) {
        case (.date(let a), .date(let b)): return a < b
        case (.string(let text), .string(let b)) where isOrdered(a): return text.utf8.lexicographicallyPrecedes(b.utf8)
        case (.int64(let a), .int64(let b)): return a < b
        default: if let a = a.doubleValue, let b = b.doubleValue { return a < b } else { return false }
        }
    }

    /// All paths, those of an object after it.
    func lines() -> [Line] {
        var lines: [Line] = []
        func visit(_ node: Node, _ path: String) {
            for (key, field) in node.fields {
                let name = path.isEmpty ? key : "\(path).\(key)"
                lines.append(Line(path: name, node: field, total: node.types[.document] ?? 0))
                visit(field, name)
            }
            if let items = node.items, !items.types.isEmpty {
                lines.append(Line(path: "\(path)[]", node: items, total: node.types[.array] ?? 0))
                visit(items, "\(path)[]")
            }
        }
        visit(root, "")
        return lines
    }
}

// MARK: - JSON Schema

extension SchemaSample {
    /// A JSON Schema that the documents of the sample satisfy.
    func jsonSchema() -> BSONDocument { schema(of: root) }

    private func schema(of node: Node) -> BSONDocument {
        var schema = BSONDocument()
        let types = node.types.keys.map(\.description).sorted()
        schema["bsonType"] = types.count == 1 ? .string(types[0]) : BSONValue(types.map { .string($0) })
        let objects = node.types[.document] ?? 0
        let required = node.fields.filter { $0.node.count == objects }.map { BSONValue.string($0.key) }
        if !required.isEmpty { schema["required"] = BSONValue(required) }
        if !node.fields.isEmpty {
            schema["properties"] = .document(
                BSONDocument(node.fields.map { ($0.key, .document(self.schema(of: $0.node))) }))
        }
        if let items = node.items, !items.types.isEmpty {
            schema["items"] = .document(self.schema(of: items))
        }
        return schema
    }
}

/// An estimate of the number of distinct values: the least of their hashes are kept, and their density tells it. Up to that
/// many values it is exact.
struct DistinctSketch {
    private static let kept = 256
    /// Sorted.
    private var hashes: [UInt64] = []
    private var added = 0

    mutating func add(_ value: BSONValue) {
        added += 1
        // FNV-1a, and the finalizer of SplitMix64 for hashes that are spread evenly.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in (["": value] as BSONDocument).bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        hash ^= hash >> 31
        if hashes.count == Self.kept, let last = hashes.last, hash >= last { return }
        var (low, high) = (0, hashes.count)
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] < hash { low = middle + 1 } else { high = middle }
        }
        if low < hashes.count, hashes[low] == hash { return }
        hashes.insert(hash, at: low)
        if hashes.count > Self.kept { hashes.removeLast() }
    }

    var isExact: Bool { hashes.count < Self.kept }

    var estimate: Int {
        guard !isExact, let last = hashes.last else { return hashes.count }
        return min(added, Int(Double(Self.kept - 1) / (Double(last) / Double(UInt64.max))))
    }
}
