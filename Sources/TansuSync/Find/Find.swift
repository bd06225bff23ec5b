#if TansuSync
import Tansu
import TansuBSON

/// A Mango query over the documents of a replicated collection in one transaction.
///
/// It gives what ``Mango/Query/answer(_:indexes:)`` gives for all documents, and reads only those between the keys of the
/// chosen index.
package struct Find {
    let query: Mango.Query
    let plan: Mango.Plan
    let index: Mango.Index
    /// The entries of the index; nil for the order of all ids.
    let stored: FindIndex?
    /// How other indexes find the documents for the order of all ids; nil when they do not.
    let access: FindAccess?
    let page: Page

    /// How much one answer holds, whatever the limit of the query; its bookmark leads on.
    package struct Page: Sendable {
        /// The greatest number of documents.
        var documents: Int64
        /// The bytes of documents after which no more are added.
        var bytes: Int

        package init(documents: Int64 = .max, bytes: Int = .max) {
            self.documents = documents
            self.bytes = bytes
        }
    }

    init(_ query: Mango.Query, indexes: [Mango.Index], collection: String, page: Page) throws(Mango.QueryError) {
        self.query = query
        self.page = page
        plan = try Mango.Plan(query, indexes: indexes)
        index = try plan.usableIndex()
        stored = index.isSpecial ? nil : FindIndex(index, of: collection)
        access =
            index.isSpecial && query.partition.isEmpty
            ? try FindAccess(
                query.selector.condition,
                indexes.filter { $0.partialFilter == nil && !$0.isPartitioned }.map {
                    FindIndex($0, of: collection)
                }
            ) : nil
    }

    /// Whether the query reads what the indexes have now, instead of what has changed since.
    private var isContentWithOld: Bool { !query.updatesIndex || query.isStale }

    /// The indexes that have to have all changes.
    private var followed: [FindIndex] { stored.map { [$0] } ?? access?.indexes ?? [] }

    /// Whether the indexes have all changes that the transaction sees, or the query does without.
    func isCurrent(_ store: RevisionStore) throws -> Bool {
        if isContentWithOld, stored == nil { return true }
        return try followed.allSatisfy { try $0.isCurrent(store, orOld: isContentWithOld) }
    }

    /// Follows a batch of changes.
    ///
    /// - Returns: Whether the indexes have all changes now.
    func update(_ store: RevisionStore) throws -> Bool {
        for index in followed {
            guard try index.isCurrent(store) || index.update(store) else { return false }
        }
        return true
    }

    /// Reads the documents. The index must have all changes that the transaction sees.
    func answer(_ store: RevisionStore) throws -> Mango.Answer {
        let last = try lastBookmark()
        // Without a scan there is no warning either.
        guard let ranges = plan.ranges else { return emptyAnswer }
        return try answer(store, source(store, ranges), ranges, after: last)
    }

    /// The answer of a query that is to be answered at once; nil when it is none.
    func shortAnswer(_ store: RevisionStore) throws -> Mango.Answer? {
        guard stored != nil, let ranges = plan.ranges else { return nil }
        let source = try source(store, ranges)
        return try isShort(source, store) ? answer(store, source, ranges, after: lastBookmark()) : nil
    }

    /// Where an earlier answer ended.
    private func lastBookmark() throws(Mango.QueryError) -> Mango.Bookmark? {
        guard let text = query.bookmark else { return nil }
        return try Mango.Bookmark(text)
    }

    private var emptyAnswer: Mango.Answer {
        Mango.Answer(documents: [], bookmark: query.bookmark ?? Mango.Bookmark.none)
    }

    private func answer(
        _ store: RevisionStore, _ source: Source, _ ranges: [Mango.KeyRange], after last: Mango.Bookmark?
    ) throws -> Mango.Answer {
        var answer = emptyAnswer
        var end: Mango.Bookmark?
        var skipped: Int64 = 0
        var size = 0
        let isCovering = plan.isCovering
        answer.isNarrowed = source.isNarrowed
        try forEachCandidate(store, source, ranges, after: last) { candidate throws in
            answer.keysExamined += 1
            if !isCovering { answer.documentsExamined += 1 }
            let tested = candidate.fields
            guard !tested.isDesignDocument, isInPartition(tested), try query.selector.matches(tested),
                let document = try candidate.whole()
            else {
                return true
            }
            // CouchDB sees that there is more than the limit by reading one match more.
            if skipped >= query.skip, answer.documents.count >= query.limit { return false }
            if answer.documents.count >= page.documents || size >= page.bytes {
                answer.isCut = true
                return false
            }
            if query.limit > 0 {
                end = Mango.Bookmark(key: try index.key(of: document) ?? [], id: document["_id"] ?? .null)
            }
            if skipped < query.skip {
                skipped += 1
            } else {
                let shown = query.fields.map { document.projected(to: $0) } ?? document
                size += shown.bytes.count
                answer.documents.append(shown)
            }
            return true
        }
        if let end { answer.bookmark = end.text }
        answer.warning = plan.warning(
            examined: answer.documentsExamined, found: answer.documents.count, hasIndex: answer.isNarrowed)
        return answer
    }

    private func isInPartition(_ document: BSONDocument) -> Bool {
        query.partition.isEmpty || document["_id"]?.stringValue?.hasPrefix("\(query.partition):") == true
    }

    /// A document that may match.
    struct Candidate {
        /// All that the selector looks at.
        let fields: BSONDocument
        /// The document with its revision, where that is not there yet.
        var complete: (() throws -> BSONDocument?)?

        func whole() throws -> BSONDocument? { try complete.map { try $0() } ?? fields }
    }

    /// Where the documents that may match are.
    private enum Source {
        /// The entries of the index in some ranges.
        case entries(FindIndex, [FindRange], isNarrowed: Bool)
        /// Documents that entries of other indexes name, in the order of their ids.
        case ids([String])
        case allDocuments

        /// Whether there are fewer than CouchDB would read.
        var isNarrowed: Bool {
            switch self {
            case .entries(_, _, let isNarrowed): isNarrowed
            case .ids: true
            case .allDocuments: false
            }
        }
    }

    /// Other indexes are worth reading when they leave out most of the documents. All ids are in memory then.
    private static let greatestShare = 4
    private static let greatestCount = 100_000

    private func source(_ store: RevisionStore, _ ranges: [Mango.KeyRange]) throws -> Source {
        let documents = Int(clamping: store.info().documents)
        if let stored {
            let all = try FindRange(ranges)
            guard let first = index.columnNames.first,
                let bounds = try FindBounds(of: first, in: query.selector.condition)?.clipped(to: all),
                bounds.ranges.count <= max(1, documents / Self.greatestShare)
            else { return .entries(stored, [all], isNarrowed: false) }
            return .entries(stored, bounds.ranges, isNarrowed: bounds.ranges != [all])
        }
        let limit = min(documents / Self.greatestShare, Self.greatestCount)
        guard let access, try access.indexes.allSatisfy({ try $0.isCurrent(store) }),
            let choice = try access.choice(store.transaction, limit: limit)
        else { return .allDocuments }
        return .ids(try choice.ids(store.transaction))
    }

    /// The greatest number of entries, and of ranges, of a query that is answered at once.
    private static let shortCount = 64
    private static let shortRanges = 8

    /// Whether an index has only few entries for the query.
    private func isShort(_ source: Source, _ store: RevisionStore) throws -> Bool {
        guard case .entries(let index, let parts, _) = source, parts.count <= Self.shortRanges else { return false }
        let entries = try store.transaction.collection(index.entries)
        var count = 0
        for part in parts {
            count += try entries.find(part.filter()).limit(Self.shortCount + 1).count()
            guard count <= Self.shortCount else { return false }
        }
        return true
    }

    /// Calls the body with documents in the order of the index until it returns false.
    private func forEachCandidate(
        _ store: RevisionStore, _ source: Source, _ ranges: [Mango.KeyRange], after last: Mango.Bookmark?,
        _ body: (Candidate) throws -> Bool
    ) throws {
        switch source {
        case .allDocuments: try forEachDocument(store, ranges.first, after: last, body)
        case .ids(let ids): try forEachDocument(store, ids, ranges.first, after: last, body)
        case .entries(let stored, let parts, _):
            let isDescending = query.sort.isDescending
            let lastKey = try last.map { last throws(Mango.QueryError) in
                try FindKey(columns: last.key, id: last.id.stringValue ?? "")
            }
            let entries = try store.transaction.collection(stored.entries)
            for part in isDescending ? parts.reversed() : parts {
                let filter = part.filter(after: lastKey, isDescending: isDescending)
                let cursor = try entries.find(
                    filter, hints: ["$orderby": ["_id": isDescending ? -1 : 1]]
                ).makeCursor()
                defer { cursor.close() }
                while let entry = try cursor.next() {
                    guard let id = entry["d"]?.stringValue, let record = try store.document(id),
                        !record.isDeleted, let document = try whole(record, store)
                    else { continue }
                    if try !body(Candidate(fields: document)) { return }
                }
            }
        }
    }

    /// A document as the query sees it.
    private func whole(_ record: DocumentRecord, _ store: RevisionStore) throws -> BSONDocument? {
        try store.wholeDocument(record, includesConflicts: query.includesConflicts)
    }

    /// The bounds of the ids in the order of all ids, after the one where an earlier answer ended.
    private func bounds(
        _ range: Mango.KeyRange?, after last: Mango.Bookmark?
    ) -> (low: String?, high: String?, passed: String?) {
        let passed = last?.id.stringValue
        let isDescending = query.sort.isDescending
        return (
            passed.flatMap { isDescending ? nil : $0 } ?? range?.low?.stringValue,
            passed.flatMap { isDescending ? $0 : nil } ?? range?.high?.stringValue, passed
        )
    }

    /// Documents with some ids, which are in their order.
    private func forEachDocument(
        _ store: RevisionStore, _ ids: [String], _ range: Mango.KeyRange?, after last: Mango.Bookmark?,
        _ body: (Candidate) throws -> Bool
    ) throws {
        let (low, high, passed) = bounds(range, after: last)
        for id in query.sort.isDescending ? ids.reversed() : ids {
            if let low, TermOrder.order(id, low) == .before { continue }
            if let high, TermOrder.order(id, high) == .after { continue }
            guard id != passed, let record = try store.document(id), !record.isDeleted,
                let document = try whole(record, store)
            else { continue }
            if try !body(Candidate(fields: document)) { return }
        }
    }

    /// All documents, in the order of their ids.
    private func forEachDocument(
        _ store: RevisionStore, _ range: Mango.KeyRange?, after last: Mango.Bookmark?,
        _ body: (Candidate) throws -> Bool
    ) throws {
        // Without records ids need not be in the order of their names.
        let (low, high, passed) = bounds(store.isUnrecorded ? nil : range, after: last)
        let isDescending = query.sort.isDescending
        if !needsRevision, !store.isUnrecorded, try !store.hasObjectIDs() {
            return try scan(store, from: low, to: high, passed: passed, body)
        }
        let records = try store.documents(from: low, to: high, isDescending: isDescending)
        defer { records.close() }
        while let record = try records.read() {
            guard record.id != passed, let document = try whole(record, store) else { continue }
            if try !body(Candidate(fields: document)) { return }
        }
    }

    /// Whether the selector looks at what only the records of the revisions have.
    private var needsRevision: Bool {
        query.selector.condition.contains { path in
            path.keys.first.map { $0.utf8.first == UInt8(ascii: "_") && $0 != "_id" } ?? false
        }
    }

    /// Reads the documents of the collection without their records, which only those that match need. Design documents, which
    /// are not in the collection, come where their ids are.
    private func scan(
        _ store: RevisionStore, from low: String?, to high: String?, passed: String?,
        _ body: (Candidate) throws -> Bool
    ) throws {
        let isDescending = query.sort.isDescending
        let first: Collation.Order = isDescending ? .after : .before
        var designs = try store.designDocuments().map(\.id).filter { id in
            if let low, TermOrder.order(id, low) == .before { return false }
            if let high, TermOrder.order(id, high) == .after { return false }
            return id != passed
        }
        // The next one is the last.
        if !isDescending { designs.reverse() }
        let cursor = try store.storedDocuments(from: low, to: high, isDescending: isDescending)
        defer { cursor.close() }
        while let stored = try cursor.next() {
            guard let id = stored["_id"].flatMap(RevisionStore.wireID(of:)), id != passed else { continue }
            while let design = designs.last, TermOrder.order(design, id) == first {
                designs.removeLast()
                if try !body(Candidate(fields: ["_id": .string(design)])) { return }
            }
            let candidate = Candidate(fields: stored) {
                try store.document(id).flatMap { try whole($0, store) }
            }
            if try !body(candidate) { return }
        }
        while let design = designs.popLast() {
            if try !body(Candidate(fields: ["_id": .string(design)])) { return }
        }
    }
}

