import CTansu

extension EngineScope {
    /// The different values of a path, as the engine tells them.
    func distinct(
        _ path: String, _ query: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        guard !path.utf8.contains(0) else {
            throw TansuError(.invalidQuery, "a path cannot hold a NUL character", context: path)
        }
        return try measured(MeasuredCall(kind: .distinct, collection: collection, query: query)) {
            try withBytes(query, hints) { query, hints in
                try document { database, transaction, buffer, error in
                    tansu_distinct(
                        database, transaction, collection, path, query.baseAddress, query.count, hints.baseAddress,
                        hints.count, buffer, error)
                }
            }
        }
    }

    /// Figures about groups of documents, as the engine tells them.
    func aggregate(
        _ query: BSONDocument, _ group: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        // The hints are about groups: the query is explained without them.
        try measured(MeasuredCall(kind: .aggregate, collection: collection, query: query)) {
            try withBytes(query, group, hints) { query, group, hints in
                try document { database, transaction, buffer, error in
                    tansu_aggregate(
                        database, transaction, collection, query.baseAddress, query.count, group.baseAddress,
                        group.count, hints.baseAddress, hints.count, buffer, error)
                }
            }
        }
    }
}
