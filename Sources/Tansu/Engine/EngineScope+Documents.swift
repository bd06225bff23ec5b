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
        try withCursor(query, hints, in: collection) { cursor in
            while let document = try cursor.next({ BSONDocument(trustedBytes: Array($0)) }) { try body(document) }
        }
    }

    /// Runs `body` with a cursor over the documents of a query, which is a part of the call: closing the database waits
    /// for it.
    func withCursor<Result>(
        _ query: BSONDocument, _ hints: BSONDocument, in collection: String, _ body: (EngineCursor) throws -> Result
    ) throws -> Result {
        func run() throws -> Result {
            let cursor = try EngineCursor(self, collection: collection, query: query, hints: hints, for: .call)
            defer { cursor.close() }
            return try body(cursor)
        }
        // A transaction is open as long as its cursors, whoever holds it.
        return transaction == nil ? try engine.call { _ in try run() } : try run()
    }
}
