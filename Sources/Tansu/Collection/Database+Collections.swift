extension Database {
    /// Name, size and options of a collection.
    public struct CollectionInfo: Sendable, Hashable, Decodable {
        /// Its name.
        public let name: String

        /// How many documents it has.
        public let documents: Int

        /// How compaction stores them.
        public let compression: CollectionCompression

        /// Where its documents refer to others.
        public let references: [CollectionReference]

        /// The fields by which its documents are dated; `nil` when they are not.
        public let timestamps: Timestamps?

        /// What its documents satisfy, as it was set: a query, a schema in `$jsonSchema`, or a schema; `nil` when they may be any.
        public let validator: BSONDocument?

        /// What becomes of documents that violate the validator.
        public let validationLevel: ValidationLevel

        /// The schema that its documents satisfy, as ``DocumentSchema`` reads it; `nil` when they may be any, or satisfy a query.
        public var schema: BSONDocument? {
            guard let validator else { return nil }
            if validator.count == 1, let schema = validator["$jsonSchema"]?.documentValue { return schema }
            return (try? DocumentSchema(validator)) == nil ? nil : validator
        }

        /// Decodes what the engine lists.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            name = try container.decode(String.self, forKey: .name)
            documents = try container.decode(Int.self, forKey: .documents)
            let options = try container.decode(Options.self, forKey: .options)
            compression = options.compression ?? .uncompressed
            references = options.references ?? []
            timestamps = options.timestamps
            validator = options.validator
            validationLevel = options.validationLevel ?? .strict
        }

        private enum Key: CodingKey { case name, documents, options }

        private struct Options: Decodable {
            let compression: CollectionCompression?
            let references: [CollectionReference]?
            let timestamps: Timestamps?
            let validator: BSONDocument?
            let validationLevel: ValidationLevel?
        }
    }
}

extension Database {
    /// How the documents of a collection are compressed in the log.
    ///
    /// New documents are written as they are. Compaction, in the background or by `compact(progress:)`, stores
    /// them compressed from the next time on that it rewrites their segment, which it does for the compression alone as
    /// well.
    public enum CollectionCompression: String, Sendable, Hashable, Codable {
        /// They are stored as they are. The default.
        case uncompressed = "none"

        /// LZ4, in blocks of up to 32 KiB that are decompressed into memory as they are read
        /// (``Database/Options/blockCacheBytes``). A library that was built without LZ4 throws `.unsupported`, also when it
        /// opens a database with compressed documents.
        case lz4
    }
}

// MARK: - Collections

extension Database {
    /// The collection with a name, of documents. It need not exist: the first write creates it.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Throws: ``TansuError`` with `.invalidName`. The first write checks most rules of names.
    public func collection(_ name: String) throws -> Collection<BSONDocument> {
        try Session(self).collection(name, .documents)
    }

    /// The collection with a name, of values of a Codable type. It need not exist: the first write creates it.
    ///
    /// A property `id` is stored as `_id`.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: What its documents are decoded as.
    ///   - coding: How dates and other values are stored, for databases that other programs write; see
    ///     ``Collection/coding(_:)``.
    /// - Throws: ``TansuError`` with `.invalidName`. The first write checks most rules of names.
    public func collection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type, coding: BSONCodingStrategies = BSONCodingStrategies()
    ) throws -> Collection<Element> {
        try Session(self).collection(name, .codable(coding))
    }

    /// The names of the collections, sorted.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func collectionNames() throws -> [String] {
        try Session(self).collectionNames()
    }

    /// Name and number of documents of each collection, sorted by name.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func collections() throws -> [CollectionInfo] {
        try Session(self).collections()
    }

    /// Creates a collection unless it exists, and sets how its documents are compressed.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - compression: Also of a collection that exists; with `nil` nothing is changed.
    /// - Throws: ``TansuError`` with `.invalidName`, `.unsupported` without LZ4, or what a commit can throw.
    public func ensureCollection(_ name: String, compression: CollectionCompression? = nil) throws {
        try Session(self).ensureCollection(name, compression: compression)
    }

    /// Renames a collection.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - newName: Its new name.
    /// - Throws: ``TansuError`` with `.notFound`, `.exists`, `.invalidName`, or what a commit can throw.
    public func renameCollection(_ name: String, to newName: String) throws {
        try Session(self).renameCollection(name, to: newName)
    }

    /// Drops a collection with its documents and indexes.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: ``TansuError`` with what a commit can throw.
    @discardableResult
    public func dropCollection(_ name: String) throws -> Bool {
        try Session(self).dropCollection(name)
    }

    /// The name of `dropCollection(_:)` in EJDBKit.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: As `dropCollection(_:)`.
    @discardableResult
    public func removeCollection(_ name: String) throws -> Bool {
        try dropCollection(name)
    }
}

// MARK: - Async collections

extension Database {
    /// The names of the collections, sorted.
    ///
    /// - Throws: ``TansuError`` with `.closed`, or `CancellationError`.
    public func collectionNames() async throws -> [String] {
        try await collections().map(\.name)
    }

    /// Name and number of documents of each collection, sorted by name.
    ///
    /// - Throws: ``TansuError`` with `.closed`, or `CancellationError`.
    public func collections() async throws -> [CollectionInfo] {
        try await Session(self).run(.read) { _ in try self.collections() }
    }