extension Mango.Condition {
    /// Whether it looks at a path that passes a test.
    fileprivate func contains(_ test: (Mango.FieldPath) -> Bool) -> Bool {
        switch self {
        case .everything: false
        case .and(let conditions), .or(let conditions), .nor(let conditions):
            conditions.contains { $0.contains(test) }
        case .not(let condition): condition.contains(test)
        case .field(let path, let condition): test(path) || condition.contains(test)
        case .test(.elements(_, let condition)): condition.contains(test)
        case .test: false
        }
    }
}

// MARK: - ReplicatedCollection: find

extension RevisionStore {
    /// The JSON indexes that the design documents define.
    package func findIndexes() throws -> [Mango.Index] {
        let designs = try designDocuments()
        let revisions = designs.map { "\($0.sequence) \($0.winner) \($0.id)" }
        if let known = definitions?.indexes(of: revisions) { return known }
        var indexes: [Mango.Index] = []
        for record in designs {
            guard let document = try wholeDocument(record) else { continue }
            indexes += Mango.Index.indexes(of: document)
        }
        definitions?.note(indexes, of: revisions)
        return indexes
    }
}

extension ReplicatedCollection {
    /// How often a query brings an index up to date before it does both in one write transaction.
    private static let attempts = 3

    /// The documents that a Mango query finds.
    ///
    /// The index that serves it is brought up to date first, unless the query says `update: false`.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - page: How much one answer holds; its bookmark leads on.
    /// - Throws: ``Mango/QueryError`` as CouchDB; `TansuError`.
    package func find(_ query: Mango.Query, page: Find.Page = .init()) throws -> Mango.Answer {
        for _ in 0..<Self.attempts {
            let found: Found = try read { store in
                let find = try Find(query, indexes: store.findIndexes(), collection: name, page: page)
                guard try find.isCurrent(store) else { return .outdated }
                return .answer(try find.answer(store))
            }
            if case .answer(let answer) = found { return answer }
            while try !write({
                try Find(query, indexes: $0.findIndexes(), collection: name, page: page).update($0)
            }) {}
        }
        return try write { store in
            let find = try Find(query, indexes: store.findIndexes(), collection: name, page: page)
            while try !find.update(store) {}
            return try find.answer(store)
        }
    }

