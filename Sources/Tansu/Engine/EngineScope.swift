#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

/// Where a call of the engine runs: in a transaction of its own, or in one that is open.
///
/// Its extensions are the engine's calls with Swift values. Pointers and lengths stay in this folder, except for the
/// bytes that encoders and decoders work on.
struct EngineScope: Sendable {
    let engine: EngineDatabase
    let transaction: EngineTransaction?

    /// Runs `body` with the database, the transaction or `nil`, and an error to fill.
    func call(
        _ body: (OpaquePointer, OpaquePointer?, UnsafeMutablePointer<tansu_error>) throws -> tansu_status
    ) throws {
        let (database, handle) = try enter()
        defer { leave() }
        var error = tansu_error.none
        try body(database, handle, &error).check(error)
    }

    /// The database, and the transaction or `nil`, for a call; `leave()` must follow.
    private func enter() throws -> (OpaquePointer, OpaquePointer?) {
        guard let transaction else { return (try engine.enter(), nil) }
        return try transaction.enter()
    }

    private func leave() {
        guard let transaction else { return engine.leave() }
        transaction.leave()
    }

    /// The document that a call returns.
    func document(
        _ body: (OpaquePointer, OpaquePointer?, UnsafeMutablePointer<tansu_buffer>, UnsafeMutablePointer<tansu_error>)
            throws -> tansu_status
    ) throws -> BSONDocument {
        try withEngineBuffer { buffer in
            try call { try body($0, $1, &buffer, $2) }
            return BSONDocument(trustedBytes: Array(buffer.bytes))
        }
    }
}

// MARK: - Reading

extension EngineScope {
    /// Runs `body` on the document with an id; `nil` when there is none.
    ///
    /// `body` runs after the call, because it may be a decoder that makes calls itself.
    func get<Result>(
        _ id: BSONValue, from collection: String, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        track(id, in: collection)
        return try withEngineBuffer { buffer in
            do {
                try BSONDocument(key: "_id", value: id).withUnsafeBytes { id in
                    try call { database, transaction, error in
                        tansu_get(database, transaction, collection, tansu_document(id), &buffer, error)
                    }
                }
            } catch let error as TansuError where error.code == .notFound {
                return nil
            }
            return try body(buffer.bytes)
        }
    }

    /// Runs `body` on each document with one of some ids, in their order.
    ///
    /// `body` runs between the calls, because it may be a decoder that makes calls itself.
    func get(
        _ ids: [BSONValue], from collection: String, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        for id in ids { track(id, in: collection) }
        try withEngineBuffer { buffer in
            // A list of ids is limited like any document.
            for start in stride(from: 0, to: ids.count, by: 1000) {
                let part = ids[start..<min(start + 1000, ids.count)]
                let list = BSONArray(part).document
                var next = 0
                while next < part.count {
                    let first = next
                    try list.withUnsafeBytes { ids in
                        try call { database, transaction, error in
                            tansu_get_many(
                                database, transaction, collection, tansu_document(ids), first, &buffer, &next, error
                            )
                        }
                    }
                    try buffer.bytes.forEachDocumentOfFirstArray(body)
                }
            }
        }
    }

    /// How many documents match.
    func count(_ query: BSONDocument, _ hints: BSONDocument, in collection: String) throws -> Int {
        track(query, hints, in: collection)
        var count: Int64 = 0
        try withBytes(query, hints) { query, hints in
            try call { database, transaction, error in
                tansu_count(
                    database, transaction, collection, tansu_document(query), tansu_document(hints), &count, error)
            }
        }
        return Int(count)
    }