    /// Creates a collection unless it exists, and sets how its documents are compressed.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - compression: Also of a collection that exists; with `nil` nothing is changed.
    /// - Throws: ``TansuError`` with `.invalidName`, `.unsupported` without LZ4, what a commit can throw, or
    ///   `CancellationError`.
    public func ensureCollection(_ name: String, compression: CollectionCompression? = nil) async throws {
        try await Session(self).runCancellable(.write) { try $0.ensureCollection(name, compression: compression) }
    }

    /// Renames a collection.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - newName: Its new name.
    /// - Throws: ``TansuError`` with `.notFound`, `.exists`, `.invalidName`, what a commit can throw, or
    ///   `CancellationError`.
    public func renameCollection(_ name: String, to newName: String) async throws {
        try await Session(self).runCancellable(.write) { try $0.renameCollection(name, to: newName) }
    }

    /// Drops a collection with its documents and indexes.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: ``TansuError`` with what a commit can throw, or `CancellationError`.
    @discardableResult
    public func dropCollection(_ name: String) async throws -> Bool {
        try await Session(self).runCancellable(.write) { try $0.dropCollection(name) }
    }

    /// The name of `dropCollection(_:)` in EJDBKit.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: As `dropCollection(_:)`.
    @discardableResult
    public func removeCollection(_ name: String) async throws -> Bool {
        try await dropCollection(name)
    }
}

// MARK: - Transaction: collections

extension Database.Transaction {
    /// The collection with a name, of documents, in this transaction.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Throws: ``TansuError`` with `.invalidName`.
    public func collection(_ name: String) throws -> Database.Collection<BSONDocument> {
        try session.collection(name, .documents)
    }

    /// The collection with a name, of values of a Codable type, in this transaction.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: What its documents are decoded as.
    ///   - coding: How dates and other values are stored; see ``Database/Collection/coding(_:)``.
    /// - Throws: ``TansuError`` with `.invalidName`.
    public func collection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type, coding: BSONCodingStrategies = BSONCodingStrategies()
    ) throws -> Database.Collection<Element> {
        try session.collection(name, .codable(coding))
    }

    /// The names of the collections, sorted.
    ///
    /// - Throws: ``TansuError`` with `.invalidState` after the transaction's end.
    public func collectionNames() throws -> [String] {
        try collections().map(\.name)
    }

    /// Name and number of documents of each collection, sorted by name.
    ///
    /// - Throws: ``TansuError`` with `.invalidState` after the transaction's end.
    public func collections() throws -> [Database.CollectionInfo] {
        try session.collections()
    }

    /// Creates a collection unless it exists, and sets how its documents are compressed.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - compression: Also of a collection that exists; with `nil` nothing is changed.
    /// - Throws: ``TansuError`` with `.invalidName`, `.readOnly`, `.unsupported` without LZ4, or `.invalidState`, also when
    ///   the compression of a collection that exists is changed in a savepoint.
    public func ensureCollection(_ name: String, compression: Database.CollectionCompression? = nil) throws {
        try session.ensureCollection(name, compression: compression)
    }

    /// Renames a collection.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - newName: Its new name.
    /// - Throws: ``TansuError`` with `.notFound`, `.exists`, `.invalidName`, `.readOnly` or `.invalidState`.
    public func renameCollection(_ name: String, to newName: String) throws {
        try session.renameCollection(name, to: newName)
    }

    /// Drops a collection with its documents and indexes.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: ``TansuError`` with `.readOnly` or `.invalidState`.
    @discardableResult
    public func dropCollection(_ name: String) throws -> Bool {
        try session.dropCollection(name)
    }

    /// The name of `dropCollection(_:)` in EJDBKit.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: As `dropCollection(_:)`.
    @discardableResult
    public func removeCollection(_ name: String) throws -> Bool {
        try dropCollection(name)
    }
}

// MARK: - Transaction: async collections

extension Database.Transaction {
    /// The names of the collections, sorted.
    ///
    /// - Throws: ``TansuError`` with `.invalidState` after the transaction's end, or `CancellationError`.
    public func collectionNames() async throws -> [String] {
        try await collections().map(\.name)
    }

    /// Name and number of documents of each collection, sorted by name.
    ///
    /// - Throws: ``TansuError`` with `.invalidState` after the transaction's end, or `CancellationError`.
    public func collections() async throws -> [Database.CollectionInfo] {
        try await session.run(.read) { _ in try self.collections() }
    }

    /// Creates a collection unless it exists, and sets how its documents are compressed.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - compression: Also of a collection that exists; with `nil` nothing is changed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func ensureCollection(_ name: String, compression: Database.CollectionCompression? = nil) async throws {
        try await session.run(.write) { _ in try self.ensureCollection(name, compression: compression) }
    }

    /// Renames a collection.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - newName: Its new name.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func renameCollection(_ name: String, to newName: String) async throws {
        try await session.run(.write) { _ in try self.renameCollection(name, to: newName) }
    }

    /// Drops a collection with its documents and indexes.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func dropCollection(_ name: String) async throws -> Bool {
        try await session.run(.write) { _ in try self.dropCollection(name) }
    }

    /// The name of `dropCollection(_:)` in EJDBKit.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: As `dropCollection(_:)`.
    @discardableResult
    public func removeCollection(_ name: String) async throws -> Bool {
        try await dropCollection(name)
    }
}
