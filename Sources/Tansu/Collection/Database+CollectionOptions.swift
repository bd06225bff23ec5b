extension Database {
    /// The fields in which the engine keeps when a document was inserted and when it was last saved.
    ///
    /// ```swift
    /// try db.setTimestamps(Database.Timestamps(), of: "notes")
    /// let recent = try db.collection("notes").find(savedAfter: Date(timeIntervalSinceNow: -3600)).all()
    /// ```
    ///
    /// Every save sets them in the same commit, whichever way it comes and whatever the document says. A type may have
    /// properties of these names, optional ones for values that are not saved yet.
    public struct Timestamps: Sendable, Hashable, Codable {
        /// The field with the date of insertion, which later saves keep; `nil` for none.
        public var created: String?

        /// The field with the date of the last save; `nil` for none.
        public var updated: String?

        /// The fields, of which there must be one.
        ///
        /// - Parameters:
        ///   - created: 1 to 120 bytes, without a dot.
        ///   - updated: The same.
        public init(created: String? = "createdAt", updated: String? = "updatedAt") {
            self.created = created
            self.updated = updated
        }

        /// Whether both are the same, names byte by byte.
        public static func == (a: Self, b: Self) -> Bool { a.created == b.created && a.updated == b.updated }
    }
}

extension Database {
    /// A path of a collection whose values are the `_id`s of documents of another collection, or of the same one.
    ///
    /// ```swift
    /// try db.setReferences(
    ///     [Database.CollectionReference("author", to: "authors", onDelete: .cascade)], of: "books")
    /// ```
    public struct CollectionReference: Sendable, Hashable, Codable {
        /// A dotted path. Each element of an array at its end is a reference, and each document of an array before its
        /// end is followed.
        public var path: String

        /// The name of the collection that has the documents. It need not exist.
        public var collection: String

        /// What happens when such a document is removed.
        public var onDelete: DeleteRule

        /// A reference.
        ///
        /// - Parameters:
        ///   - path: A dotted path, without array positions.
        ///   - collection: The name of the collection that has the documents.
        ///   - onDelete: What happens when such a document is removed.
        public init(_ path: String, to collection: String, onDelete: DeleteRule = .ignore) {
            self.path = path
            self.collection = collection
            self.onDelete = onDelete
        }

        /// Whether both are the same, text byte by byte.
        public static func == (a: Self, b: Self) -> Bool {
            a.path == b.path && a.collection == b.collection && a.onDelete == b.onDelete
        }

        private enum CodingKeys: String, CodingKey {
            case path
            case collection = "to"
            case onDelete
        }
    }

    /// What the removal of a document does to a document that refers to it.
    ///
    /// The engine keeps the rules in the commit of the removal, whichever way the document is removed, over any number of
    /// references and in cycles.
    public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing: the reference dangles.
        case ignore
        /// The value becomes null; an element of an array is taken out.
        case nullify
        /// It is removed as well.
        case cascade
        /// The removal throws `.referenced`, and removes nothing.
        case deny
    }

    /// A reference that leads to no document.
    public struct DanglingReference: Sendable, Hashable, Decodable {
        /// The collection of the document that has it.
        public let collection: String

        /// The `_id` of that document.
        public let id: BSONValue

        /// Where it is in the document.
        public let path: String

        /// The collection to which it leads.
        public let target: String

        /// The `_id` that no document of that collection has.
        public let value: BSONValue

        private enum CodingKeys: String, CodingKey {
            case collection, path, value
            case id = "_id"
            case target = "to"
        }
    }

    /// The references of a database that lead to no document.
    public struct DanglingReferences: Sendable, Hashable, Decodable {
        /// The first of them.
        public let references: [DanglingReference]

        /// How many there are.
        public let count: Int

        /// How many documents have one.
        public let documents: Int
    }

    /// What a repair of references has changed.
    public struct ReferenceRepair: Sendable, Hashable, Decodable {
        /// How many values became null or were taken out of arrays.
        public let nullified: Int

        /// How many documents were removed for a reference of theirs, without those that refer to them.
        public let removed: Int
    }
}

// MARK: - Collection options

extension Database {
    /// Sets the fields by which the documents of a collection are dated. Creates the collection unless it exists. Documents
    /// that it has are dated when they are saved next.
    ///
    /// - Parameters:
    ///   - timestamps: The fields; `nil` to date documents no more.
    ///   - collection: The collection.
    /// - Throws: ``TansuError`` with `.invalidQuery` (a name), `.invalidName`, or what a commit can throw.
    public func setTimestamps(_ timestamps: Timestamps?, of collection: String) throws {
        try Session(self).setTimestamps(timestamps, of: collection)
    }

