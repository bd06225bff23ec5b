// The async variants of Query+Results.swift.
extension Database.Query {
    /// All the documents, in an array.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func all() async throws -> [Element] {
        try await session.run(.read) { flag in
            try self.withCursor { cursor in try flag.cancelling(with: cursor.cancel) { try self.all(from: cursor) } }
        }
    }

    /// The first document, or `nil` when there is none.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func first() async throws -> Element? {
        let query = limitedToOne
        return try await session.run(.read) { flag in
            try query.withCursor { cursor in
                try flag.cancelling(with: cursor.cancel) { try query.first(from: cursor) }
            }
        }
    }

    /// How many documents there are; `skip` and `limit` count too.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func count() async throws -> Int {
        try await session.runCancellable(.read) { try self.count(in: $0) }
    }

    /// Explains the query.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func explain() async throws -> Database.Explanation {
        try await session.runCancellable(.read) { try self.explain(in: $0) }
    }
}
