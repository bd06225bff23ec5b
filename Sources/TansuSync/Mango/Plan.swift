#if TansuSync
import TansuBSON

extension Mango {
    /// Which index serves a query, as CouchDB's planner chooses it, and what it thought of the others.
    package struct Plan: Sendable {
        let query: Query
        /// The index, or nil when none has the order of the query.
        package let index: Index?
        /// The ranges of the index's first columns; nil when the query finds nothing.
        package let ranges: [KeyRange]?
        /// Why the other indexes do not serve the query.
        let others: [Candidate]

        /// An index that was not chosen.
        struct Candidate: Sendable {
            let index: Index
            let isUsable: Bool
            let reason: Reason
            let ranking: Int
        }

        /// Why an index was not chosen, as CouchDB names it.
        enum Reason: String, Sendable {
            /// Another index serves more conditions.
            case lessOverlap = "less_overlap"
            /// Another index has fewer columns.
            case tooManyFields = "too_many_fields"
            /// Another index is the first by name.
            case comesAfter = "alphabetically_comes_after"
            /// There is a JSON index.
            case unfavoredType = "unfavored_type"
            /// The query names another index.
            case excludedByUser = "excluded_by_user"
            /// A document that matches may lack a column.
            case fieldMismatch = "field_mismatch"
            /// The index does not have the order of the query.
            case sortOrderMismatch = "sort_order_mismatch"
            /// The index is of one partition and the query is not, or the other way round.
            case scopeMismatch = "scope_mismatch"
            /// The index has only some documents, and the query does not name it.
            case isPartial = "is_partial"
        }
    }
}

// MARK: - Choosing

extension Mango.Plan {
    /// Chooses an index.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - indexes: All JSON indexes of the collection.
    package init(_ query: Mango.Query, indexes: [Mango.Index]) throws(Mango.QueryError) {
        let all = (indexes + [try Mango.Index.allDocuments()]).sorted(by: Mango.Index.isBefore)
        let isNamed = { (index: Mango.Index) in index.isNamed(by: query.useIndex) }
        let inScope = all.filter { $0.isSpecial || $0.isPartitioned == !query.partition.isEmpty }
        let candidates = inScope.filter { $0.partialFilter == nil || isNamed($0) }
        let obstacles = candidates.map { Self.obstacle($0, query) }
        let usable = zip(candidates, obstacles).filter { $1 == nil }.map(\.0)
        let named = usable.filter(isNamed)
        let allowed = named.isEmpty ? usable : named
        let ofType = allowed.contains { !$0.isSpecial } ? allowed.filter { !$0.isSpecial } : allowed
        let ranked = try Self.ranked(ofType, query.selector)

        var others = Others()
        others.add(ranked)
        others.add(allowed.filter { index in !ofType.contains { $0 == index } }, .unfavoredType)
        others.add(usable.filter { index in !allowed.contains { $0 == index } }, .excludedByUser)
        others.add(zip(candidates, obstacles).compactMap { index, obstacle in obstacle.map { (index, $0) } })
        others.add(
            all.filter { index in index.partialFilter == nil && !inScope.contains { $0 == index } },
            .scopeMismatch,
            isUsable: false)
        others.add(
            all.filter { index in index.partialFilter != nil && !candidates.contains { $0 == index } },
            .isPartial,
            isUsable: false)

        self.query = query
        index = ranked.first?.index
        ranges = query.selector.findsNothing ? nil : ranked.first?.prefix
        self.others = others.candidates.filter { $0.index != ranked.first?.index }
            .sorted { Mango.Index.isBefore($1.index, $0.index) }
    }

    /// An index and how much of a selector its first columns serve.
    private struct Ranked {
        let index: Mango.Index
        /// Nil when no value of the first column can match.
        let prefix: [Mango.KeyRange]?
        /// How many ranges of the selector the index has no use for.
        let distance: Int
    }

    /// The other indexes, each group ranked after the one before.
    private struct Others {
        var candidates: [Mango.Plan.Candidate] = []
        private var ranking = 1
        private var isFollowing = false

        mutating func add(_ ranked: [Ranked]) {
            let width = ranked.first?.index.columns.count ?? 0
            for (number, entry) in ranked.enumerated() {
                let reason: Mango.Plan.Reason =
                    entry.distance > 0
                    ? .lessOverlap
                    : (entry.index.columns.count > width ? .tooManyFields : .comesAfter)
                candidates.append(
                    Candidate(index: entry.index, isUsable: true, reason: reason, ranking: number))
            }
            ranking = max(1, ranked.count)
        }

        mutating func add(_ indexes: [Mango.Index], _ reason: Mango.Plan.Reason, isUsable: Bool = true) {
            add(indexes.map { ($0, reason) }, isUsable: isUsable)
        }

        mutating func add(_ indexes: [(Mango.Index, Mango.Plan.Reason)], isUsable: Bool = false) {
            for (index, reason) in indexes {
                candidates.append(Candidate(index: index, isUsable: isUsable, reason: reason, ranking: ranking))
            }
            if !indexes.isEmpty { ranking += 1 }
        }
    }

