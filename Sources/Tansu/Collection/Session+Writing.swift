// What collections write goes through here, and is held against their schemas.
extension Session {
    /// Runs `body` in a transaction: one of its own, or the one that there is. When `body` throws, what it did is taken
    /// back.
    func writing<Result>(_ body: (Session) throws -> Result) throws -> Result {
        guard let transaction else {
            return try database.write(durability: nil, stoppedBy: nil) { try body($0.session) }
        }
        return try transaction.savepoint { try body(self) }
    }

    /// Saves documents that lie one behind another, and returns their ids.
    func save(
        _ documents: UnsafeRawBufferPointer, sizes: [Int], _ mode: SaveMode, in collection: String
    ) throws -> [BSONValue] {
        try checking(collection) { session, schema in
            guard let schema else {
                return try session.writing().save(documents, sizes: sizes, mode, in: collection)
            }
            // An _id that the engine would give comes before the check: a schema may ask for it.
            var bytes: [UInt8] = []
            var newSizes: [Int] = []
            var start = 0
            for (number, size) in sizes.enumerated() {
                let range = UnsafeRawBufferPointer(rebasing: documents[start..<start + size])
                var document = BSONDocument(trustedBytes: Array(range))
                if !document.contains(key: "_id") { document = document.withID(.objectID(ObjectID())) }
                try schema.validate(document, of: collection, number: number)
                bytes += document.bytes
                newSizes.append(document.bytes.count)
                start += size
            }
            return try bytes.withUnsafeBytes {
                try session.reading.save($0, sizes: newSizes, mode, in: collection)
            }
        }
    }

    /// Updates the documents that match; what came of it, as the engine tells it.
    func update(
        _ query: BSONDocument, _ operations: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        try checking(collection) { session, schema in
            guard let schema else {
                return try session.writing().update(query, operations, hints, in: collection)
            }
            let matched = try session.matched(query, hints, in: collection)
            let result = try session.reading.update(query, operations, hints, in: collection)
            let upserted = result["upserted"]?.arrayValue.map(Array.init) ?? []
            try session.check(matched + upserted, schema, of: collection)
            return result
        }
    }

    /// Updates or removes the first document that matches; its bytes, or `nil` when there is none.
    func findAndModify(
        _ query: BSONDocument, _ mode: ModifyMode, _ hints: BSONDocument, in collection: String
    ) throws -> [UInt8]? {
        try checking(collection) { session, schema in
            guard let schema, case .update(let operations, let returned) = mode else {
                return try session.writing().findAndModify(query, mode, hints, in: collection) { Array($0) }
            }
            var first = hints
            first["$limit"] = nil
            first["$max"] = 1
            let matched = try session.matched(query, first, in: collection)
            if !matched.isEmpty {
                let found = try session.reading.findAndModify(query, mode, hints, in: collection) { Array($0) }
                try session.check(matched, schema, of: collection)
                return found
            }
            // Nothing matches: what an upsert inserts is known by its _id only from an update.
            var fields = hints
            let shown = fields.removeValue(forKey: "$fields")
            let result = try session.reading.update(query, operations, fields, in: collection)
            guard let id = result["upserted"]?.arrayValue?.first else { return nil }
            try session.check([id], schema, of: collection)
            guard returned == .after else { return nil }
            let cursor = try EngineCursor(
                session.reading, collection: collection, query: ["_id": id],
                hints: shown.map { ["$fields": $0] } ?? [:])
            defer { cursor.close() }
            return try cursor.next { Array($0) }
        }
    }

    /// Removes the documents that match; how many.
    func remove(_ query: BSONDocument, _ hints: BSONDocument, from collection: String) throws -> Int {
        try checkedForRemoval(collection).remove(query, hints, from: collection)
    }

    /// Removes the document with an id; whether it was there.
    func remove(id: BSONValue, from collection: String) throws -> Bool {
        try checkedForRemoval(collection).remove(id: id, from: collection)
    }

    private func checkedForRemoval(_ collection: String) throws -> EngineScope {
        try collection.refuseSchemas()
        return try writing()
    }

    /// The ids of the documents that an update is about to change.
    private func matched(_ query: BSONDocument, _ hints: BSONDocument, in collection: String) throws -> [BSONValue] {
        var (query, hints) = (query, hints)
        for key in ["$upsert", "$dropall"] { query[key] = nil }
        for key in ["$upsert", "$arrayFilters"] { hints[key] = nil }
        hints["$fields"] = ["_id": 1]
        var ids: [BSONValue] = []
        try reading.forEach(query, hints: hints, in: collection) { document in
            if let id = document["_id"] { ids.append(id) }
        }
        return ids
    }

    /// Throws when one of the documents, if they are still there, is not what the schema asks for.
    private func check(_ ids: [BSONValue], _ schema: DocumentSchema, of collection: String) throws {
        for id in ids {
            if let document = try reading.document(id, in: collection) { try schema.validate(document, of: collection) }
        }
    }
}
