#if TansuSync
    import TansuBSON

    extension RevisionTree {
        /// A revision without children.
        public struct Leaf: Sendable, Hashable {
            /// The revision.
            public let revision: Revision
            /// Whether it is a tombstone.
            public let isDeleted: Bool
        }

        private func leaf(_ index: Int32) -> Leaf {
            let node = nodes[Int(index)]
            return Leaf(revision: node.revision, isDeleted: node.status == .deleted)
        }

        /// The revisions without children, the winner first: those that are not deleted before the others, newer before
        /// older ones.
        public var leaves: [Leaf] { leafIndexes.map(leaf).sorted(by: Leaf.precedes) }

        /// The number of revisions without children.
        public var leafCount: Int { leafIndexes.count }

        /// The revision that is the document; nil in an empty tree.
        public var winner: Leaf? { leafIndexes.lazy.map(leaf).min(by: Leaf.precedes) }

        /// Whether the document is deleted because its winner is. An empty tree is no deleted document.
        public var isDeleted: Bool { winner?.isDeleted ?? false }

        /// The leaves other than the winner that are not deleted, newest first.
        public var conflicts: [Revision] { leaves.dropFirst().filter { !$0.isDeleted }.map(\.revision) }

        /// The deleted leaves other than the winner, newest first.
        public var deletedConflicts: [Revision] { leaves.dropFirst().filter(\.isDeleted).map(\.revision) }
    }

    extension RevisionTree.Leaf {
        /// Whether the first leaf wins over the second.
        static func precedes(_ a: Self, _ b: Self) -> Bool {
            a.isDeleted != b.isDeleted ? b.isDeleted : a.revision > b.revision
        }
    }
#endif
