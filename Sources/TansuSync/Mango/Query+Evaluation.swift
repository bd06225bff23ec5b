#if TansuSync
import TansuBSON

extension Mango {
    /// What a query finds.
    package struct Answer: Sendable {
        /// The documents, with only the fields that the query asks for.
        package var documents: [BSONDocument]
        /// CouchDB's warnings, one on each line.
        package var warning: String?
        /// What a request for the documents after these has as its bookmark.
        package var bookmark = Bookmark.none
        /// Whether there are more documents than a page holds, before the limit of the query.
        package var isCut = false
        /// How many entries of the index are in its ranges.
        package var keysExamined = 0
        /// Whether indexes have left out documents that CouchDB would read, for the conditions say more than its planner sees.
        var isNarrowed = false
        /// How many documents were read and tested.
        package var documentsExamined = 0
    }
}

extension Mango.Query {
    /// The answer of CouchDB for documents in memory: the reference for everything that uses real indexes.
    ///
    /// The documents have the order of the index that CouchDB's planner chooses, then of their ids.
    ///
    /// - Throws: ``Mango/QueryError`` when no index has the order of the query, or the bookmark is none.
    package func answer(
        _ documents: some Sequence<BSONDocument>, indexes: [Mango.Index]
    ) throws(Mango.QueryError) -> Mango.Answer {
        let plan = try Mango.Plan(self, indexes: indexes)
        let index = try plan.usableIndex()
        let last = try bookmark.map { text throws(Mango.QueryError) in try Mango.Bookmark(text) }
        var answer = Mango.Answer(documents: [], bookmark: bookmark ?? Mango.Bookmark.none)
        // Without a scan there is no warning either.
        guard let ranges = plan.ranges else { return answer }
        var entries: [Entry] = []
        for document in documents {
            guard let key = try index.key(of: document) else { continue }
            guard try isInPartition(document) else { continue }
            entries.append(Entry(key: key, document: document))
        }
        try sort(&entries, isSpecial: index.isSpecial)
        if let last { try removeEntries(upTo: last, of: &entries, isSpecial: index.isSpecial) }
        var end: Entry?
        let isCovering = plan.isCovering
        var skipped: Int64 = 0
        for entry in entries {
            if try entry.isInside(ranges, isSpecial: index.isSpecial) {
                answer.keysExamined += 1
                if !isCovering { answer.documentsExamined += 1 }
            }
            guard !entry.document.isDesignDocument, try selector.matches(entry.document) else { continue }
            // CouchDB sees that there is more than the limit by reading one match more.
            if skipped >= skip, answer.documents.count >= limit { break }
            if limit > 0 { end = entry }
            if skipped < skip {
                skipped += 1
                continue
            }
            answer.documents.append(fields.map { entry.document.projected(to: $0) } ?? entry.document)
        }
        if let end { answer.bookmark = end.bookmark.text }
        answer.warning = plan.warning(examined: answer.documentsExamined, found: answer.documents.count)
        return answer
    }

    /// Removes the entries that an earlier answer had.
    private func removeEntries(
        upTo bookmark: Mango.Bookmark, of entries: inout [Entry], isSpecial: Bool
    ) throws(Mango.QueryError) {
        do throws(CollationError) {
            let collation = try Collation.shared()
            let last = Entry(key: bookmark.key, document: ["_id": bookmark.id])
            var count = 0
            for entry in entries {
                let order = isSpecial ? entry.orderOfIDs(last) : try entry.order(last, collation)
                if order == (sort.isDescending ? .before : .after) { break }
                count += 1
            }
            entries.removeFirst(count)
        } catch {
            throw Mango.QueryError(error)
        }
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

    var bookmark: Mango.Bookmark { Mango.Bookmark(key: key, id: document["_id"] ?? .null) }

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
