import Tansu
import TansuBSON

/// Indexes that would have served queries, as the planner suggests them after running these.
struct IndexAdvice {
    /// An index, and what the queries that it would serve have cost.
    struct Proposal {
        let collection: String
        var keys: BSONDocument
        var queries = 0
        /// Documents that were examined and not returned.
        var wasted = 0
        var milliseconds = 0.0
        var example = ""
    }

    /// How many queries there were, and how many of them an index of the database serves.
    private(set) var queries = 0
    private(set) var served = 0
    private var proposals: [Proposal] = []

    /// Takes the report of a query's plan.
    mutating func add(_ report: BSONDocument, collection: String, example: String) {
        queries += 1
        if let kind = report["plan"]?.documentValue?["kind"]?.stringValue, kind != "scan" { served += 1 }
        // No index can have a path with an empty name.
        guard let keys = report["suggestion"]?.documentValue,
            keys.keys.allSatisfy({
                !$0.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).contains { $0.isEmpty }
            })
        else { return }
        let found =
            proposals.firstIndex { $0.collection == collection && Self.isPrefix(keys, of: $0.keys) }
            ?? proposals.firstIndex { $0.collection == collection && Self.isPrefix($0.keys, of: keys) }
        if found == nil { proposals.append(Proposal(collection: collection, keys: keys, example: example)) }
        let position = found ?? proposals.count - 1
        if proposals[position].keys.count < keys.count { proposals[position].keys = keys }
        proposals[position].queries += 1
        proposals[position].wasted += max(
            0, (report["documentsExamined"]?.intValue ?? 0) - (report["returned"]?.intValue ?? 0))
        proposals[position].milliseconds += report["milliseconds"]?.doubleValue ?? 0
    }

    /// The proposals without those that another one makes unnecessary, that of the most work first.
    func result() -> [Proposal] {
        var kept: [Proposal] = []
        for proposal in proposals.sorted(by: { $0.keys.count > $1.keys.count }) {
            let longer = kept.firstIndex {
                $0.collection == proposal.collection && Self.isPrefix(proposal.keys, of: $0.keys)
            }
            guard let longer else {
                kept.append(proposal)
                continue
            }
            kept[longer].queries += proposal.queries
            kept[longer].wasted += proposal.wasted
            kept[longer].milliseconds += proposal.milliseconds
        }
        return kept.sorted { ($0.milliseconds, $0.wasted) > ($1.milliseconds, $1.wasted) }
    }

    /// Whether an index with the longer keys serves what one with the shorter ones does: it is read in both directions.
    private static func isPrefix(_ keys: BSONDocument, of longer: BSONDocument) -> Bool {
        guard keys.count <= longer.count, let first = keys.first, let other = longer.first else { return false }
        let isReversed = first.value != other.value
        return zip(keys, longer).allSatisfy { key, other in
            key.key == other.key && (key.value != other.value) == isReversed
        }
    }
}
