import Tansu
import TansuBSON

/// What differs between the documents of a collection in two databases, in the order of their ids.
struct CollectionComparison {
    enum Difference {
        /// A document that the first database has alone.
        case first(BSONDocument)
        /// A document that the second one has alone.
        case second(BSONDocument)
        /// A document that both have, with the paths that differ; none where only the order of the fields does.
        case changed(first: BSONDocument, second: BSONDocument, paths: [String])
    }

    private var first: Side
    private var second: Side
    private let database: Database

    /// The documents of one database, by their ids.
    private struct Side {
        private let cursor: Database.Cursor<BSONDocument>
        private(set) var document: BSONDocument?

        init(_ collection: Database.Collection<BSONDocument>) throws {
            cursor = try collection.find().sorted(by: "_id").makeCursor()
            try step()
        }

        var id: BSONValue { document?["_id"] ?? .null }

        mutating func step() throws { document = try cursor.next() }
    }

    /// - Parameter database: Where the engine compares ids.
    init(
        _ first: Database.Collection<BSONDocument>, _ second: Database.Collection<BSONDocument>, _ database: Database
    ) throws {
        (self.first, self.second) = (try Side(first), try Side(second))
        self.database = database
    }

    /// The next difference, or nil at the end. Memory has one document of each database.
    mutating func next() throws -> Difference? {
        while true {
            try Interruption.check()
            guard let left = first.document else {
                guard let right = second.document else { return nil }
                try second.step()
                return .second(right)
            }
            let order = second.document == nil ? -1 : try order(first.id, second.id)
            if order < 0 {
                try first.step()
                return .first(left)
            }
            guard let right = second.document else { continue }
            try second.step()
            if order > 0 { return .second(right) }
            try first.step()
            if left.bytes == right.bytes { continue }
            return .changed(first: left, second: right, paths: Self.paths(left, right))
        }
    }

    /// Negative when an id comes before another one, 0 when they are the same. Ids of the same simple type are compared
    /// here, others by the engine.
    private func order(_ a: BSONValue, _ b: BSONValue) throws -> Int {
        switch (a, b) {
        case (.int32(let a), .int32(let b)): return a < b ? -1 : a == b ? 0 : 1
        case (.string(let a), .string(let b)):
            return a == b ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
        case (.objectID(let a), .objectID(let b)):
            return a == b ? 0 : a.hexString.utf8.lexicographicallyPrecedes(b.hexString.utf8) ? -1 : 1
        default:
            if a == b { return 0 }
            let stages: BSONValue = [
                ["$documents": [["order": ["$cmp": [["$literal": a], ["$literal": b]]]]]]
            ]
            let runner = JSONRunner(database: database)
            return try runner.run(["op": "aggregate", "pipeline": stages]).documentList("documents").first?["order"]?
                .intValue
                ?? 0
        }
    }

    /// The paths at which two documents differ. Items of arrays have numbers.
    static func paths(_ first: BSONDocument, _ second: BSONDocument) -> [String] {
        var paths: [String] = []
        func compare(_ a: BSONValue, _ b: BSONValue, _ path: String) {
            switch (a, b) {
            case (.document(let a), .document(let b)): compare(a, b, path + ".")
            case (.array(let a), .array(let b)) where a.count == b.count:
                for (number, pair) in zip(a, b).enumerated() { compare(pair.0, pair.1, "\(path).\(number)") }
            default: if (["": a] as BSONDocument).bytes != (["": b] as BSONDocument).bytes { paths.append(path) }
            }
        }
        func compare(_ a: BSONDocument, _ b: BSONDocument, _ prefix: String) {
            var others: [BytewiseText: BSONValue] = [:]
            for (key, value) in b { others[BytewiseText(key)] = value }
            for (key, value) in a {
                if let other = others.removeValue(forKey: BytewiseText(key)) {
                    compare(value, other, prefix + key)
                } else {
                    paths.append(prefix + key)
                }
            }
            for key in b.keys where others[BytewiseText(key)] != nil { paths.append(prefix + key) }
        }
        compare(first, second, "")
        return paths
    }
}
