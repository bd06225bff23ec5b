extension Database.Query {
    /// All the documents, in an array.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery` (the context names path and operator) or `.tooLarge` (a sort
    ///   over its memory bound); `DecodingError`.
    public func all() throws -> [Element] {
        try all(checking: {})
    }

    /// The first document, or `nil` when there is none.
    ///
    /// - Throws: As `all()`.
    public func first() throws -> Element? {
        var query = self
        // Tells the planner that one is enough; a limit that is there may be 0.
        if hints["$max"] == nil && hints["$limit"] == nil { query = query.limit(1) }
        return try query.withCursor { try $0.next(codec.decode) }
    }

    /// How many documents there are; `skip` and `limit` count too.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    public func count() throws -> Int {
        try session.reading.count(filter, hints, in: collection)
    }

    /// How the documents are found: the plans considered, the one chosen, documents and keys examined, time.
    ///
    /// - Throws: As `all()`.
    public func explain() throws -> BSONDocument {
        try session.reading.explain(filter, hints, in: collection)
    }

    /// Runs a closure on one document after another, without holding them all.
    ///
    /// - Parameter body: What to do; its error ends the run and is thrown on.
    /// - Throws: As `all()`, and the closure's error.
    public func forEach(_ body: (Element) throws -> Void) throws {
        try withCursor { cursor in
            while let element = try cursor.next(codec.decode) { try body(element) }
        }
    }

    /// A cursor, to step through the documents.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    public func makeCursor() throws -> Database.Cursor<Element> {
        Database.Cursor(try makeEngineCursor(), codec)
    }

    /// All the documents, with a look before each whether to go on.
    func all(checking check: () throws -> Void) throws -> [Element] {
        try withCursor { cursor in
            var elements: [Element] = []
            while let element = try cursor.next(codec.decode) {
                elements.append(element)
                try check()
            }
            return elements
        }
    }

    func makeEngineCursor() throws -> EngineCursor {
        try EngineCursor(session.reading, collection: collection, query: filter, hints: hints)
    }

    private func withCursor<Result>(_ body: (EngineCursor) throws -> Result) throws -> Result {
        let cursor = try makeEngineCursor()
        defer { cursor.close() }
        return try body(cursor)
    }
}
