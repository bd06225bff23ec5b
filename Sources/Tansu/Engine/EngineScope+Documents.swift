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
        let cursor = try EngineCursor(self, collection: collection, query: query, hints: hints)
        defer { cursor.close() }
        while let document = try cursor.next({ BSONDocument(trustedBytes: Array($0)) }) { try body(document) }
    }
}
