#if TansuSync
    import TansuBSON

    extension RevisionTree {
        /// Whether the tree has the revision, if only its name.
        public func contains(_ revision: Revision) -> Bool { index(of: revision) != nil }

        /// What is known of a revision; nil when the tree does not have it.
        public func status(of revision: Revision) -> RevisionStatus? {
            index(of: revision).map { nodes[Int($0)].status }
        }

        /// Whether the tree has the revision and nothing was based on it.
        public func isLeaf(_ revision: Revision) -> Bool {
            index(of: revision).map { nodes[Int($0)].childCount == 0 } ?? false
        }

        /// The revision that a revision was based on, if it is known.
        public func parent(of revision: Revision) -> Revision? {
            guard let index = index(of: revision) else { return nil }
            let parent = nodes[Int(index)].parent
            return parent == Self.none ? nil : nodes[Int(parent)].revision
        }

        /// A revision with the ancestors that the tree has, as CouchDB's `_revisions`; nil when the tree does not have it.
        ///
        /// - Parameter limit: The greatest number of revisions, for which CouchDB takes `_revs_limit`. A tree can have more
        ///   ancestors of a revision, because a shorter branch keeps them.
        public func path(of revision: Revision, limit: Int = .max) -> RevisionPath? {
            index(of: revision).map { index in
                let hashes = ancestry(of: index).lazy.prefix(max(1, limit)).map { nodes[Int($0)].hash }
                return RevisionPath(generation: revision.generation, hashes: Array(hashes))
            }
        }

        /// A revision and its ancestors with what is known of each, newest first; empty when the tree does not have it.
        ///
        /// CouchDB's `_revs_info` is that of the winner.
        public func history(of revision: Revision) -> [(revision: Revision, status: RevisionStatus)] {
            guard let index = index(of: revision) else { return [] }
            return ancestry(of: index).map { (nodes[Int($0)].revision, nodes[Int($0)].status) }
        }

        /// The leaves that descend from a revision, the best first: itself when it is a leaf, none when the tree does not
        /// have it.
        public func latest(of revision: Revision) -> [Leaf] {
            guard let index = index(of: revision) else { return [] }
            return leaves.filter { leaf in
                // A leaf is in the tree, and its ancestors are older and older.
                guard let leafIndex = self.index(of: leaf.revision) else { return false }
                return ancestry(of: leafIndex).lazy.prefix { nodes[Int($0)].generation >= revision.generation }
                    .contains(index)
            }
        }

        /// The revisions that the tree does not have, in the given order and each once, as `_revs_diff` answers.
        public func missing(of revisions: some Sequence<Revision>) -> [Revision] {
            var seen: Set<Revision> = []
            return revisions.filter { !contains($0) && seen.insert($0).inserted }
        }

        /// The leaves that are older than some of the missing revisions, which so may descend from them, as
        /// `possible_ancestors` of `_revs_diff`; the best last.
        ///
        /// - Parameter limit: The greatest number of leaves; the best are taken.
        public func possibleAncestors(of missing: some Sequence<Revision>, limit: Int) -> [Revision] {
            guard let newest = missing.lazy.map(\.generation).max() else { return [] }
            return leaves.lazy.map(\.revision).filter { $0.generation < newest }.prefix(max(0, limit)).reversed()
        }

        /// A node and its ancestors.
        func ancestry(of index: Int32) -> some Sequence<Int32> {
            sequence(first: index) { index in
                let parent = nodes[Int(index)].parent
                return parent == Self.none ? nil : parent
            }
        }
    }
#endif