    /// The collections that a query reads: its own first, those that it joins, those of its subqueries, and those that it
    /// reaches through references.
    func collections(
        readBy query: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> [String] {
        let result = try withBytes(query, hints) { query, hints in
            try document { database, transaction, buffer, error in
                tansu_query_collections(
                    database, transaction, collection, tansu_document(query), tansu_document(hints),
                    buffer, error)
            }
        }
        return result["collections"]?.arrayValue?.compactMap(\.stringValue) ?? [collection]
    }

    /// How a query is run.
    func explain(_ query: BSONDocument, _ hints: BSONDocument, in collection: String) throws -> BSONDocument {
        track(query, hints, in: collection)
        return try withBytes(query, hints) { query, hints in
            try document { database, transaction, buffer, error in
                tansu_explain(
                    database, transaction, collection, tansu_document(query), tansu_document(hints),
                    buffer, error)
            }
        }
    }
}

// MARK: - Documents

extension EngineScope {
    /// The document with an id; `nil` when there is none.
    func document(_ id: BSONValue, in collection: String) throws -> BSONDocument? {
        try get(id, from: collection) { BSONDocument(trustedBytes: Array($0)) }
    }

    /// Runs `body` on each document of a query.
    func forEach(
        _ query: BSONDocument = [:], hints: BSONDocument = [:], in collection: String,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        try withCursor(.query(query, hints: hints, collection: collection)) { cursor in
            while let document = try cursor.next({ BSONDocument(trustedBytes: Array($0)) }) { try body(document) }
        }
    }

    /// Runs `body` with a cursor over the documents of a query or a pipeline, which is a part of the call: closing the
    /// database waits for it.
    func withCursor<Result>(_ source: EngineCursor.Source, _ body: (EngineCursor) throws -> Result) throws -> Result {
        func run() throws -> Result {
            let cursor = try EngineCursor(self, source, for: .call)
            defer { if !cursor.isHandedOver { cursor.close() } }
            return try body(cursor)
        }
        // A transaction is open as long as its cursors, whoever holds it.
        return transaction == nil ? try engine.call { _ in try run() } : try run()
    }
}

// MARK: - Grouping

extension EngineScope {
    /// The engine's answer with the distinct values of a path.
    func distinct(
        _ path: String, _ query: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        guard !path.utf8.contains(0) else {
            throw TansuError(.invalidQuery, "The path has a NUL character; remove it", context: path)
        }
        track(query, hints, in: collection)
        return try withBytes(query, hints) { query, hints in
            try document { database, transaction, buffer, error in
                tansu_distinct(
                    database, transaction, collection, path, tansu_document(query), tansu_document(hints), buffer,
                    error)
            }
        }
    }

    /// The engine's answer with the aggregates of groups of documents.
    func aggregate(
        _ query: BSONDocument, _ group: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        track(query, hints, in: collection)
        return try withBytes(query, group, hints) { query, group, hints in
            try document { database, transaction, buffer, error in
                tansu_aggregate(
                    database, transaction, collection, tansu_document(query), tansu_document(group),
                    tansu_document(hints), buffer, error)
            }
        }
    }
}

// MARK: - Catalog

extension EngineScope {
    /// The engine's list of collections.
    func collectionList() throws -> BSONDocument {
        trackCatalog()
        return try document { tansu_collection_list($0, $1, $2, $3) }
    }

    /// What the engine's list has of one collection.
    ///
    /// - Throws: `TansuError` with `.notFound`.
    func collectionInfo(_ name: String) throws -> BSONDocument {
        trackCatalog()
        return try document { tansu_collection_info($0, $1, name, $2, $3) }
    }

    /// The part of the engine's list with references to a collection.
    func referrers(to name: String) throws -> BSONDocument {
        trackCatalog()
        return try document { tansu_collection_referrers($0, $1, name, $2, $3) }
    }

    /// Creates a collection unless it exists, and sets the options that are given.
    func ensureCollection(_ name: String, options: BSONDocument) throws {
        try options.withUnsafeBytes { options in
            try call { tansu_collection_ensure($0, $1, name, tansu_document(options), $2) }
        }
    }

    /// Finds or repairs references that lead to no document.
    func danglingReferences(_ options: BSONDocument) throws -> BSONDocument {
        try options.withUnsafeBytes { options in
            try document { tansu_dangling_references($0, $1, tansu_document(options), $2, $3) }
        }
    }

