extension Database {
    /// Sets the fields by which the documents of a collection are dated. Creates the collection unless it exists. Documents
    /// that it has are dated when they are saved next.
    ///
    /// - Parameters:
    ///   - timestamps: The fields; `nil` to date documents no more.
    ///   - collection: The collection.
    /// - Throws: ``TansuError`` with `.invalidQuery` (a name), `.invalidName`, or what a commit can throw.
    public func setTimestamps(_ timestamps: Timestamps?, of collection: String) throws {
        try Session(self).setTimestamps(timestamps, of: collection)
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
    /// - Throws: ``TansuError`` with `.invalidQuery` (an invalid path, or `.nullify` of an `_id`), `.invalidName`, or what a
    ///   commit can throw.
    public func setReferences(_ references: [CollectionReference], of collection: String) throws {
        try Session(self).setReferences(references, of: collection)
    }

    /// The references that lead to no document: removals keep the delete rules, but a document may be stored with any
    /// value, and may have been removed before its reference was declared. Reads every document of the collections that
    /// have references.
    ///
    /// - Parameters:
    ///   - collection: What to search; `nil` for all collections.
    ///   - limit: How many of them are in the list.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.invalidQuery` (a limit below 0), `.closed`.
    public func danglingReferences(in collection: String? = nil, limit: Int = 1000) throws -> DanglingReferences {
        try Session(self).danglingReferences(of: collection, limit: limit)
    }

    /// Applies the delete rules to the references that lead to no document: `.nullify` takes the value out, `.cascade`
    /// removes the document; `.deny` and `.ignore` leave it.
    ///
    /// - Parameter collection: What to repair; `nil` for all collections.
    /// - Returns: What has changed.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.referenced`, `.closed`, or what a commit can throw.
    @discardableResult
    public func repairDanglingReferences(in collection: String? = nil) throws -> ReferenceRepair {
        try Session(self).repairDanglingReferences(of: collection)
    }
}
