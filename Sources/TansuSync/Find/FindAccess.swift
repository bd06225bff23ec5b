#if TansuSync
import Tansu
import TansuBSON

/// How stored indexes find the documents of a query for which CouchDB's planner has no index, such as one with `$or` over
/// several fields: entries whose documents include all that match.
indirect enum FindAccess {
    /// The documents of an index in some ranges.
    case entries(FindIndex, FindBounds)
    /// The documents of all of these.
    case union([FindAccess])
    /// The documents of any one of these.
    case cheapest([FindAccess])

    /// - Parameters:
    ///   - condition: What the documents match.
    ///   - context: What else they match.
    init?(
        _ condition: Mango.Condition, within context: [Mango.Condition] = [], _ indexes: [FindIndex]
    ) throws(Mango.QueryError) {
        let known = context + [condition]
        var ways: [FindAccess] = []
        for index in indexes {
            // An index has only documents with all of its columns.
            guard let first = index.index.columnNames.first,
                known.reduce(index.index.columnNames.bytewiseSet, { $1.withoutRequired($0) }).isEmpty,
                let bounds = try FindBounds(of: first, in: condition)
            else { continue }
            ways.append(.entries(index, bounds))
        }
        switch condition {
        case .and(let conditions):
            for condition in conditions {
                guard case .or = condition else { continue }
                if let way = try FindAccess(condition, within: known, indexes) { ways.append(way) }
            }
        case .or(let conditions) where !conditions.isEmpty && ways.isEmpty:
            var parts: [FindAccess] = []
            for condition in conditions {
                guard let part = try FindAccess(condition, within: known, indexes) else { return nil }
                parts.append(part)
            }
            ways.append(.union(parts))
        default: break
        }
        guard let way = ways.first else { return nil }
        self = ways.count == 1 ? way : .cheapest(ways)
    }

    /// The indexes that have to be up to date.
    var indexes: [FindIndex] {
        switch self {
        case .entries(let index, _): [index]
        case .union(let parts), .cheapest(let parts): parts.flatMap(\.indexes)
        }
    }

    /// The ranges to read, and how many entries they have.
    struct Choice {
        var parts: [(index: FindIndex, bounds: FindBounds)] = []
        var count = 0
    }

    /// Counts entries and chooses; nil when there are more than a limit.
    func choice(_ transaction: Database.Transaction, limit: Int) throws -> Choice? {
        switch self {
        case .entries(let index, let bounds):
            let entries = try transaction.collection(index.entries)
            var count = 0
            for range in bounds.ranges {
                count += try entries.find(range.filter()).count()
                guard count <= limit else { return nil }
            }
            return Choice(parts: [(index, bounds)], count: count)
        case .union(let parts):
            var all = Choice()
            for part in parts {
                guard let choice = try part.choice(transaction, limit: limit - all.count) else { return nil }
                all.parts += choice.parts
                all.count += choice.count
            }
            return all
        case .cheapest(let parts):
            var best: Choice?
            for part in parts {
                guard let choice = try part.choice(transaction, limit: best.map { $0.count - 1 } ?? limit) else {
                    continue
                }
                best = choice
            }
            return best
        }
    }
}

extension FindAccess.Choice {
    /// The ids of the documents, each once, in the order of ids.
    func ids(_ transaction: Database.Transaction) throws -> [String] {
        var ids: Set<BytewiseText> = []
        for part in parts {
            let entries = try transaction.collection(part.index.entries)
            for range in part.bounds.ranges {
                let cursor = try entries.find(range.filter()).makeCursor()
                defer { cursor.close() }
                while let entry = try cursor.next() {
                    if let id = entry["d"]?.stringValue { ids.insert(BytewiseText(id)) }
                }
            }
        }
        return ids.map(\.text).sorted { TermOrder.order($0, $1) == .before }
    }
}
#endif
