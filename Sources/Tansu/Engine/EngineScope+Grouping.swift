import CTansu

extension EngineScope {
    /// The engine's answer with the distinct values of a path.
    func distinct(
        _ path: String, _ query: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        guard !path.utf8.contains(0) else {
            throw TansuError(.invalidQuery, "The path has a NUL character; remove it", context: path)
        }
        track(query, hints, in: collection)
        return try measured(MeasuredCall(kind: .distinct, collection: collection, query: query)) {
            try withBytes(query, hints) { query, hints in
                try document { database, transaction, buffer, error in
                    tansu_distinct(
                        database, transaction, collection, path, tansu_document(query), tansu_document(hints), buffer,
                        error)
                }
            }
        }
    }

    /// The engine's answer with the aggregates of groups of documents.
    func aggregate(
        _ query: BSONDocument, _ group: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        track(query, hints, in: collection)
        // The hints apply to the groups: the query is explained without them.
        return try measured(MeasuredCall(kind: .aggregate, collection: collection, query: query)) {
            try withBytes(query, group, hints) { query, group, hints in
                try document { database, transaction, buffer, error in
                    tansu_aggregate(
                        database, transaction, collection, tansu_document(query), tansu_document(group),
                        tansu_document(hints), buffer, error)
                }
            }
        }
    }
}
