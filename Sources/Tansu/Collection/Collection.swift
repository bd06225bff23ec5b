extension Database {
    /// A collection of documents, as `BSONDocument` or as values of a Codable type.
    ///
    /// For example:
    ///
    /// ```swift
    /// struct Person: Codable { var id = ObjectID(); var name: String; var age: Int }
    ///
    /// let people = try db.collection("people", of: Person.self)
    /// try people.save(Person(name: "mike", age: 12))
    /// let mike = try people.find(["name": "mike"]).first()
    /// ```
    ///
    /// It is only a name and a session: making one costs nothing, and a collection that does not exist is empty. It
    /// keeps its database open.
    public struct Collection<Element: Sendable>: Sendable {
        /// The collection's name.
        public let name: String

        package let session: Session
        package let codec: DocumentCodec<Element>

        init(session: Session, name: String, codec: DocumentCodec<Element>) {
            self.session = session
            self.name = name
            var codec = codec
            codec.collection = name
            self.codec = codec
        }

        /// The same collection in another session.
        package func using(_ session: Session) -> Self {
            Self(session: session, name: name, codec: codec)
        }

        /// The same collection with another type for its documents.
        ///
        /// - Parameter type: What documents are decoded as and encoded from.
        public func decoded<Other: Codable & Sendable>(as type: Other.Type) -> Collection<Other> {
            Collection<Other>(session: session, name: name, codec: .codable(like: codec))
        }

        /// The same collection with another way to handle documents that cannot be decoded, for its queries,
        /// observations and change streams.
        ///
        /// - Parameter policy: What happens to them; strict unless this is called.
        public func decoding(_ policy: DecodingPolicy) -> Self {
            var codec = codec
            codec.policy = policy
            return Self(session: session, name: name, codec: codec)
        }
    }
}

extension Database.Collection where Element: Codable {
    /// The same collection with values stored in another form, such as dates as text, for databases that other programs
    /// write.
    ///
    /// The strategies hold for what is saved, read and updated with this collection, for ids, and for the values in its
    /// queries: `$0.when > date` compares with what is stored. A collection of documents has none.
    ///
    /// - Parameter strategies: How values are stored.
    public func coding(_ strategies: BSONCodingStrategies) -> Self {
        var codec = DocumentCodec<Element>.codable(strategies)
        codec.policy = self.codec.policy
        return Self(session: session, name: name, codec: codec)
    }
}

extension Database {
    /// What happens to documents that cannot be decoded as the type of their collection, where many are read: in
    /// results of queries and observations, and in the events of change streams.
    ///
    /// For example:
    ///
    /// ```swift
    /// let people = try db.collection("people", of: Person.self).decoding(.skipping { print("skipped:", $0) })
    /// ```
    ///
    /// A call for one document, such as `get`, throws in any case: `nil` means that there is none.
    public enum DecodingPolicy: Sendable {
        /// The first one is an error, which names it. A cursor, a change stream and an observation may go on after it.
        case strict

        /// They are left out. The closure is called with each, on the thread that reads, whenever the query runs.
        ///
        /// A change stream has their events nevertheless, with the `_id` and without the document: who keeps a copy of
        /// the collection has to know that a document in it cannot be decoded any more. Remove from the copy what has
        /// no ``Database/Change/after``, whatever the kind of the event:
        ///
        /// ```swift
        /// for try await change in people.decoding(.skipping()).changes() {
        ///     if let id = change.id { copy[id] = change.after }
        /// }
        /// ```
        case skipping(report: @Sendable (UndecodableDocument) -> Void = { _ in })
    }

    /// A document that cannot be decoded as the type of its collection.
    public struct UndecodableDocument: Sendable {
        /// The collection's name.
        public let collection: String

        /// The document's `_id`; `nil` when the query omits it.
        public let id: BSONValue?

        /// The document as it is stored.
        public let document: BSONDocument

        /// Why: a `DecodingError` that names path, expected and found type, or what the type threw.
        public let error: any Error
    }
}

extension Database.UndecodableDocument: CustomStringConvertible {
    /// The error, which names the document.
    public var description: String {
        guard let error = error as? DecodingError else { return safeDescription(of: error) }
        return error.context.debugDescription
    }
}

// MARK: - Reading

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

// MARK: - Async reading

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
