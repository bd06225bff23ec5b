// The async variant of Collection+Reading.swift.
extension Database.Collection {
    /// The document with an id, or `nil` when there is none. It is read where the caller runs; only a document of more
    /// than 64 KiB is decoded on a thread of the database.
    ///
    /// - Parameters:
    ///   - id: Its `_id`.
    ///   - isolation: The actor on which it is read: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @_disfavoredOverload
    public func get(
        _ id: some DocumentID, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Element? {
        try await document(stored(id))
    }

    /// The documents with some ids, all in one snapshot. Up to 64 are read where the caller runs, unless they have more
    /// than 64 KiB together.
    ///
    /// - Parameters:
    ///   - ids: Their `_id`s.
    ///   - isolation: The actor on which they are read: the caller's.
    /// - Returns: The documents in the order of the ids. Ids without a document are left out.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @_disfavoredOverload
    public func get(
        ids: some Sequence<some DocumentID>, isolation: isolated (any Actor)? = #isolation
    ) async throws -> [Element] {
        try await documents(ids.map { stored($0) })
    }

    /// The document with an id as documents hold it, read where the caller runs if it is small.
    func document(_ id: BSONValue, isolation: isolated (any Actor)? = #isolation) async throws -> Element? {
        if let found = try session.inPlace({ try readInPlace(id) }) { return found }
        return try await session.run(.read) { _ in try self.document(id) }
    }

    /// The documents with some ids as documents hold them, read where the caller runs if that is short.
    func documents(_ ids: [BSONValue], isolation: isolated (any Actor)? = #isolation) async throws -> [Element] {
        if let found = try session.inPlace({ try readInPlace(ids) }) { return found }
        return try await session.runCancellable(.read) { try self.using($0).documents(ids) }
    }

    /// `nil` when the document is so large that it is decoded elsewhere; `.some(nil)` when there is none.
    private func readInPlace(_ id: BSONValue) throws -> Element?? {
        let found: Element?? = try session.engine.get(id, from: name) { bytes in
            bytes.count > InPlace.bytes ? nil : try codec.decode(bytes)
        }
        return switch found {
        case nil: .some(nil)
        case .some(nil): nil
        case .some(.some(let element)): .some(element)
        }
    }

    /// `nil` when there is too much to read.
    private func readInPlace(_ ids: [BSONValue]) throws -> [Element]? {
        guard ids.count <= InPlace.documents else { return nil }
        var bytesLeft = InPlace.bytes
        return try session.inSnapshot { session in
            var elements: [Element] = []
            for id in ids {
                let found: Element?? = try session.engine.get(id, from: name) { bytes in
                    bytesLeft -= bytes.count
                    return bytesLeft < 0 ? nil : try codec.decode(bytes)
                }
                guard let found else { continue }
                guard let element = found else { return nil }
                elements.append(element)
            }
            return elements
        }
    }
}
