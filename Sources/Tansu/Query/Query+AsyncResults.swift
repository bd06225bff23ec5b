// The twins of Query+Results.swift; what is said there holds here.
extension Database.Query {
    /// All the documents, in an array.
    ///
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func all() async throws -> [Element] {
        try await session.suspend(.read) { flag in
            try self.withCursor { cursor in try flag.stopping(with: cursor.cancel) { try self.all(from: cursor) } }
        }
    }

    /// The first document, or `nil` when there is none.
    ///
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func first() async throws -> Element? {
        let query = limitedToOne
        return try await session.suspend(.read) { flag in
            try query.withCursor { cursor in
                try flag.stopping(with: cursor.cancel) { try cursor.next(query.codec.decode) }
            }
        }
    }

    /// How many documents there are; `skip` and `limit` count too.
    ///
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func count() async throws -> Int {
        try await session.suspendStoppable(.read) { try self.count(in: $0) }
    }

    /// How the documents are found.
    ///
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func explain() async throws -> Database.Explanation {
        try await session.suspendStoppable(.read) { try self.explain(in: $0) }
    }
}
