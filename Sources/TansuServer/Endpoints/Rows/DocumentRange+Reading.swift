#if TansuServer
    import TansuBSON
    import TansuSync

    extension DocumentRange {
        /// The documents of the range in its order.
        func forEach(in store: RevisionStore, _ body: (DocumentRecord) throws -> Bool) throws {
            guard !isEmpty(in: store) else { return }
            let cursor = try store.documents(from: lower, to: upper, isDescending: isDescending)
            defer { cursor.close() }
            while let record = try cursor.read() {
                if !excludes(record.id), try !body(record) { return }
            }
        }

        /// How many documents are in the range.
        func count(in store: RevisionStore) throws -> Int {
            let cursor = try store.documents(from: lower, to: upper)
            defer { cursor.close() }
            var count = 0
            while let record = try cursor.read() {
                if !excludes(record.id) { count += 1 }
            }
            return count
        }

        /// How many documents come before the range.
        func countBefore(in store: RevisionStore) throws -> Int {
            guard let start = isDescending ? upper : lower else { return 0 }
            return try store.documentCount(before: start, isDescending: isDescending)
        }

        private func isEmpty(in store: RevisionStore) -> Bool {
            if upper == "", !includesUpper { return true }
            // Ids that are no text have another order than their names.
            guard !store.isUnrecorded, let lower, let upper else { return false }
            return upper.utf8.lexicographicallyPrecedes(lower.utf8)
        }
    }
#endif
