extension Database.Collection {
    /// The document with an id, or `nil` when there is none.
    ///
    /// - Parameter id: Its `_id`.
    /// - Throws: ``TansuError`` with `.invalidID`; `DecodingError`.
    @_disfavoredOverload
    public func get(_ id: some DocumentID) throws -> Element? {
        try document(stored(id))
    }

    /// The documents with some ids, all in one snapshot.
    ///
    /// For example:
    ///
    /// ```swift
    /// let authors = try people.get(ids: articles.map(\.authorID))
    /// ```
    ///
    /// - Parameter ids: Their `_id`s.
    /// - Returns: The documents in the order of the ids. Ids without a document are left out.
    /// - Throws: ``TansuError`` with `.invalidID`; `DecodingError`.
    @_disfavoredOverload
    public func get(ids: some Sequence<some DocumentID>) throws -> [Element] {
        try documents(ids.map { stored($0) })
    }

    /// The document with an id as documents hold it.
    func document(_ id: BSONValue) throws -> Element? {
        try session.engine.get(id, from: name) { try codec.decode($0) }
    }

    /// The documents with some ids as documents hold them, in the order of the ids.
    package func documents(_ ids: [BSONValue]) throws -> [Element] {
        try session.inSnapshot { session in
            var elements: [Element] = []
            elements.reserveCapacity(ids.count)
            try session.engine.get(ids, from: name) { elements.append(try codec.decode($0)) }
            return elements
        }
    }
}
