// The async variants of Collection+Writing.swift and Collection+Removing.swift.
extension Database.Collection {
    /// Saves a document: inserts it, or replaces the one with the same `_id`.
    ///
    /// - Parameter element: The document.
    /// - Returns: The document's `_id`.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func save(_ element: Element) async throws -> BSONValue {
        try await session.run(.write) { flag in try self.write(element, .save, cancelledBy: flag) }
    }

    /// Saves documents in one commit: inserts each, or replaces the one with the same `_id`.
    ///
    /// - Parameter elements: The documents.
    /// - Returns: The documents' `_id`s, in their order.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func save(_ elements: [Element]) async throws -> [BSONValue] {
        try await session.run(.write) { flag in try self.write(elements, .save, cancelledBy: flag) }
    }

    /// Inserts a document whose `_id` must not exist.
    ///
    /// - Parameter element: The document.
    /// - Returns: The document's `_id`.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func insert(_ element: Element) async throws -> BSONValue {
        try await session.run(.write) { flag in try self.write(element, .insert, cancelledBy: flag) }
    }

    /// Inserts documents whose `_id`s must not exist, in one commit.
    ///
    /// - Parameter elements: The documents.
    /// - Returns: The documents' `_id`s, in their order.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func insert(_ elements: [Element]) async throws -> [BSONValue] {
        try await session.run(.write) { flag in try self.write(elements, .insert, cancelledBy: flag) }
    }

    /// Replaces the document with the same `_id`, which must exist.
    ///
    /// - Parameter element: The document.
    /// - Returns: The document's `_id`.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func replace(_ element: Element) async throws -> BSONValue {
        try await session.run(.write) { flag in try self.write(element, .replace, cancelledBy: flag) }
    }

    /// Removes a document.
    ///
    /// - Parameter id: Its `_id`.
    /// - Returns: Whether it existed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @_disfavoredOverload
    @discardableResult
    public func remove(id: some DocumentID) async throws -> Bool {
        let id = stored(id)
        return try await session.runCancellable(.write) { [name] in try $0.remove(id: id, from: name) }
    }

    /// Removes the documents that match, in one commit. The empty query matches all.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - hints: Options.
    /// - Returns: How many were removed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func remove(_ query: BSONDocument, hints: BSONDocument = [:]) async throws -> Int {
        try await session.runCancellable(.write) { try self.using($0).remove(query, hints: hints) }
    }
}
