#if TansuSync
    import TansuBSON

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
#endif
