extension Database {
    /// How a query was run: print it, or ask its parts.
    ///
    /// For example:
    ///
    /// ```swift
    /// print(try people.find { $0.age > 10 }.explain())
    /// // every document is looked at (a scan)
    /// // examined: 0 index keys, 34006 documents; returned: 1200; 4.1 ms
    /// // an index would help: age ascending
    /// ```
    public struct Explanation: Sendable, Hashable {
        /// What was done.
        public let plan: Plan

        /// All plans that were considered, the one that was chosen among them.
        public let candidates: [Candidate]

        /// How many entries of indexes were looked at.
        public let keysExamined: Int

        /// How many documents were read.
        public let documentsExamined: Int

        /// How many documents the query gave.
        public let returned: Int

        /// How many bytes a sort wrote to temporary files, for it did not fit into memory; mostly 0.
        public let spilledBytes: Int

        /// How long it took.
        public let milliseconds: Double

        /// The keys of an index that would have helped; `nil` when none would.
        public let suggestion: [IndexKey]?

        /// All that the engine tells.
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
        /// Nothing is looked at, for no document can match.
        case none
        /// Every document is looked at.
        case scan
        /// Ranges of one index are.
        case index
        /// What any of several ranges have.
        case union
        /// What all of several indexes have.
        case intersection
        /// A way that a newer engine has.
        case other(String)

        init(_ name: String) {
            self =
                switch name {
                case "none": .none
                case "scan": .scan
                case "index": .index
                case "union": .union
                case "intersection": .intersection
                default: .other(name)
                }
        }
    }

    /// Where the order comes from.
    public enum Order: Sendable, Hashable {
        /// Of insertion: no other was asked for.
        case none
        /// The index has it.
        case index
        /// The documents are sorted in memory.
        case memory

        init(_ name: String?) {
            self =
                switch name {
                case "index": .index
                case "memory": .memory
                default: .none
                }
        }
    }

    /// What was done to find the documents.
    public struct Plan: Sendable, Hashable {
        /// How they are found.
        public let kind: Kind

        /// The indexes that are read, with the ranges; none for a scan.
        public let accesses: [Access]

        /// Where the order comes from.
        public let order: Order

        /// Whether what is shown comes out of the index, without reading documents.
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

        /// For each path that narrows it, the ranges, such as `[["$gt": 5, "$lte": 9]]`.
        public let ranges: BSONDocument

        init(_ access: BSONDocument) {
            index = access["index"]?.stringValue ?? ""
            ranges = access["ranges"]?.documentValue ?? [:]
        }
    }

    /// A plan that was considered.
    public struct Candidate: Sendable, Hashable {
        /// How documents would be found.
        public let kind: Kind

        /// The index; `nil` when there is none or there are several.
        public let index: String?

        /// Where the order would come from.
        public let order: Order

        /// How many entries of the index it would read.
        public let keys: Int

        /// What it would cost, in units of the planner.
        public let cost: Double

        /// Whether it is the plan.
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