    /// The answer to a query of few entries of an index that is up to date, found where the caller runs.
    ///
    /// - Returns: Nil when it takes longer; then ``find(_:page:)`` has to.
    package func findAtOnce(_ query: Mango.Query) throws -> Mango.Answer? {
        let found: Mango.Answer?? = try readAtOnce { store in
            let find = try Find(query, indexes: store.findIndexes(), collection: name, page: Find.Page())
            return try find.isCurrent(store) ? find.shortAnswer(store) : nil
        }
        return found ?? nil
    }

    private enum Found {
        case answer(Mango.Answer)
        case outdated
    }

    /// The asynchronous variant: on a thread of the database.
    package func find(_ query: Mango.Query, page: Find.Page = .init()) async throws -> Mango.Answer {
        try await database.runReading { _ in try self.find(query, page: page) }
    }

    /// The body of CouchDB's `_explain`.
    package func explain(_ query: Mango.Query) throws -> BSONDocument {
        try read { try Mango.Plan(query, indexes: $0.findIndexes()).explanation(database: name) }
    }

    /// Drops the stored entries of indexes that no design document defines any more.
    package func removeUnusedIndexes() throws {
        try write { store in
            let used = try store.findIndexes().map { FindIndex($0, of: name).signature }
            try FindIndexNames.drop(name, store.transaction, keeping: used)
        }
    }
}
#endif