    /// Why an index cannot serve a query, or nil when it can.
    private static func obstacle(_ index: Mango.Index, _ query: Mango.Query) -> Reason? {
        let sort = query.sort.fields
        if index.isSpecial {
            if sort.isEmpty { return nil }
            if !query.selector.indexableFields.contains("_id") { return .fieldMismatch }
            return sort == ["_id"] ? nil : .sortOrderMismatch
        }
        // Each document has an id and a revision, and the fields of the sort are in each result.
        let required = index.columnNames.bytewiseSet.subtracting((sort + ["_id", "_rev"]).bytewiseSet)
        if !query.selector.requires(required) { return .fieldMismatch }
        return hasOrder(index.columnNames[...], sort, query.selector) ? nil : .sortOrderMismatch
    }

    /// Whether the columns begin with the fields of the sort, after columns that are the same in all results.
    private static func hasOrder(_ columns: ArraySlice<String>, _ sort: [String], _ selector: Mango.Selector)
        -> Bool
    {
        guard !sort.isEmpty else { return true }
        guard let column = columns.first else { return false }
        if column == sort[0] { return Array(columns.prefix(sort.count)) == sort }
        return selector.isConstant(column) && hasOrder(columns.dropFirst(), sort, selector)
    }

    /// The indexes, the best first: most ranges used, then fewest columns, then by name.
    private static func ranked(
        _ indexes: [Mango.Index], _ selector: Mango.Selector
    ) throws(Mango.QueryError) -> [Ranked] {
        let ranges = try selector.ranges()
        var ranked: [Ranked] = []
        for index in indexes {
            var prefix: [Mango.KeyRange]? = []
            var length = 0
            loop: for column in index.columnNames {
                switch ranges {
                case .empty(let field):
                    guard field == column, length == 0 else { break loop }
                    prefix = nil
                case .fields(let ranges):
                    if let range = ranges[BytewiseText(column)] {
                        prefix?.append(range)
                    } else if index.isSpecial {
                        prefix?.append(Mango.KeyRange())
                    } else {
                        break loop
                    }
                }
                length += 1
            }
            ranked.append(Ranked(index: index, prefix: prefix, distance: max(0, ranges.count - length)))
        }
        return ranked.sorted { a, b in
            if a.distance != b.distance { return a.distance < b.distance }
            if a.index.columns.count != b.index.columns.count {
                return a.index.columns.count < b.index.columns.count
            }
            return Mango.Index.isBefore(a.index, b.index)
        }
    }
}

extension Mango.Index: Equatable {
    /// Whether two indexes have the same name. A database has one of each.
    package static func == (a: Mango.Index, b: Mango.Index) -> Bool {
        a.designDocument == b.designDocument && a.name == b.name
    }

    /// The order of CouchDB's lists: by design document, then by name; the order of all ids is the first.
    package static func isBefore(_ a: Mango.Index, _ b: Mango.Index) -> Bool {
        guard let x = a.designDocument else { return b.designDocument != nil }
        guard let y = b.designDocument else { return false }
        let order = TermOrder.order(x, y)
        return order == .same ? TermOrder.order(a.name, b.name) == .before : order == .before
    }

    /// Whether `use_index` names the index.
    func isNamed(by names: [String]) -> Bool {
        guard let first = names.first, let designDocument else { return false }
        let id = first.hasPrefix("_design/") ? first : "_design/\(first)"
        return designDocument == id && (names.count == 1 || name == names[1])
    }
}

// MARK: - Explanation

extension Mango.Plan {
    /// The first and the last key of a scan, as `_explain` shows them.
    struct Keys {
        var start: BSONValue
        var end: BSONValue
    }

    /// The keys between which the index is read, in its own direction.
    var keys: Keys? {
        guard let index else { return nil }
        guard let ranges else { return Keys(start: .null, end: .null) }
        let highest: BSONValue = "<MAX>"
        if index.isSpecial {
            return Keys(start: ranges.first?.low ?? .null, end: ranges.first?.high ?? highest)
        }
        var start: [BSONValue] = []
        for range in ranges {
            guard let low = range.low else { break }
            start.append(low)
        }
        var end: [BSONValue] = []
        for range in ranges {
            guard let high = range.high else { break }
            end.append(high)
        }
        return Keys(start: .array(BSONArray(start)), end: .array(BSONArray(end + [highest])))
    }

    /// Whether the index has all fields that the query needs.
    package var isCovering: Bool {
        guard let fields = query.fields else { return false }
        return index?.covers(fields.map(\.text) + query.selector.fieldNames) ?? false
    }

