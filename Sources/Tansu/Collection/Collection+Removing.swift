extension Database.Collection {
    /// Removes a document.
    ///
    /// - Parameter id: Its `_id`.
    /// - Returns: Whether it existed.
    /// - Throws: ``TansuError`` with `.invalidID`, or what a commit can throw.
    @_disfavoredOverload
    @discardableResult
    public func remove(id: some DocumentID) throws -> Bool {
        try session.remove(id: stored(id), from: name)
    }

    /// Removes the documents that match, in one commit. The empty query matches all.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - hints: Options, such as `["$max": 10]`.
    /// - Returns: How many were removed.
    /// - Throws: ``TansuError`` with `.invalidQuery`, or what a commit can throw.
    @discardableResult
    public func remove(_ query: BSONDocument, hints: BSONDocument = [:]) throws -> Int {
        let (query, hints) = try stored(query, hints)
        return try session.remove(query, hints, from: name)
    }
}