    /// Declares where the documents of a collection refer to others; what was declared before is replaced. Creates the
    /// collection unless it exists.
    ///
    /// The engine keeps the delete rules in the commit of a removal. Declare an index on each path, by which it finds what
    /// refers to a document.
    ///
    /// - Parameters:
    ///   - references: At most 64.
    ///   - collection: The collection that has the references.
    /// - Throws: ``TansuError`` with `.invalidQuery` (an invalid path, or `.nullify` of an `_id`), `.invalidName`, or what a
    ///   commit can throw.
    public func setReferences(_ references: [CollectionReference], of collection: String) throws {
        try Session(self).setReferences(references, of: collection)
    }

    /// The references that lead to no document: removals keep the delete rules, but a document may be stored with any
    /// value, and may have been removed before its reference was declared. Reads every document of the collections that
    /// have references.
    ///
    /// - Parameters:
    ///   - collection: What to search; `nil` for all collections.
    ///   - limit: How many of them are in the list.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.invalidQuery` (a limit below 0), `.closed`.
    public func danglingReferences(in collection: String? = nil, limit: Int = 1000) throws -> DanglingReferences {
        try Session(self).danglingReferences(of: collection, limit: limit)
    }

    /// Applies the delete rules to the references that lead to no document: `.nullify` takes the value out, `.cascade`
    /// removes the document; `.deny` and `.ignore` leave it.
    ///
    /// - Parameter collection: What to repair; `nil` for all collections.
    /// - Returns: What has changed.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.referenced`, `.closed`, or what a commit can throw.
    @discardableResult
    public func repairDanglingReferences(in collection: String? = nil) throws -> ReferenceRepair {
        try Session(self).repairDanglingReferences(of: collection)
    }
}

// MARK: - Async collection options

extension Database {
    /// Sets the fields by which the documents of a collection are dated. Creates the collection unless it exists. Documents
    /// that it has are dated when they are saved next.
    ///
    /// - Parameters:
    ///   - timestamps: The fields; `nil` to date documents no more.
    ///   - collection: The collection.
    /// - Throws: ``TansuError`` with `.invalidQuery` (a name), `.invalidName`, or what a commit can throw, or `CancellationError`.
    public func setTimestamps(_ timestamps: Timestamps?, of collection: String) async throws {
        try await Session(self).runCancellable(.write) { try $0.setTimestamps(timestamps, of: collection) }
    }

    /// Declares where the documents of a collection refer to others; what was declared before is replaced. Creates the
    /// collection unless it exists.
    ///
    /// The engine keeps the delete rules in the commit of a removal. Declare an index on each path, by which it finds what
    /// refers to a document.
    ///
    /// - Parameters:
    ///   - references: At most 64.
    ///   - collection: The collection that has the references.
    /// - Throws: ``TansuError`` with `.invalidQuery` (an invalid path, or `.nullify` of an `_id`), `.invalidName`, or what a
    ///   commit can throw, or `CancellationError`.
    public func setReferences(_ references: [CollectionReference], of collection: String) async throws {
        try await Session(self).runCancellable(.write) { try $0.setReferences(references, of: collection) }
    }

    /// The references that lead to no document: removals keep the delete rules, but a document may be stored with any
    /// value, and may have been removed before its reference was declared. Reads every document of the collections that
    /// have references.
    ///
    /// - Parameters:
    ///   - collection: What to search; `nil` for all collections.
    ///   - limit: How many of them are in the list.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.invalidQuery` (a limit below 0), `.closed`, or `CancellationError`.
    public func danglingReferences(in collection: String? = nil, limit: Int = 1000) async throws -> DanglingReferences {
        try await Session(self).run(.read) { _ in try self.danglingReferences(in: collection, limit: limit) }
    }

    /// Applies the delete rules to the references that lead to no document: `.nullify` takes the value out, `.cascade`
    /// removes the document; `.deny` and `.ignore` leave it.
    ///
    /// - Parameter collection: What to repair; `nil` for all collections.
    /// - Returns: What has changed.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.referenced`, `.closed`, or what a commit can throw, or `CancellationError`.
    @discardableResult
    public func repairDanglingReferences(in collection: String? = nil) async throws -> ReferenceRepair {
        try await Session(self).runCancellable(.write) { try $0.repairDanglingReferences(of: collection) }
    }
}

// MARK: - Transaction: collection options

extension Database.Transaction {
    /// Sets the fields by which the documents of a collection are dated. Creates the collection unless it exists. Documents
    /// that it has are dated when they are saved next.
    ///
    /// - Parameters:
    ///   - timestamps: The fields; `nil` to date documents no more.
    ///   - collection: The collection.
    /// - Throws: ``TansuError`` with `.invalidQuery` (a name), `.invalidName`, `.invalidState` (also for a collection that exists, in a savepoint), or what a commit can throw.
    public func setTimestamps(_ timestamps: Database.Timestamps?, of collection: String) throws {
        try session.setTimestamps(timestamps, of: collection)
    }

