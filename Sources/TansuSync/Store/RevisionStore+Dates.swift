#if TansuSync
    import Foundation
    import Tansu
    import TansuBSON

    /// The dates of documents in a collection with timestamps. The engine dates what the app saves. The layer stores documents as copies, so
    /// that a replica keeps the dates of the others, and dates what clients edit itself: their revision has the dates.
    extension RevisionStore {
        private func timestamps() throws -> Database.Timestamps? {
            if let knownTimestamps { return knownTimestamps }
            let found = try transaction.session.collectionInfo(name)?.timestamps
            knownTimestamps = .some(found)
            return found
        }

        /// Whether the engine dates documents of the collection.
        var isDated: Bool { get throws { try timestamps() != nil } }

        /// Whether two bodies are the same but for their dates: replicas have made the same of a document, each at its own time, such
        /// as by a delete rule or a migration.
        func differsInDatesOnly(_ a: RevisionBody, _ b: RevisionBody) throws -> Bool {
            guard let timestamps = try timestamps(), a.files == b.files else { return false }
            var (one, other) = (a.fields, b.fields)
            for field in [timestamps.created, timestamps.updated].compactMap({ $0 }) {
                one[field] = nil
                other[field] = nil
            }
            return one == other
        }

        /// The fields of an edit with dates, by the rules of the engine.
        ///
        /// - Parameter former: The fields of the document that is replaced; nil when one is inserted.
        func dated(_ fields: BSONDocument, replacing former: () throws -> BSONDocument?) throws -> BSONDocument {
            guard let timestamps = try timestamps() else { return fields }
            var fields = fields
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            if let created = timestamps.created {
                if let former = try former() {
                    if let value = former[created] { fields[created] = value }
                } else {
                    fields[created] = .date(now)
                }
            }
            if let updated = timestamps.updated {
                let inserted = timestamps.created.flatMap { fields.date($0) }
                fields[updated] = .date(max(now, inserted ?? now))
            }
            return fields
        }

        /// The fields of a merge with the dates of both sides where it has none: the earlier date of the insertion, the later one of the
        /// last save. So the merge is the same document on every replica.
        func dated(_ fields: BSONDocument, merging sides: [BSONDocument]) throws -> BSONDocument {
            guard let timestamps = try timestamps() else { return fields }
            var fields = fields
            if let created = timestamps.created, !fields.contains(key: created),
                let date = sides.compactMap({ $0.date(created) }).min()
            {
                fields[created] = .date(date)
            }
            if let updated = timestamps.updated, !fields.contains(key: updated),
                let date = sides.compactMap({ $0.date(updated) }).max()
            {
                fields[updated] = .date(date)
            }
            return fields
        }
    }

    extension BSONDocument {
        fileprivate func date(_ field: String) -> Int64? {
            if case .date(let milliseconds)? = self[field] { return milliseconds }
            return nil
        }
    }
#endif
