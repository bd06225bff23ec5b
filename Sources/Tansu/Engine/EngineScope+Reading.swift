import CTansu

extension EngineScope {
    /// Runs `body` on the document with an id; `nil` when there is none.
    ///
    /// `body` runs after the call, because it may be a decoder that makes calls itself.
    func get<Result>(
        _ id: BSONValue, from collection: String, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        track(id, in: collection)
        return try withEngineBuffer { buffer in
            do {
                try BSONDocument(key: "_id", value: id).withUnsafeBytes { id in
                    try measured(MeasuredCall(kind: .get, collection: collection)) {
                        try call { database, transaction, error in
                            tansu_get(database, transaction, collection, tansu_document(id), &buffer, error)
                        }
                    }
                }
            } catch let error as TansuError where error.code == .notFound {
                return nil
            }
            return try body(buffer.bytes)
        }
    }

    /// Runs `body` on each document with one of some ids, in their order.
    ///
    /// `body` runs between the calls, because it may be a decoder that makes calls itself.
    func get(
        _ ids: [BSONValue], from collection: String, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        for id in ids { track(id, in: collection) }
        try withEngineBuffer { buffer in
            // A list of ids is limited like any document.
            for start in stride(from: 0, to: ids.count, by: 1000) {
                let part = ids[start..<min(start + 1000, ids.count)]
                let list = BSONArray(part).document
                var next = 0
                while next < part.count {
                    let first = next
                    try list.withUnsafeBytes { ids in
                        try measured(MeasuredCall(kind: .get, collection: collection)) {
                            try call { database, transaction, error in
                                tansu_get_many(
                                    database, transaction, collection, tansu_document(ids), first, &buffer, &next, error
                                )
                            }
                        }
                    }
                    try buffer.bytes.forEachDocumentOfFirstArray(body)
                }
            }
        }
    }

    /// How many documents match.
    func count(_ query: BSONDocument, _ hints: BSONDocument, in collection: String) throws -> Int {
        track(query, hints, in: collection)
        var count: Int64 = 0
        try measured(MeasuredCall(kind: .count, collection: collection, query: query, hints: recorded(hints))) {
            try withBytes(query, hints) { query, hints in
                try call { database, transaction, error in
                    tansu_count(
                        database, transaction, collection, tansu_document(query), tansu_document(hints), &count, error)
                }
            }
        }
        return Int(count)
    }

    /// The collections that a query reads: its own first, those that it joins, those of its subqueries, and those that it
    /// reaches through references.
    func collections(
        readBy query: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> [String] {
        let result = try withBytes(query, hints) { query, hints in
            try document { database, transaction, buffer, error in
                tansu_query_collections(
                    database, transaction, collection, tansu_document(query), tansu_document(hints),
                    buffer, error)
            }
        }
        return result["collections"]?.arrayValue?.compactMap(\.stringValue) ?? [collection]
    }

    /// How a query is run.
    func explain(_ query: BSONDocument, _ hints: BSONDocument, in collection: String) throws -> BSONDocument {
        track(query, hints, in: collection)
        return try withBytes(query, hints) { query, hints in
            try document { database, transaction, buffer, error in
                tansu_explain(
                    database, transaction, collection, tansu_document(query), tansu_document(hints),
                    buffer, error)
            }
        }
    }
}
