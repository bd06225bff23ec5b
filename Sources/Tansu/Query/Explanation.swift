extension Database {
    /// How a query was executed: print it, or read its parts.
    ///
    /// For example:
    ///
    /// ```swift
    /// print(try people.find { $0.age > 10 }.explain())
    /// // collection scan
    /// // examined: 0 index keys, 34006 documents; returned: 1200; 4.1 ms
    /// // suggested index: age ascending
    /// ```
    public struct Explanation: Sendable, Hashable {
        /// The access path and order.
        public let plan: Plan

        /// All candidate plans, including the chosen one.
        public let candidates: [Candidate]

        /// How many index entries were examined.
        public let keysExamined: Int

        /// How many documents were read.
        public let documentsExamined: Int

        /// How many documents the query returned.
        public let returned: Int

        /// How many bytes a sort spilled to temporary files because it did not fit into memory.
        public let spilledBytes: Int

        /// How long it took.
        public let milliseconds: Double

        /// The keys of an index that would make the query faster; `nil` when there is none.
        public let suggestion: [IndexKey]?

        /// The engine's explanation.
        public let document: BSONDocument

        init(_ document: BSONDocument) {
            self.document = document
            plan = Plan(document["plan"]?.documentValue ?? [:])
            candidates = document["candidates"]?.arrayValue?.compactMap(\.documentValue).map(Candidate.init) ?? []
            keysExamined = document["keysExamined"]?.intValue ?? 0
            documentsExamined = document["documentsExamined"]?.intValue ?? 0
            returned = document["returned"]?.intValue ?? 0
            spilledBytes = document["spilledBytes"]?.intValue ?? 0
            milliseconds = document["milliseconds"]?.doubleValue ?? 0
            suggestion = document["suggestion"]?.documentValue.map(IndexKey.keys)
        }
    }
}

extension Database.Explanation {
    /// How documents are found.
    public enum Kind: Sendable, Hashable {
        /// No access, because no document can match.
        case none
        /// A scan of the collection.
        case scan
        /// A scan of ranges of one index.
        case index
        /// The union of several scans.
        case union
        /// The intersection of several indexes.
        case intersection
        /// A search of an index of words.
        case text
        /// An access path of a newer engine.
        case other(String)

        init(_ name: String) {
            self =
                switch name {
                case "none": .none
                case "scan": .scan
                case "index": .index
                case "union": .union
                case "intersection": .intersection
                case "text": .text
                default: .other(name)
                }
        }
    }

    /// Where the order comes from.
    public enum Order: Sendable, Hashable {
        /// The order of insertion: no other was requested.
        case none
        /// The order of the index.
        case index
        /// The documents are sorted in memory.
        case memory
        /// The scores of a search, best first.
        case score

        init(_ name: String?) {
            self =
                switch name {
                case "index": .index
                case "memory": .memory
                case "score": .score
                default: .none
                }
        }
    }

    /// The plan that was executed.
    public struct Plan: Sendable, Hashable {
        /// How they are found.
        public let kind: Kind

        /// The indexes that are read, with the ranges; none for a scan.
        public let accesses: [Access]

        /// Where the order comes from.
        public let order: Order

        /// Whether the result is read from the index alone (a covering index).
        public let isCovered: Bool

        init(_ plan: BSONDocument) {
            kind = Kind(plan["kind"]?.stringValue ?? "")
            let branches = plan["branches"]?.arrayValue?.compactMap(\.documentValue)
            accesses = (branches ?? (plan["index"] == nil ? [] : [plan])).map(Access.init)
            order = Order(plan["sort"]?.stringValue)
            isCovered = plan["covered"]?.boolValue ?? false
        }
    }

    /// An index that is read.
    public struct Access: Sendable, Hashable {
        /// Its name.
        public let index: String

        /// The index bounds of each path, such as `[["$gt": 5, "$lte": 9]]`.
        public let ranges: BSONDocument

        init(_ access: BSONDocument) {
            index = access["index"]?.stringValue ?? ""
            ranges = access["ranges"]?.documentValue ?? [:]
        }
    }

    /// A candidate plan.
    public struct Candidate: Sendable, Hashable {
        /// Its access path.
        public let kind: Kind

        /// The index; `nil` when there is none or there are several.
        public let index: String?

        /// Where the order would come from.
        public let order: Order

        /// How many entries of the index it would read.
        public let keys: Int

        /// What it would cost, in units of the planner.
        public let cost: Double

        /// Whether it was chosen.
        public let isChosen: Bool

        init(_ candidate: BSONDocument) {
            kind = Kind(candidate["kind"]?.stringValue ?? "")
            index = candidate["index"]?.stringValue
            order = Order(candidate["sort"]?.stringValue)
            keys = candidate["keys"]?.intValue ?? 0
            cost = candidate["cost"]?.doubleValue ?? 0
            isChosen = candidate["chosen"]?.boolValue ?? false
        }
    }
}

// MARK: - Description

extension Database.Explanation: CustomStringConvertible {
    /// The explanation in a few lines of text.
    public var description: String {
        var lines = [plan.description]
        lines.append(
            "examined: \(keysExamined) index keys, \(documentsExamined) documents; returned: \(returned); "
                + "\(milliseconds) ms")
        if spilledBytes != 0 { lines.append("spilled to temporary files: \(spilledBytes) bytes") }
        let others = candidates.filter { !$0.isChosen }.map(\.description)
        if !others.isEmpty { lines.append("rejected plans: \(others.joined(separator: ", "))") }
        if let suggestion {
            let keys = suggestion.map { "\($0.path) \($0.direction)" }
            lines.append("suggested index: \(keys.joined(separator: ", "))")
        }
        return lines.joined(separator: "\n")
    }
}

extension Database.Explanation.Plan: CustomStringConvertible {
    /// The plan in one line.
    public var description: String {
        let text = kind.text(accesses.map(\.description).joined(separator: "; ")) + order.text
        return isCovered ? text + ", covering index" : text
    }
}

extension Database.Explanation.Candidate: CustomStringConvertible {
    /// The plan in short.
    public var description: String { kind.text(index ?? "several indexes") + order.text }
}

extension Database.Explanation.Kind {
    fileprivate func text(_ indexes: String) -> String {
        switch self {
        case .none: "no access: no document can match"
        case .scan: "collection scan"
        case .index: "index scan of \(indexes)"
        case .union: "the union of \(indexes)"
        case .intersection: "the intersection of \(indexes)"
        case .text: "search of \(indexes)"
        case .other(let name): name
        }
    }
}

extension Database.Explanation.Order {
    fileprivate var text: String {
        switch self {
        case .none: ""
        case .index: ", in the order of the index"
        case .memory: ", sorted in memory"
        case .score: ", best first"
        }
    }
}

extension Database.Explanation.Access: CustomStringConvertible {
    /// The index and its ranges.
    public var description: String {
        ranges.isEmpty ? index : "\(index) \(ranges)"
    }
}
