extension Database.Query {
    /// All the documents, in an array.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery` (the context names path and operator) or `.tooLarge` (a sort
    ///   over its memory bound); `DecodingError`.
    public func all() throws -> [Element] {
        try withCursor { try elements(from: $0) }
    }

    /// The first document, or `nil` when there is none.
    ///
    /// - Throws: As `all()`.
    public func first() throws -> Element? {
        try limitedToOne.withCursor { try elements(atMost: 1, from: $0) }.first
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

    /// The documents of a cursor that are not skipped, up to a number of them together with those before.
    private func elements(
        atMost count: Int = .max, from cursor: EngineCursor, after elements: [Element] = []
    ) throws -> [Element] {
        let reader = reader
        var elements = elements
        while elements.count < count, let element = try cursor.next({ try reader.decodeUnlessSkipped($0) }) {
            if let element { elements.append(element) }
        }
        return elements
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
        return try EngineCursor(session.engine, source)
    }

    func withCursor<Result>(_ body: (EngineCursor) throws -> Result) throws -> Result {
        try checkOrder()
        return try session.engine.withCursor(source, body)
    }

    private var source: EngineCursor.Source { .query(filter, hints: hints, collection: collection) }
}

// MARK: - Async results

extension Database.Query {
    /// All the documents, in an array. The first ones where the caller runs, if they take less than a millisecond: up to 64
    /// with up to 64 KiB; the others, from the same cursor, on a thread of the database.
    ///
    /// - Parameter isolation: The actor on which a short query runs: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func all(isolation: isolated (any Actor)? = #isolation) async throws -> [Element] {
        try await elements(atMost: .max)
    }

    /// The first document, or `nil` when there is none. Where the caller runs, if that takes less than a millisecond; on
    /// a thread of the database otherwise.
    ///
    /// - Parameter isolation: The actor on which a short query runs: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func first(isolation: isolated (any Actor)? = #isolation) async throws -> Element? {
        try await limitedToOne.elements(atMost: 1).first
    }

    /// How many documents there are; `skip` and `limit` count too. Where the caller runs, if counting takes less than a
    /// millisecond; on a thread of the database otherwise.
    ///
    /// - Parameter isolation: The actor on which a short query runs: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func count(isolation: isolated (any Actor)? = #isolation) async throws -> Int {
        if let count = try inPlace({ try $0.count(in: $0.session) }) { return count }
        return try await session.runCancellable(.read) { try self.count(in: $0) }
    }

    /// Explains the query.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func explain() async throws -> Database.Explanation {
        try await session.runCancellable(.read) { try self.explain(in: $0) }
    }

    /// Up to a number of documents: where the caller runs while they are few, and the others on a thread of the database, from
    /// the same cursor.
    private func elements(atMost count: Int, isolation: isolated (any Actor)? = #isolation) async throws -> [Element] {
        let begun = try inPlace { try $0.begin(count) }
        guard let begun else {
            return try await session.run(.read) { flag in
                try self.withCursor { cursor in
                    try flag.cancelling(with: cursor.cancel) { try self.elements(atMost: count, from: cursor) }
                }
            }
        }
        guard let (cursor, next) = begun.rest else { return begun.elements }
        return try await session.run(.read) { flag in
            try cursor.goOn {
                try flag.cancelling(with: cursor.cancel) {
                    let element = try next.withUnsafeBytes { try self.reader.decode($0) }
                    return try self.elements(atMost: count, from: cursor, after: begun.elements + [element])
                }
            }
        }
    }

    /// Runs the query with a time limit on the executor of the caller.
    ///
    /// - Returns: What `body` returns; `nil` when the query must run on a thread of the database: it has a time limit of
    ///   its own, reports documents that it skips, which it must not do twice, or takes too long.
    private func inPlace<Result>(_ body: (Self) throws -> Result?) throws -> Result? {
        guard hints["$maxTimeMS"] == nil, !codec.skips else {
            try Task.checkCancellation()
            return nil
        }
        var query = self
        query.hints["$maxTimeMS"] = BSONValue(InPlace.milliseconds)
        return try CallRecorder.trying(session.engine.engine.recorder) {
            do {
                return try session.inPlace { try body(query) }
            } catch let error as TansuError where error.code == .timeout {
                return nil
            }
        }
    }

    /// What a query has read in place.
    private struct Begun: Sendable {
        var elements: [Element] = []
        /// The cursor that was handed over and the document that it has stepped to, when these are not all.
        var rest: (cursor: EngineCursor, next: [UInt8])?
    }

    /// Reads up to a number of documents, as many as one may who must not be kept waiting.
    private func begin(_ count: Int) throws -> Begun {
        try withCursor { cursor in
            let reader = reader
            var begun = Begun()
            var bytesLeft = InPlace.bytes
            while begun.elements.count < count, begun.rest == nil {
                let found: Void? = try cursor.next { document in
                    bytesLeft -= document.count
                    if bytesLeft < 0 || begun.elements.count == InPlace.documents {
                        begun.rest = (cursor, Array(document))
                    } else {
                        begun.elements.append(try reader.decode(document))
                    }
                }
                if found == nil { break }
            }
            if begun.rest != nil { cursor.handOver() }
            return begun
        }
    }
}
