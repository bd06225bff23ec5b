#if TansuSync
    import Tansu
    import TansuBSON

    extension FindIndex {
        /// How many documents a write transaction reads.
        static let batchSize = 5000

        /// Below all ids that are text: no id is empty.
        private static var beforeTexts: BSONValue { "" }
        /// Below all ids that are ObjectIds: those have a time of creation.
        private static var beforeObjectIDs: BSONValue { .objectID(.zero) }

        /// Follows a batch of changes.
        ///
        /// The first pass reads all documents in the order of their ids, one batch in each transaction. Changes meanwhile are
        /// followed afterwards, because it began at an update sequence before them.
        ///
        /// - Returns: Whether the index has all changes now.
        func update(_ store: RevisionStore) throws -> Bool {
            let newest = store.info().updateSequence
            let saved = try state(store.transaction, store.name)
            // Entries without a state are of a former collection of the name.
            if saved == nil { try store.transaction.dropCollection(entries) }
            var state = saved ?? State(sequence: newest, passed: Self.beforeTexts)
            if state.passed != nil {
                try build(store, &state)
            } else {
                try follow(store, &state, newest)
            }
            try save(state, store.transaction, store.name)
            return state.passed == nil && state.sequence == newest
        }

        /// A batch of the first pass: text ids first, then ObjectIds, since a query compares values of one type.
        private func build(_ store: RevisionStore, _ state: inout State) throws {
            let entries = try store.transaction.collection(entries)
            let documents = try store.transaction.collection(store.name)
            var added: [BSONDocument] = []
            var count = 0
            let passed = state.passed ?? Self.beforeTexts
            let cursor = try documents.find(
                ["_id": ["$gt": passed]], hints: ["$orderby": ["_id": 1], "$max": BSONValue(Self.batchSize)]
            ).makeCursor()
            while let document = try cursor.next() {
                count += 1
                guard let stored = document["_id"] else { continue }
                state.passed = stored
                guard let id = RevisionStore.wireID(of: stored) else { continue }
                let whole =
                    needsRevision
                    ? try store.document(id).flatMap { try store.wholeDocument($0, includesConflicts: true) }
                    : document.withID(id)
                if let whole, let entry = try entry(of: whole, id: id) { added.append(entry) }
            }
            try entries.save(added)
            guard count < Self.batchSize else { return }
            if case .string = passed {
                state.passed = Self.beforeObjectIDs
            } else {
                state.passed = nil
                try entries.ensureIndex("by_document", on: ["d": .ascending])
            }
        }

        /// A batch of changes since the last one.
        private func follow(_ store: RevisionStore, _ state: inout State, _ newest: Int64) throws {
            let entries = try store.transaction.collection(entries)
            var changed: [BSONValue] = []
            var added: [BSONDocument] = []
            let changes = try store.changes(after: state.sequence, limit: Self.batchSize)
            while let record = try changes.read() {
                state.sequence = record.sequence
                changed.append(.string(record.id))
                guard !record.isDeleted, let document = try store.wholeDocument(record, includesConflicts: true) else {
                    continue
                }
                if let entry = try entry(of: document, id: record.id) { added.append(entry) }
            }
            if changed.count < Self.batchSize { state.sequence = newest }
            try entries.remove(["d": ["$in": .array(BSONArray(changed))]])
            try entries.save(added)
        }
    }
#endif
