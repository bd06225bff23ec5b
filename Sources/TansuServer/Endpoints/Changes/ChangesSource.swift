#if TansuServer
    import TansuSync

    /// The records that a page of changes is made of: those of an index, or those of a few documents.
    final class ChangesSource {
        private var found: [DocumentRecord] = []
        private var cursor: RevisionStore.Records?

        init(
            after start: Int64, _ query: ChangesQuery, _ filter: ChangesFilter, batch: Int, in store: RevisionStore
        ) throws {
            if case .ids(let ids) = filter, filter.looksUp {
                let records = try store.documents(ids.map(\.text)).values
                if query.isDescending {
                    found = records.filter { $0.sequence < start }.sorted { $0.sequence < $1.sequence }
                } else {
                    found = records.filter { $0.sequence > start }.sorted { $0.sequence > $1.sequence }
                }
            } else if query.isDescending {
                cursor = try store.changes(before: start, limit: batch)
            } else {
                cursor = try store.changes(after: start, limit: batch)
            }
        }

        func next() throws -> DocumentRecord? {
            guard let cursor else { return found.popLast() }
            return try cursor.read()
        }

        func close() { cursor?.close() }
    }
#endif
