// The twins of Collection+Writing.swift and Collection+Removing.swift; what is said there holds here.
extension Database.Collection {
    /// Saves a document: inserts it, or replaces the one with the same `_id`.
    ///
    /// - Parameter element: The document.
    /// - Returns: The document's `_id`.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func save(_ element: Element) async throws -> BSONValue {
        try await session.suspend(.write) { _ in try self.save(element) }
    }

    /// Saves documents in one commit: inserts each, or replaces the one with the same `_id`.
    ///
    /// - Parameter elements: The documents.
    /// - Returns: The documents' `_id`s, in their order.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func save(_ elements: [Element]) async throws -> [BSONValue] {
        try await session.suspend(.write) { _ in try self.save(elements) }
    }

    /// Inserts a document whose `_id` must be new.
    ///
    /// - Parameter element: The document.
    /// - Returns: The document's `_id`.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func insert(_ element: Element) async throws -> BSONValue {
        try await session.suspend(.write) { _ in try self.insert(element) }
    }

    /// Inserts documents whose `_id`s must be new, in one commit.
    ///
    /// - Parameter elements: The documents.
    /// - Returns: The documents' `_id`s, in their order.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func insert(_ elements: [Element]) async throws -> [BSONValue] {
        try await session.suspend(.write) { _ in try self.insert(elements) }
    }

    /// Replaces the document with the same `_id`, which must be there.
    ///
    /// - Parameter element: The document.
    /// - Returns: The document's `_id`.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func replace(_ element: Element) async throws -> BSONValue {
        try await session.suspend(.write) { _ in try self.replace(element) }
    }

    /// Removes a document.
    ///
    /// - Parameter id: Its `_id`.
    /// - Returns: Whether it was there.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func remove(id: some DocumentID) async throws -> Bool {
        try await session.suspend(.write) { _ in try self.remove(id: id) }
    }

    /// Removes the documents that match, in one commit. The empty query matches all.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - hints: How.
    /// - Returns: How many there were.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func remove(_ query: BSONDocument, hints: BSONDocument = [:]) async throws -> Int {
        try await session.suspendStoppable(.write) { try self.moved(to: $0).remove(query, hints: hints) }
    }
}
