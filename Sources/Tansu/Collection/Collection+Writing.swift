extension Database.Collection {
    /// Saves a document: inserts it, or replaces the one with the same `_id`.
    ///
    /// - Parameter element: The document. One without `_id` gets a new `ObjectID`.
    /// - Returns: The document's `_id`.
    /// - Throws: ``TansuError`` with `.invalidDocument`, `.invalidID`, `.tooLarge`, `.notUnique`, `.invalidName`,
    ///   or what a commit can throw: `.busy`, `.readOnly`, `.full`, `.io`, `.failed`; `EncodingError`.
    @discardableResult
    public func save(_ element: Element) throws -> BSONValue {
        try write(element, .save)
    }

    /// Saves documents in one commit: inserts each, or replaces the one with the same `_id`.
    ///
    /// - Parameter elements: The documents.
    /// - Returns: The documents' `_id`s, in their order.
    /// - Throws: As for one document; the error's offset is the number of the document at fault, counted from 0,
    ///   and none is saved.
    @discardableResult
    public func save(_ elements: [Element]) throws -> [BSONValue] {
        try write(elements, .save)
    }

    /// Inserts a document whose `_id` must be new.
    ///
    /// - Parameter element: The document. One without `_id` gets a new `ObjectID`.
    /// - Returns: The document's `_id`.
    /// - Throws: As `save`, and ``TansuError`` with `.exists` when the `_id` is taken.
    @discardableResult
    public func insert(_ element: Element) throws -> BSONValue {
        try write(element, .insert)
    }

    /// Inserts documents whose `_id`s must be new, in one commit.
    ///
    /// - Parameter elements: The documents.
    /// - Returns: The documents' `_id`s, in their order.
    /// - Throws: As for one document; the error's offset is the number of the document at fault, counted from 0,
    ///   and none is inserted.
    @discardableResult
    public func insert(_ elements: [Element]) throws -> [BSONValue] {
        try write(elements, .insert)
    }

    /// Replaces the document with the same `_id`, which must be there.
    ///
    /// - Parameter element: The document.
    /// - Returns: The document's `_id`.
    /// - Throws: As `save`, and ``TansuError`` with `.notFound` when there is no document with its `_id`.
    @discardableResult
    public func replace(_ element: Element) throws -> BSONValue {
        try write(element, .replace)
    }

    private func write(_ element: Element, _ mode: SaveMode) throws -> BSONValue {
        var ids: [BSONValue] = []
        try codec.encode(element) { bytes in
            ids = try session.save(bytes, sizes: [bytes.count], mode, in: name)
        }
        guard let id = ids.first else {
            throw TansuError(.misuse, "the engine did not tell the document's _id", context: name)
        }
        return id
    }

    private func write(_ elements: [Element], _ mode: SaveMode) throws -> [BSONValue] {
        // One run of bytes rather than as many pointers to keep alive as there are documents.
        var bytes: [UInt8] = []
        var sizes: [Int] = []
        sizes.reserveCapacity(elements.count)
        for element in elements {
            try codec.encode(element) { document in
                bytes.append(contentsOf: document)
                sizes.append(document.count)
            }
        }
        return try bytes.withUnsafeBytes { try session.save($0, sizes: sizes, mode, in: name) }
    }
}
