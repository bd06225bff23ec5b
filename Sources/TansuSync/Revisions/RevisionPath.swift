#if TansuSync
    import TansuBSON

    /// A revision with its ancestors as far as they are known, newest first, as CouchDB's `_revisions` lists them.
    public struct RevisionPath: Sendable, Hashable {
        /// The generation of the newest revision.
        let generation: Int
        /// One hash for each generation, from the newest down.
        let hashes: [RevisionHash]

        init(generation: Int, hashes: [RevisionHash]) {
            self.generation = generation
            self.hashes = hashes
        }

        /// Creates a path from the two members of CouchDB's `_revisions`.
        ///
        /// - Parameters:
        ///   - start: The generation of the newest revision.
        ///   - ids: The hashes, newest first. The last one has generation `start - ids.count + 1`.
        /// - Throws: ``RevisionError`` when a hash is invalid, when there is none, or when there are more than generations.
        public init(start: Int, ids: some Collection<String>) throws(RevisionError) {
            try Revision.validate(start)
            guard !ids.isEmpty, ids.count <= start else {
                throw RevisionError(
                    .invalidPath, "The path of revision generation \(start) has \(ids.count) hashes; give 1 to \(start)"
                )
            }
            generation = start
            var hashes: [RevisionHash] = []
            hashes.reserveCapacity(ids.count)
            for id in ids { hashes.append(try RevisionHash(utf8: id.utf8)) }
            self.hashes = hashes
        }

        /// Creates the path of a revision whose ancestors are not known.
        public init(_ revision: Revision) {
            self.init(generation: revision.generation, hashes: [revision.hash])
        }

        /// Creates the path of an edit of a revision.
        ///
        /// - Throws: ``RevisionError`` when the parent is not of the generation before.
        public init(_ revision: Revision, parent: Revision) throws(RevisionError) {
            guard parent.generation + 1 == revision.generation else {
                throw RevisionError(.invalidPath, "Revision \(revision) cannot have the parent \(parent)")
            }
            self.init(generation: revision.generation, hashes: [revision.hash, parent.hash])
        }

        /// The newest revision.
        public var revision: Revision { self[0] }
        /// The number of revisions.
        public var count: Int { hashes.count }
        /// The revisions, newest first.
        public var revisions: [Revision] { hashes.indices.map { self[$0] } }
        /// The hashes as CouchDB's `_revisions.ids` has them.
        public var ids: [String] { hashes.map(\.description) }

        /// The revision that is that many generations older than the newest.
        subscript(age: Int) -> Revision { Revision(generation: generation - age, hash: hashes[age]) }
    }
#endif
