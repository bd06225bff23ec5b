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
