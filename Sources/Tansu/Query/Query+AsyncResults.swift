// The twins of Query+Results.swift; what is said there holds here.
extension Database.Query {
    /// All the documents, in an array. A cancelled task stops in the middle.
    ///
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func all() async throws -> [Element] {
        try await session.suspend(.read) { flag in try self.all(checking: flag.check) }
    }

    /// The first document, or `nil` when there is none.
    ///
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func first() async throws -> Element? {
        try await session.suspend(.read) { _ in try self.first() }
    }

    /// How many documents there are; `skip` and `limit` count too.
    ///
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func count() async throws -> Int {
        try await session.suspend(.read) { _ in try self.count() }
    }

    /// How the documents are found.
    ///
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func explain() async throws -> BSONDocument {
        try await session.suspend(.read) { _ in try self.explain() }
    }
}
