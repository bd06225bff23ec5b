extension Database.Collection {
    /// Saves a document: inserts it, or replaces the one with the same `_id`.
    ///
    /// - Parameter element: The document. One without `_id` gets a new `ObjectID`.
    /// - Returns: The document's `_id`.
    /// - Throws: ``TansuError`` with `.invalidDocument`, `.invalidID`, `.tooLarge`, `.notUnique`, `.invalidName`,
    ///   or what a commit can throw: `.busy`, `.readOnly`, `.full`, `.io`, `.moved`,
    ///   `.syncFailed`; `EncodingError`.
    @discardableResult
    public func save(_ element: Element) throws -> BSONValue {
        try write(element, .save)
    }

    /// Saves documents in one commit: inserts each, or replaces the one with the same `_id`.
    ///
    /// - Parameter elements: The documents.
    /// - Returns: The documents' `_id`s, in their order.
    /// - Throws: As for one document; the error's offset is the index of the invalid document, and none is saved.
    @discardableResult
    public func save(_ elements: [Element]) throws -> [BSONValue] {
        try write(elements, .save)
    }

    /// Inserts a document whose `_id` must not exist.
    ///
    /// - Parameter element: The document. One without `_id` gets a new `ObjectID`.
    /// - Returns: The document's `_id`.
    /// - Throws: As `save`, and ``TansuError`` with `.exists` when the `_id` exists.
    @discardableResult
    public func insert(_ element: Element) throws -> BSONValue {
        try write(element, .insert)
    }

    /// Inserts documents whose `_id`s must not exist, in one commit.
    ///
    /// - Parameter elements: The documents.
    /// - Returns: The documents' `_id`s, in their order.
    /// - Throws: As for one document; the error's offset is the index of the invalid document, and none is inserted.
    @discardableResult
    public func insert(_ elements: [Element]) throws -> [BSONValue] {
        try write(elements, .insert)
    }

    /// Replaces the document with the same `_id`, which must exist.
    ///
    /// - Parameter element: The document.
    /// - Returns: The document's `_id`.
    /// - Throws: As `save`, and ``TansuError`` with `.notFound` when there is no document with its `_id`.
    @discardableResult
    public func replace(_ element: Element) throws -> BSONValue {
        try write(element, .replace)
    }

    /// Saves documents with the dates that they have: the collection's timestamps are not set.
    package func saveCopies(_ elements: [Element]) throws { _ = try write(elements, .copy) }

    /// Encodes a value and passes its document to the engine.
    ///
    /// - Parameter flag: The cancellation of the task that waits, if there is one: it ends the wait for the write lock.
    func write(_ element: Element, _ mode: SaveMode, cancelledBy flag: CancellationFlag? = nil) throws -> BSONValue {
        var id = BSONValue.null
        try codec.encode(element) { document in
            id = try session.save(document, mode, in: name, cancelledBy: flag)
        }
        return id
    }

    /// The same for many values, in one commit.
    func write(
        _ elements: [Element], _ mode: SaveMode, cancelledBy flag: CancellationFlag? = nil
    ) throws -> [BSONValue] {
        // One buffer rather than a pointer per document that has to stay valid.
        var bytes: [UInt8] = []
        var sizes: [Int] = []
        sizes.reserveCapacity(elements.count)
        for element in elements {
            try codec.encode(element) { document in
                bytes.append(contentsOf: document)
                sizes.append(document.count)
            }
        }
        return try bytes.withUnsafeBytes { try session.save($0, sizes: sizes, mode, in: name, cancelledBy: flag) }
    }
}

// MARK: - Removing

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

// MARK: - Async writing

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
