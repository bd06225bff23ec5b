// The async variant of Collection+Reading.swift.
extension Database.Collection {
    /// The document with an id, or `nil` when there is none.
    ///
    /// - Parameter id: Its `_id`.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func get(_ id: some DocumentID) async throws -> Element? {
        try await session.run(.read) { _ in try self.get(id) }
    }
}