    /// Renames a collection.
    func renameCollection(_ name: String, to newName: String) throws {
        try call { tansu_collection_rename($0, $1, name, newName, $2) }
    }

    /// Drops a collection.
    func dropCollection(_ name: String) throws {
        try call { tansu_collection_drop($0, $1, name, $2) }
    }

    /// The engine's list of the indexes of a collection.
    func indexList(of collection: String) throws -> BSONDocument {
        try document { tansu_index_list($0, $1, collection, $2, $3) }
    }

    /// Creates an index unless it exists. Outside a transaction `progress` is called, and may throw to end the build.
    ///
    /// - Parameter declares: Whether it is created whenever the collection is, and now only if the collection exists.
    func ensureIndex(
        _ index: IndexDefinition, of collection: String, declares: Bool,
        progress: (Database.Progress) throws -> Void
    ) throws {
        let create = declares ? tansu_index_declare : tansu_index_create
        try withBytes(index.keys, index.options) { keys, options in
            guard transaction == nil else {
                return try call { database, transaction, error in
                    create(
                        database, transaction, collection, index.name, tansu_document(keys), tansu_document(options),
                        nil,
                        nil, error)
                }
            }
            try withEngineProgress(progress) { callback, context in
                try call { database, _, error in
                    create(
                        database, nil, collection, index.name, tansu_document(keys), tansu_document(options),
                        callback, context, error)
                }
            }
        }
    }

    /// Drops an index.
    func dropIndex(_ name: String, of collection: String) throws {
        try call { tansu_index_drop($0, $1, collection, name, $2) }
    }
}

extension String {
    /// Throws `.invalidName` for a name that would be truncated in C; the engine checks all other rules of names.
    func checkName() throws {
        if utf8.contains(0) {
            throw TansuError(.invalidName, "The name has a NUL character; remove it", context: self)
        }
    }
}

// MARK: - IndexDefinition

/// An index as the engine takes it.
struct IndexDefinition: Sendable {
    /// `nil` when it is derived from the keys.
    let name: String?
    let keys: BSONDocument
    let options: BSONDocument
}

// MARK: - Tracking

// What is read in a transaction is tracked when the transaction asks for it.
extension EngineScope {
    /// Tracks that a document is looked up by its id.
    func track(_ id: BSONValue, in collection: String) {
        transaction?.reads?.includeDocument(id, in: collection)
    }

    /// Tracks that a query reads documents.
    func track(_ query: BSONDocument, _ hints: BSONDocument = [:], in collection: String) {
        guard let reads = transaction?.reads else { return }
        // A query that is an error reads nothing, and its call throws the error.
        reads.includeAll(of: (try? collections(readBy: query, hints, in: collection)) ?? [collection])
    }

    /// Tracks that a query or a pipeline reads documents.
    func track(_ source: EngineCursor.Source) {
        switch source {
        case .query(let query, let hints, let collection): track(query, hints, in: collection)
        case .pipeline(let stages, _, let collection):
            guard let reads = transaction?.reads else { return }
            if let collection {
                reads.includeAll(of: [collection])
                for query in stages.compactMap({ $0["$match"]?.documentValue }) { track(query, in: collection) }
            }
            reads.includeAll(of: stages.flatMap { BSONValue.document($0).collectionsRead })
        }
    }

    /// Tracks that the list of collections is read.
    func trackCatalog() {
        transaction?.reads?.includeCatalog()
    }
}

extension BSONValue {
    /// The collections that the stages in a value name to read them: by `$lookup`, `$graphLookup`, `$unionWith` and
    /// subqueries.
    fileprivate var collectionsRead: [String] {
        switch self {
        case .array(let elements): elements.flatMap(\.collectionsRead)
        case .document(let document):
            document.flatMap { key, value in
                let names = ["from", "$from", "$unionWith", "coll"].contains(key) ? value.stringValue : nil
                return names.map { [$0] } ?? value.collectionsRead
            }
        default: []
        }
    }
}
