import Tansu

extension ObjectSource {
    /// Removes documents of any collections, in one commit: `try db.remove(search.keys(in: db))`.
    ///
    /// - Parameter keys: Their collections and ids, such as those of a search.
    /// - Returns: How many were there.
    /// - Throws: `TansuError` with what a commit can throw; then nothing is removed.
    @discardableResult
    public func remove(_ keys: some Sequence<ObjectKey>) throws -> Int {
        try Session(of: self).inTransaction { try $0.remove(keys) }
    }

    /// Removes documents of any collections, in one commit.
    ///
    /// - Parameter keys: Their collections and ids, such as those of a search.
    /// - Returns: How many were there.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func remove(_ keys: some Sequence<ObjectKey>) async throws -> Int {
        let keys = Array(keys)
        return try await Session(of: self).runCancellable(.write) { session in
            try session.inTransaction { try $0.remove(keys) }
        }
    }
}

extension Session {
    fileprivate func remove(_ keys: some Sequence<ObjectKey>) throws -> Int {
        try keys.reduce(0) { try $0 + (remove(id: $1.id, from: $1.collection) ? 1 : 0) }
    }
}
