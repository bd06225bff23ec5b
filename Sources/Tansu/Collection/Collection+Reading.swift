extension Database.Collection {
    /// The document with an id, or `nil` when there is none.
    ///
    /// - Parameter id: Its `_id`.
    /// - Throws: ``TansuError`` with `.invalidID`; `DecodingError`.
    public func get(_ id: some DocumentID) throws -> Element? {
        try session.engine.get(stored(id), from: name) { try codec.decode($0) }
    }
}