    /// The body of the answer to `_explain`.
    package func explanation(database: String, isPartitioned: Bool = false) -> BSONDocument {
        let fields = BSONValue.array(BSONArray((query.fields ?? []).map { .string($0.text) }))
        var body: BSONDocument = [
            "dbname": .string(database), "index": (index?.json).map { .document($0) } ?? .null,
            "partitioned": .bool(isPartitioned), "selector": .document(query.selector.json),
            "opts": .document(options(fields)), "limit": .int64(query.limit), "skip": .int64(query.skip),
            "fields": fields, "index_candidates": .array(BSONArray(others.map { .document(json($0)) })),
            "selector_hints": .array([.document(hints)]),
        ]
        guard let keys else { return body }
        let isReversed = query.sort.isDescending
        body["mrargs"] = [
            "include_docs": .bool(query.readQuorum == 1 && !isCovering), "view_type": "map", "reduce": false,
            "partition": query.partition.isEmpty ? .null : .string(query.partition),
            "start_key": isReversed ? keys.end : keys.start, "end_key": isReversed ? keys.start : keys.end,
            "direction": isReversed ? "rev" : "fwd", "stable": .bool(query.isStable || query.isStale),
            "update": .bool(query.updatesIndex && !query.isStale),
            "conflicts": query.includesConflicts ? true : "undefined",
        ]
        body["covering"] = .bool(isCovering)
        return body
    }

    private func options(_ fields: BSONValue) -> BSONDocument {
        [
            "use_index": .array(BSONArray(query.useIndex.map { .string($0) })),
            "bookmark": .string(query.bookmark ?? "nil"), "limit": .int64(query.limit), "skip": .int64(query.skip),
            "sort": .document(query.sort.json), "fields": fields, "partition": .string(query.partition),
            "r": .int64(query.readQuorum), "conflicts": .bool(query.includesConflicts),
            "stale": query.isStale ? "ok" : false, "update": .bool(query.updatesIndex),
            "stable": .bool(query.isStable), "execution_stats": .bool(query.includesStatistics),
            "allow_fallback": .bool(query.allowsFallback),
        ]
    }

    private func json(_ candidate: Candidate) -> BSONDocument {
        [
            "index": .document(candidate.index.json),
            "analysis": [
                "usable": .bool(candidate.isUsable), "reasons": [["name": .string(candidate.reason.rawValue)]],
                "ranking": BSONValue(candidate.ranking),
                "covering": candidate.index.isSpecial
                    ? .null : .bool(candidate.index.covers(query.fields?.map(\.text))),
            ],
        ]
    }

    private var hints: BSONDocument {
        let indexable = query.selector.indexableFields
        let others = query.selector.fieldNames.bytewiseSet.subtracting(indexable.bytewiseSet).sorted()
        return [
            "type": "json", "indexable_fields": .array(BSONArray(indexable.map { .string($0) })),
            "unindexable_fields": .array(BSONArray(others.map { .string($0.text) })),
        ]
    }
}

// MARK: - Warnings

extension Mango.Plan {
    /// How many documents may be read for each result before CouchDB warns.
    private static let scanThreshold = 10.0

    /// The index that serves the query.
    ///
    /// - Throws: ``Mango/QueryError`` when there is none, or when the query allows only the one that it names.
    package func usableIndex() throws(Mango.QueryError) -> Mango.Index {
        guard let index else {
            throw Mango.QueryError(
                "no_usable_index", "No index exists for this sort, try indexing by the sort fields.")
        }
        guard
            query.allowsFallback || index.isNamed(by: query.useIndex)
                || (query.useIndex.isEmpty && !index.isSpecial)
        else {
            throw Mango.QueryError("invalid_index", fallbackReason)
        }
        return index
    }

    private var fallbackReason: String {
        switch query.useIndex.count {
        case 0: "You must specify an index with the `use_index` parameter."
        case 1: "\(designDocument) specified by `use_index` could not be found or it is not suitable."
        default:
            "\(designDocument), \(query.useIndex[1]) specified by `use_index` could not be found or it is not suitable."
        }
    }

    private var designDocument: String {
        let name = query.useIndex.first ?? ""
        return name.hasPrefix("_design/") ? name : "_design/\(name)"
    }

    /// CouchDB's warnings, one on each line, or nil.
    ///
    /// - Parameter hasIndex: Whether indexes serve the query although CouchDB's planner has none for it.
    package func warning(examined: Int, found: Int, hasIndex: Bool = false) -> String? {
        var warnings: [String] = []
        if let index, !query.useIndex.isEmpty, !index.isNamed(by: query.useIndex) {
            warnings.append(
                query.useIndex.count == 1
                    ? "\(designDocument) was not used because it does not contain a valid index for this query."
                    : "\(designDocument), \(query.useIndex[1]) was not used because it is not a valid index for this query."
            )
        }
        if index?.isSpecial == true, !hasIndex {
            warnings.append("No matching index found, create an index to optimize query time.")
        }
        if Double(examined) / Double(max(1, found)) > Self.scanThreshold {
            warnings.append(
                "The number of documents examined is high in proportion to the number of results returned. "
                    + "Consider adding a more specific index to improve this.")
        }
        return warnings.isEmpty ? nil : warnings.joined(separator: "\n")
    }
}
#endif
