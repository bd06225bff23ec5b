// The writes of collections: validated against the collection's schema when it has one, then passed to the engine.
extension Session {
    /// Saves one document, and returns its id.
    func save(_ document: UnsafeRawBufferPointer, _ mode: SaveMode, in collection: String) throws -> BSONValue {
        try validating(collection) { session, schema in
            guard let schema else { return try session.engine.save(document, mode, in: collection) }
            return try schema.validated(document, of: collection).withUnsafeBytes {
                try session.engine.save($0, mode, in: collection)
            }
        }
    }

    /// Saves documents whose bytes follow each other, and returns their ids.
    func save(
        _ documents: UnsafeRawBufferPointer, sizes: [Int], _ mode: SaveMode, in collection: String
    ) throws -> [BSONValue] {
        try validating(collection) { session, schema in
            guard let schema else { return try session.engine.save(documents, sizes: sizes, mode, in: collection) }
            var bytes: [UInt8] = []
            var newSizes: [Int] = []
            var start = 0
            for (number, size) in sizes.enumerated() {
                let range = UnsafeRawBufferPointer(rebasing: documents[start..<start + size])
                let document = try schema.validated(range, of: collection, number: number)
                bytes += document.bytes
                newSizes.append(document.bytes.count)
                start += size
            }
            return try bytes.withUnsafeBytes {
                try session.engine.save($0, sizes: newSizes, mode, in: collection)
            }
        }
    }

    /// Updates the documents that match, and returns the engine's report.
    func update(
        _ query: BSONDocument, _ operations: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        try validating(collection) { session, schema in
            guard let schema else {
                return try session.engine.update(query, operations, hints, in: collection)
            }
            let matched = try session.matched(query, hints, in: collection)
            let result = try session.engine.update(query, operations, hints, in: collection)
            let upserted = result["upserted"]?.arrayValue.map(Array.init) ?? []
            try session.check(matched + upserted, schema, of: collection)
            return result
        }
    }

    /// Updates or removes the first document that matches; its bytes, or `nil` when there is none.
    func findAndModify(
        _ query: BSONDocument, _ mode: ModifyMode, _ hints: BSONDocument, in collection: String
    ) throws -> [UInt8]? {
        try validating(collection) { session, schema in
            guard let schema, case .update(let operations, let returnsNew) = mode else {
                return try session.engine.findAndModify(query, mode, hints, in: collection) { Array($0) }
            }
            var first = hints
            first["$limit"] = nil
            first["$max"] = 1
            let matched = try session.matched(query, first, in: collection)
            if !matched.isEmpty {
                let found = try session.engine.findAndModify(query, mode, hints, in: collection) { Array($0) }
                try session.check(matched, schema, of: collection)
                return found
            }
            // Nothing matches: what an upsert inserts is known by its _id only from an update.
            var fields = hints
            let shown = fields.removeValue(forKey: "$fields")
            let result = try session.engine.update(query, operations, fields, in: collection)
            guard let id = result["upserted"]?.arrayValue?.first else { return nil }
            try session.check([id], schema, of: collection)
            guard returnsNew else { return nil }
            return try session.engine.withCursor(
                ["_id": id], shown.map { ["$fields": $0] } ?? [:], in: collection
            ) { cursor in
                try cursor.next { Array($0) }
            }
        }
    }

    /// Removes the documents that match; how many.
    func remove(_ query: BSONDocument, _ hints: BSONDocument, from collection: String) throws -> Int {
        try engineForRemoval(collection).remove(query, hints, from: collection)
    }

    /// Removes the document with an id; whether it was there.
    package func remove(id: BSONValue, from collection: String) throws -> Bool {
        try engineForRemoval(collection).remove(id: id, from: collection)
    }

    private func engineForRemoval(_ collection: String) throws -> EngineScope {
        try collection.rejectOwnCollection()
        try checkMayWrite()
        return engine
    }

    /// The ids of the documents that an update is about to change.
    private func matched(_ query: BSONDocument, _ hints: BSONDocument, in collection: String) throws -> [BSONValue] {
        var (query, hints) = (query, hints)
        for key in ["$upsert", "$dropall"] { query[key] = nil }
        for key in ["$upsert", "$arrayFilters"] { hints[key] = nil }
        hints["$fields"] = ["_id": 1]
        var ids: [BSONValue] = []
        try engine.forEach(query, hints: hints, in: collection) { document in
            if let id = document["_id"] { ids.append(id) }
        }
        return ids
    }

    /// Throws when one of the documents, if they are still there, is not what the schema asks for.
    private func check(_ ids: [BSONValue], _ schema: DocumentSchema, of collection: String) throws {
        for id in ids {
            if let document = try engine.document(id, in: collection) { try schema.validate(document, of: collection) }
        }
    }
}

extension DocumentSchema {
    /// The document, validated; with an `_id`, which a schema may ask for.
    fileprivate func validated(
        _ bytes: UnsafeRawBufferPointer, of collection: String, number: Int? = nil
    ) throws -> BSONDocument {
        var document = BSONDocument(trustedBytes: Array(bytes))
        if !document.contains(key: "_id") { document = document.withID(.objectID(ObjectID())) }
        try validate(document, of: collection, number: number)
        return document
    }
}
