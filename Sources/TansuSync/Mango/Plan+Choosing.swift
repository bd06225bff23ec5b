#if TansuSync
    import TansuBSON

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
#endif
