public import Tansu

/// Values of several types that are saved together.
struct ObjectGraph: Sendable {
    private struct Node: Sendable {
        let entity: AnyEntity
        let document: BSONDocument

        /// Whether a stored document is the same but for its dates, which a save would set.
        func isSame(as stored: BSONDocument) -> Bool {
            guard let timestamps = entity.timestamps else { return false }
            var (mine, theirs) = (document, stored)
            for field in [timestamps.created, timestamps.updated].compactMap({ $0 }) {
                mine[field] = nil
                theirs[field] = nil
            }
            return mine == theirs
        }
    }

    private let nodes: [Node]

    /// Encodes the values.
    init(_ objects: [any Codable & Identifiable & Sendable], _ registry: ModelRegistry) throws {
        nodes = try objects.map { object in
            let entity = try registry.entity(of: type(of: object))
            return Node(entity: entity, document: try entity.document(object))
        }
    }

    /// Saves what has changed, and returns how many documents that were.
    func save(in transaction: Database.Transaction) throws -> Int {
        var count = 0
        for node in nodes {
            let collection = try transaction.collection(node.entity.collection)
            if let id = node.document["_id"], let stored = try collection.get(id),
                stored == node.document || node.isSame(as: stored)
            {
                continue
            }
            try collection.save(node.document)
            count += 1
        }
        try checkReferences(in: transaction)
        return count
    }

    private func checkReferences(in transaction: Database.Transaction) throws {
        /// Those that are known to exist.
        var known = Set(
            nodes.compactMap { node in
                node.document["_id"].map { ObjectKey(collection: node.entity.collection, id: $0) }
            })
        var rules: [BytewiseText: [Database.CollectionReference]] = [:]
        for node in nodes {
            let name = BytewiseText(node.entity.collection)
            let references = try rules[name] ?? node.entity.storedReferences(transaction)
            rules[name] = references
            for reference in references {
                for id in node.document.values(atPath: reference.path) where id != .null {
                    let key = ObjectKey(collection: reference.collection, id: id)
                    guard !known.contains(key) else { continue }
                    guard try transaction.collection(key.collection).count(["_id": id]) > 0 else {
                        throw TansuError(
                            .notFound,
                            "The reference \"\(reference.path)\" of a document of \"\(name)\" leads nowhere; save what it refers"
                                + " to as well", context: key.description)
                    }
                    known.insert(key)
                }
            }
        }
    }
}

extension BSONDocument {
    /// The values at a dotted path; of arrays on the way and at its end, those of each element.
    fileprivate func values(atPath path: String) -> [BSONValue] {
        var values = [BSONValue.document(self)]
        for key in path.pathKeys {
            values = values.flatMap(\.elements).compactMap { $0.documentValue?[key] }
        }
        return values.flatMap(\.elements)
    }
}

extension BSONValue {
    fileprivate var elements: [BSONValue] {
        if case .array(let elements) = self { Array(elements) } else { [self] }
    }
}

extension String {
    /// The keys of a dotted path, in which a backslash is before a dot that belongs to a key.
    fileprivate var pathKeys: [String] {
        var keys = [""]
        var isEscaped = false
        for character in self {
            if isEscaped {
                keys[keys.count - 1].append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "." {
                keys.append("")
            } else {
                keys[keys.count - 1].append(character)
            }
        }
        return keys
    }
}

// MARK: - Database: graph

extension Database {
    /// Saves values of several types in one commit: inserts each, or replaces the document with the same id, unless that
    /// is the same already.
    ///
    /// ```swift
    /// try db.save(graph: [author, firstBook, secondBook])
    /// ```
    ///
    /// Each reference of a saved value must be to a document that exists after the commit, so that their order does not
    /// matter. Fields that a type does not decode are replaced.
    ///
    /// - Parameter objects: The values, of types of the model.
    /// - Returns: How many documents were saved; those that were the same are not counted.
    /// - Throws: `TansuError` with `.notFound` (a reference leads nowhere; the context names it), `.invalidState` (no model),
    ///   `.invalidArgument` (the model does not have the type of a value), and as `save` of a collection; `EncodingError`.
    ///   Then nothing is saved.
    @discardableResult
    public func save(graph objects: [any Codable & Identifiable & Sendable]) throws -> Int {
        let graph = try ObjectGraph(objects, ModelRegistry.of(self))
        return try write { try graph.save(in: $0) }
    }

    /// Saves values of several types in one commit.
    ///
    /// - Parameter objects: The values, of types of the model.
    /// - Returns: How many documents were saved.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func save(graph objects: [any Codable & Identifiable & Sendable]) async throws -> Int {
        let graph = try ObjectGraph(objects, ModelRegistry.of(self))
        return try await write(isolation: nil) { @Sendable transaction in try graph.save(in: transaction) }
    }
}

extension Database.Transaction {
    /// Saves values of several types; see `save(graph:)` of a database.
    ///
    /// - Parameter objects: The values, of types of the model.
    /// - Returns: How many documents were saved.
    /// - Throws: As outside a transaction; what was saved before an error is rolled back.
    @discardableResult
    public func save(graph objects: [any Codable & Identifiable & Sendable]) throws -> Int {
        let graph = try ObjectGraph(objects, ModelRegistry.of(session.database))
        return try savepoint { try graph.save(in: self) }
    }
}
