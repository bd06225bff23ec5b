#if TansuSync
    import TansuBSON

    extension Mango {
        /// What a query finds.
        package struct Answer: Sendable {
            /// The documents, with only the fields that the query asks for.
            package var documents: [BSONDocument]
            /// CouchDB's warnings, one on each line.
            package var warning: String?
            /// How many entries of the index are in its ranges.
            package var keysExamined = 0
            /// How many documents were read and tested.
            package var documentsExamined = 0
        }
    }

    extension Mango.Query {
        /// The answer of CouchDB for documents in memory: the reference for everything that uses real indexes.
        ///
        /// The documents have the order of the index that CouchDB's planner chooses, then of their ids. The bookmark has no
        /// effect.
        ///
        /// - Throws: ``Mango/QueryError`` when no index has the order of the query.
        package func answer(
            _ documents: some Sequence<BSONDocument>, indexes: [Mango.Index]
        ) throws(Mango.QueryError) -> Mango.Answer {
            let plan = try Mango.Plan(self, indexes: indexes)
            let index = try plan.usableIndex()
            var answer = Mango.Answer(documents: [])
            // Without a scan there is no warning either.
            guard let ranges = plan.ranges else { return answer }
            var entries: [Entry] = []
            for document in documents {
                guard let key = try index.key(of: document) else { continue }
                guard try isInPartition(document) else { continue }
                entries.append(Entry(key: key, document: document))
            }
            try sort(&entries, isSpecial: index.isSpecial)
            let isCovering = plan.isCovering
            var skipped: Int64 = 0
            for entry in entries {
                if try entry.isInside(ranges, isSpecial: index.isSpecial) {
                    answer.keysExamined += 1
                    if !isCovering { answer.documentsExamined += 1 }
                }
                guard !entry.document.isDesignDocument, try selector.matches(entry.document) else { continue }
                if skipped < skip {
                    skipped += 1
                    continue
                }
                // CouchDB sees that there is more than the limit by reading one match more.
                if answer.documents.count >= limit { break }
                answer.documents.append(fields.map { entry.document.projected(to: $0) } ?? entry.document)
            }
            answer.warning = plan.warning(examined: answer.documentsExamined, found: answer.documents.count)
            return answer
        }

        private func isInPartition(_ document: BSONDocument) throws(Mango.QueryError) -> Bool {
            partition.isEmpty || document["_id"]?.stringValue?.hasPrefix("\(partition):") == true
        }

        private func sort(_ entries: inout [Entry], isSpecial: Bool) throws(Mango.QueryError) {
            do {
                let collation = try Collation.shared()
                try entries.sort { a, b in
                    let order = isSpecial ? a.orderOfIDs(b) : try a.order(b, collation)
                    return order == (sort.isDescending ? .after : .before)
                }
            } catch let error as CollationError {
                throw Mango.QueryError(error)
            } catch {
                throw Mango.QueryError("internal_server_error", "\(error)", status: 500)
            }
        }
    }

    /// A document of an index.
    private struct Entry {
        let key: [BSONValue]
        let document: BSONDocument

        func order(_ other: Entry, _ collation: Collation) throws(CollationError) -> Collation.Order {
            for (a, b) in zip(key, other.key) {
                let order = try collation.order(a, b)
                if order != .same { return order }
            }
            return orderOfIDs(other)
        }

        func orderOfIDs(_ other: Entry) -> Collation.Order {
            TermOrder.order(document["_id"] ?? .null, other.document["_id"] ?? .null)
        }

        /// Whether a scan reads the entry: the key is between the lists of the ranges' bounds.
        func isInside(_ ranges: [Mango.KeyRange], isSpecial: Bool) throws(Mango.QueryError) -> Bool {
            do throws(CollationError) {
                let collation = try Collation.shared()
                let order = { (a: BSONValue, b: BSONValue) throws(CollationError) -> Collation.Order in
                    isSpecial ? TermOrder.order(a, b) : try collation.order(a, b)
                }
                for (value, range) in zip(key, ranges) {
                    guard let low = range.low else { break }
                    let location = try order(value, low)
                    if location == .before { return false }
                    if location == .after { break }
                }
                for (value, range) in zip(key, ranges) {
                    guard let high = range.high else { break }
                    let location = try order(value, high)
                    if location == .after { return false }
                    if location == .before { break }
                }
                return true
            } catch {
                throw Mango.QueryError(error)
            }
        }
    }
#endif
