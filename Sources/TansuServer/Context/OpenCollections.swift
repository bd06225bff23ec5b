#if TansuServer
    import Tansu
    import TansuBSON
    import TansuSync

    /// The databases that requests have used lately. One that nobody holds would be opened by each request, and all that was
    /// committed since its last change would be followed again.
    package final class OpenCollections: Sendable {
        private struct Entry {
            let collection: ReplicatedCollection
            var lastUse: ContinuousClock.Instant
        }

        private let database: Database
        private let entries = Locked<[BytewiseText: Entry]>([:])

        package init(_ database: Database) { self.database = database }

        /// How many there are.
        package var count: Int { entries.withLock { $0.count } }

        /// The collection of a database.
        package func collection(_ name: String) throws -> ReplicatedCollection {
            if let known = known(name) { return known }
            let collection = try ReplicatedCollection.existing(name, in: database)
            entries.withLock { $0[BytewiseText(name)] = Entry(collection: collection, lastUse: .now) }
            return collection
        }

        /// Whether a database is among these, and there. Others may be there as well.
        package func has(_ name: String) throws -> Bool { try known(name)?.isThere ?? false }

        /// Whether a database is among these.
        package func isOpen(_ name: String) -> Bool { entries.withLock { $0[BytewiseText(name)] != nil } }

        private func known(_ name: String) -> ReplicatedCollection? {
            let name = BytewiseText(name)
            return entries.withLock { entries in
                guard let entry = entries[name] else { return nil }
                if entry.collection.isDropped {
                    entries[name] = nil
                    return nil
                }
                entries[name]?.lastUse = .now
                return entry.collection
            }
        }

        /// Lets go of those that no request has used for some time: while one is open, compaction keeps the removals that it has not
        /// read.
        package func closeUnused(for duration: Duration) {
            entries.withLock { entries in entries = entries.filter { $0.value.lastUse + duration > .now } }
        }
    }
#endif
