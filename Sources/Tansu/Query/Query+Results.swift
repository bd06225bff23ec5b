extension Database.Query {
    /// All the documents, in an array.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery` (the context names path and operator) or `.tooLarge` (a sort
    ///   over its memory bound); `DecodingError`.
    public func all() throws -> [Element] {
        try withCursor(all)
    }

    /// The first document, or `nil` when there is none.
    ///
    /// - Throws: As `all()`.
    public func first() throws -> Element? {
        try limitedToOne.withCursor { try first(from: $0) }
    }

    /// How many documents there are; `skip` and `limit` count too.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    public func count() throws -> Int {
        try count(in: session)
    }

    /// Explains the query: its plan, the other candidates, how much was examined, and a suggested index. The query is
    /// executed completely.
    ///
    /// - Throws: As `all()`.
    public func explain() throws -> Database.Explanation {
        try explain(in: session)
    }

    /// Runs a closure on one document after another, without loading them all.
    ///
    /// - Parameter body: What to do; its error ends the run and is rethrown.
    /// - Throws: As `all()`, and the closure's error.
    public func forEach(_ body: (Element) throws -> Void) throws {
        let reader = reader
        try withCursor { cursor in
            while let element = try cursor.next({ try reader.decodeUnlessSkipped($0) }) {
                if let element { try body(element) }
            }
        }
    }

    /// A cursor over the documents.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    public func makeCursor() throws -> Database.Cursor<Element> {
        Database.Cursor(try makeEngineCursor(), reader)
    }

    /// All the documents of a cursor.
    func all(from cursor: EngineCursor) throws -> [Element] {
        let reader = reader
        var elements: [Element] = []
        while let element = try cursor.next({ try reader.decodeUnlessSkipped($0) }) {
            if let element { elements.append(element) }
        }
        return elements
    }

    /// The first document of a cursor that is not skipped.
    func first(from cursor: EngineCursor) throws -> Element? {
        let reader = reader
        while let element = try cursor.next({ try reader.decodeUnlessSkipped($0) }) {
            if let element { return element }
        }
        return nil
    }

    /// The same query with a limit of 1 for the planner; an existing limit, which may be 0, is kept. None when the first
    /// documents may be skipped.
    var limitedToOne: Self {
        hints["$max"] == nil && hints["$limit"] == nil && !codec.skips ? limit(1) : self
    }

    func count(in session: Session) throws -> Int {
        try checkOrder()
        return try session.engine.count(filter, hints, in: collection)
    }

    func explain(in session: Session) throws -> Database.Explanation {
        try checkOrder()
        return Database.Explanation(try session.engine.explain(filter, hints, in: collection))
    }

    func makeEngineCursor() throws -> EngineCursor {
        try checkOrder()
        return try EngineCursor(session.engine, collection: collection, query: filter, hints: hints)
    }

    func withCursor<Result>(_ body: (EngineCursor) throws -> Result) throws -> Result {
        try checkOrder()
        return try session.engine.withCursor(filter, hints, in: collection, body)
    }
}
