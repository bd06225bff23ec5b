// The async variants of Transaction+CollectionOptions.swift.
extension Database.Transaction {
    /// Sets the fields by which the documents of a collection are dated. Creates the collection unless it exists. Documents
    /// that it has are dated when they are saved next.
    ///
    /// - Parameters:
    ///   - timestamps: The fields; `nil` to date documents no more.
    ///   - collection: The collection.
    /// - Throws: ``TansuError`` with `.invalidQuery` (a name), `.invalidName`, `.invalidState` (also for a collection that exists, in a savepoint), or what a commit can throw, or `CancellationError`.
    public func setTimestamps(_ timestamps: Database.Timestamps?, of collection: String) async throws {
        try await session.run(.write) { _ in try self.setTimestamps(timestamps, of: collection) }
    }

    /// Declares where the documents of a collection refer to others; what was declared before is replaced. Creates the
    /// collection unless it exists.
    ///
    /// The engine keeps the delete rules in the commit of a removal. Declare an index on each path, by which it finds what
    /// refers to a document.
    ///
    /// - Parameters:
    ///   - references: At most 64.
    ///   - collection: The collection that has the references.
    /// - Throws: ``TansuError`` with `.invalidQuery` (an invalid path, or `.nullify` of an `_id`), `.invalidName`, `.readOnly`, `.invalidState` (also for a collection that exists, in a savepoint), or what a
    ///   commit can throw, or `CancellationError`.
    public func setReferences(_ references: [Database.CollectionReference], of collection: String) async throws {
        try await session.run(.write) { _ in try self.setReferences(references, of: collection) }
    }

    /// The references that lead to no document: removals keep the delete rules, but a document may be stored with any
    /// value, and may have been removed before its reference was declared. Reads every document of the collections that
    /// have references.
    ///
    /// - Parameters:
    ///   - collection: What to search; `nil` for all collections.
    ///   - limit: How many of them are in the list.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.invalidQuery` (a limit below 0), `.invalidState`, or `CancellationError`.
    public func danglingReferences(in collection: String? = nil, limit: Int = 1000) async throws
        -> Database.DanglingReferences
    {
        try await session.run(.read) { _ in try self.danglingReferences(in: collection, limit: limit) }
    }

    /// Applies the delete rules to the references that lead to no document: `.nullify` takes the value out, `.cascade`
    /// removes the document; `.deny` and `.ignore` leave it.
    ///
    /// - Parameter collection: What to repair; `nil` for all collections.
    /// - Returns: What has changed.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.referenced`, `.invalidState`, or what a commit can throw, or `CancellationError`.
    @discardableResult
    public func repairDanglingReferences(in collection: String? = nil) async throws -> Database.ReferenceRepair {
        try await session.run(.write) { _ in try self.repairDanglingReferences(in: collection) }
    }
}
