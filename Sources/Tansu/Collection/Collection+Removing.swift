import CTansu

extension Database.Collection {
    /// Removes a document.
    ///
    /// - Parameter id: Its `_id`.
    /// - Returns: Whether it was there.
    /// - Throws: ``TansuError`` with `.invalidID`, or what a commit can throw.
    @discardableResult
    public func remove(id: some DocumentID) throws -> Bool {
        var removed: Int32 = 0
        try BSONDocument(id: id).withUnsafeBytes { id in
            _ = try session.call(.write) { database, transaction, error in
                tansu_remove_id(database, transaction, name, id.baseAddress, id.count, &removed, error)
            }
        }
        return removed != 0
    }

    /// Removes the documents that match, in one commit. The empty query matches all.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - hints: How, such as `["$max": 10]`.
    /// - Returns: How many there were.
    /// - Throws: ``TansuError`` with `.invalidQuery`, or what a commit can throw.
    @discardableResult
    public func remove(_ query: BSONDocument, hints: BSONDocument = [:]) throws -> Int {
        var removed: Int64 = 0
        try query.withUnsafeBytes { query in
            try hints.withUnsafeBytes { hints in
                _ = try session.call(.write) { database, transaction, error in
                    tansu_remove(
                        database, transaction, name, query.baseAddress, query.count, hints.baseAddress, hints.count,
                        &removed, error)
                }
            }
        }
        return Int(removed)
    }
}

extension BSONDocument {
    /// The form in which the engine takes an id.
    init(id: some DocumentID) {
        self = ["_id": id.bsonID]
    }
}
