#if TansuSync
    import Tansu
    import TansuBSON

    extension RevisionStore {
        /// The JSON indexes that the design documents define.
        package func findIndexes() throws -> [Mango.Index] {
            let designs = try designDocuments()
            let revisions = designs.map { "\($0.sequence) \($0.winner) \($0.id)" }
            if let known = definitions?.indexes(of: revisions) { return known }
            var indexes: [Mango.Index] = []
            for record in designs {
                guard let document = try wholeDocument(record) else { continue }
                indexes += Mango.Index.indexes(of: document)
            }
            definitions?.note(indexes, of: revisions)
            return indexes
        }
    }

    extension ReplicatedCollection {
        /// How often a query brings an index up to date before it does both in one write transaction.
        private static let attempts = 3

        /// The documents that a Mango query finds.
        ///
        /// The index that serves it is brought up to date first, unless the query says `update: false`.
        ///
        /// - Parameters:
        ///   - query: The query.
        ///   - page: How much one answer holds; its bookmark leads on.
        /// - Throws: ``Mango/QueryError`` as CouchDB; `TansuError`.
        package func find(_ query: Mango.Query, page: Find.Page = .init()) throws -> Mango.Answer {
            for _ in 0..<Self.attempts {
                let found: Found = try read { store in
                    let find = try Find(query, indexes: store.findIndexes(), collection: name, page: page)
                    guard try find.isCurrent(store) else { return .outdated }
                    return .answer(try find.answer(store))
                }
                if case .answer(let answer) = found { return answer }
                while try !write({
                    try Find(query, indexes: $0.findIndexes(), collection: name, page: page).update($0)
                }) {}
            }
            return try write(readingAll: true) { store in
                let find = try Find(query, indexes: store.findIndexes(), collection: name, page: page)
                while try !find.update(store) {}
                return try find.answer(store)
            }
        }

        /// The answer to a query of few entries of an index that is up to date, found where the caller runs.
        ///
        /// - Returns: Nil when it takes longer; then ``find(_:page:)`` has to.
        package func findAtOnce(_ query: Mango.Query) throws -> Mango.Answer? {
            let found: Mango.Answer?? = try readAtOnce { store in
                let find = try Find(query, indexes: store.findIndexes(), collection: name, page: Find.Page())
                return try find.isCurrent(store) ? find.shortAnswer(store) : nil
            }
            return found ?? nil
        }

        private enum Found {
            case answer(Mango.Answer)
            case outdated
        }

        /// The asynchronous variant: on a thread of the database.
        package func find(_ query: Mango.Query, page: Find.Page = .init()) async throws -> Mango.Answer {
            try await database.runReading { _ in try self.find(query, page: page) }
        }

        /// The body of CouchDB's `_explain`.
        package func explain(_ query: Mango.Query) throws -> BSONDocument {
            try read { try Mango.Plan(query, indexes: $0.findIndexes()).explanation(database: name) }
        }

        /// Drops the stored entries of indexes that no design document defines any more.
        package func removeUnusedIndexes() throws {
            try write { store in
                let used = try store.findIndexes().map { FindIndex($0, of: name).signature }
                try FindIndexNames.drop(name, store.transaction, keeping: used)
            }
        }
    }
#endif