    /// Declares where the documents of a collection refer to others; what was declared before is replaced. Creates the
    /// collection unless it exists.
    ///
    /// The engine keeps the delete rules in the commit of a removal. Declare an index on each path, by which it finds what
    /// refers to a document.
    ///
    /// - Parameters:
    ///   - references: At most 64.
    ///   - collection: The collection that has the references.
    /// - Throws: ``TansuError`` with `.invalidQuery` (an invalid path, or `.nullify` of an `_id`), `.invalidName`, `.readOnly`, `.invalidState` (also for a collection that exists, in a savepoint), or what a
    ///   commit can throw.
    public func setReferences(_ references: [Database.CollectionReference], of collection: String) throws {
        try session.setReferences(references, of: collection)
    }

    /// The references that lead to no document: removals keep the delete rules, but a document may be stored with any
    /// value, and may have been removed before its reference was declared. Reads every document of the collections that
    /// have references.
    ///
    /// - Parameters:
    ///   - collection: What to search; `nil` for all collections.
    ///   - limit: How many of them are in the list.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.invalidQuery` (a limit below 0), `.invalidState`.
    public func danglingReferences(in collection: String? = nil, limit: Int = 1000) throws
        -> Database.DanglingReferences
    {
        try session.danglingReferences(of: collection, limit: limit)
    }

    /// Applies the delete rules to the references that lead to no document: `.nullify` takes the value out, `.cascade`
    /// removes the document; `.deny` and `.ignore` leave it.
    ///
    /// - Parameter collection: What to repair; `nil` for all collections.
    /// - Returns: What has changed.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.referenced`, `.invalidState`, or what a commit can throw.
    @discardableResult
    public func repairDanglingReferences(in collection: String? = nil) throws -> Database.ReferenceRepair {
        try session.repairDanglingReferences(of: collection)
    }
}

// MARK: - Transaction: async collection options

extension Database.Transaction {
    /// Sets the fields by which the documents of a collection are dated. Creates the collection unless it exists. Documents
    /// that it has are dated when they are saved next.
    ///
    /// - Parameters:
    ///   - timestamps: The fields; `nil` to date documents no more.
    ///   - collection: The collection.
    /// - Throws: ``TansuError`` with `.invalidQuery` (a name), `.invalidName`, `.invalidState` (also for a collection that exists, in a savepoint), or what a commit can throw, or `CancellationError`.
    public func setTimestamps(_ timestamps: Database.Timestamps?, of collection: String) async throws {
        try await session.run(.write) { _ in try self.setTimestamps(timestamps, of: collection) }
    }

    /// Declares where the documents of a collection refer to others; what was declared before is replaced. Creates the
    /// collection unless it exists.
    ///
    /// The engine keeps the delete rules in the commit of a removal. Declare an index on each path, by which it finds what
    /// refers to a document.
    ///
    /// - Parameters:
    ///   - references: At most 64.
    ///   - collection: The collection that has the references.
    /// - Throws: ``TansuError`` with `.invalidQuery` (an invalid path, or `.nullify` of an `_id`), `.invalidName`, `.readOnly`, `.invalidState` (also for a collection that exists, in a savepoint), or what a
    ///   commit can throw, or `CancellationError`.
    public func setReferences(_ references: [Database.CollectionReference], of collection: String) async throws {
        try await session.run(.write) { _ in try self.setReferences(references, of: collection) }
    }

    /// The references that lead to no document: removals keep the delete rules, but a document may be stored with any
    /// value, and may have been removed before its reference was declared. Reads every document of the collections that
    /// have references.
    ///
    /// - Parameters:
    ///   - collection: What to search; `nil` for all collections.
    ///   - limit: How many of them are in the list.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.invalidQuery` (a limit below 0), `.invalidState`, or `CancellationError`.
    public func danglingReferences(in collection: String? = nil, limit: Int = 1000) async throws
        -> Database.DanglingReferences
    {
        try await session.run(.read) { _ in try self.danglingReferences(in: collection, limit: limit) }
    }

    /// Applies the delete rules to the references that lead to no document: `.nullify` takes the value out, `.cascade`
    /// removes the document; `.deny` and `.ignore` leave it.
    ///
    /// - Parameter collection: What to repair; `nil` for all collections.
    /// - Returns: What has changed.
    /// - Throws: ``TansuError`` with `.notFound` (the collection), `.referenced`, `.invalidState`, or what a commit can throw, or `CancellationError`.
    @discardableResult
    public func repairDanglingReferences(in collection: String? = nil) async throws -> Database.ReferenceRepair {
        try await session.run(.write) { _ in try self.repairDanglingReferences(in: collection) }
    }
}
