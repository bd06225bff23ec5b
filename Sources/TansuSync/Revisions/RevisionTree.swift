#if TansuSync
    import TansuBSON

    /// The history of one document: its revisions and which one each is an edit of, by CouchDB's rules.
    ///
    /// A revision without children is a leaf. The winner is the leaf that is not deleted, has the highest generation and
    /// then the highest hash; the other leaves are conflicts. There are several roots when paths without a common ancestor
    /// were merged, or after ``stem(to:)``.
    ///
    /// The nodes are in a flat array. Those of one generation are linked, so that a merge looks at the generations of its
    /// path only: its cost grows with the length of the path and the number of branches, not with that of the tree.
    public struct RevisionTree: Sendable {
        /// The greatest number of revisions that a tree can have.
        public static let maximumCount = 400_000

        struct Node: Sendable {
            let generation: Int
            let hash: RevisionHash
            var status: RevisionStatus
            /// The index of the parent, or ``none``.
            var parent: Int32
            var childCount: Int32 = 0
            /// The index of another node of the same generation, or ``none``.
            var nextInLevel: Int32 = RevisionTree.none

            var revision: Revision { Revision(generation: generation, hash: hash) }
        }

        /// The nodes of one generation: the index of the first one.
        struct Level: Sendable {
            let generation: Int
            var first: Int32
        }

        /// In place of an index.
        static let none: Int32 = -1

        private(set) var nodes: [Node] = []
        /// Sorted by generation.
        private(set) var levels: [Level] = []
        /// The indexes of the nodes without children, in no order.
        private(set) var leafIndexes: [Int32] = []

        /// The merges since the last stemming that made one tree of two.
        private(set) var joins: [Join] = []

        /// A path that was merged reached from one tree into another.
        struct Join: Sendable {
            /// The newest revision of the path.
            let tip: Int32
            /// The newest revision of the path in the newer tree: a leaf there, or not.
            let newestShared: Int32
            /// Whether it was a leaf.
            let wasLeaf: Bool
            /// What was the root of the newer tree.
            let formerRoot: Int32
        }

        /// Creates a tree without revisions.
        public init() {}

        /// Creates a tree of nodes whose parents are indexes of the same array, in any order.
        init(nodes: [Node]) {
            self.nodes = nodes
            // Most documents were never edited.
            if nodes.count == 1, nodes[0].parent == Self.none {
                self.nodes[0].childCount = 0
                self.nodes[0].nextInLevel = Self.none
                levels = [Level(generation: nodes[0].generation, first: 0)]
                leafIndexes = [0]
                return
            }
            var fresh: [Level] = []
            for index in nodes.indices {
                self.nodes[index].childCount = 0
                self.nodes[index].nextInLevel = Self.none
                // Nodes in the order of their generations need no search.
                if let last = fresh.last, last.generation == nodes[index].generation {
                    self.nodes[index].nextInLevel = last.first
                    fresh[fresh.count - 1].first = Int32(index)
                } else {
                    fresh.append(Level(generation: nodes[index].generation, first: Int32(index)))
                }
            }
            insert(fresh)
            for node in nodes where node.parent != Self.none { self.nodes[Int(node.parent)].childCount += 1 }
            leafIndexes = nodes.indices.filter { self.nodes[$0].childCount == 0 }.map { Int32($0) }
        }

        /// The number of revisions, missing ones included.
        public var count: Int { nodes.count }
        /// Whether there is no revision.
        public var isEmpty: Bool { nodes.isEmpty }

        // MARK: Looking up

        func index(of revision: Revision) -> Int32? { index(generation: revision.generation, hash: revision.hash) }

        func index(generation: Int, hash: RevisionHash) -> Int32? {
            guard let level = level(of: generation) else { return nil }
            var index = levels[level].first
            while index != Self.none {
                if nodes[Int(index)].hash == hash { return index }
                index = nodes[Int(index)].nextInLevel
            }
            return nil
        }

        private func level(of generation: Int) -> Int? {
            guard let newest = levels.last, newest.generation >= generation else { return nil }
            var low = 0
            var high = levels.count - 1
            while low < high {
                let middle = (low + high) / 2
                if levels[middle].generation < generation { low = middle + 1 } else { high = middle }
            }
            return levels[low].generation == generation ? low : nil
        }

        // MARK: Changing

        /// Adds nodes that have no children yet, oldest first. The parent of each, and the child of all but the last one, may
        /// be among them.
        mutating func add(_ added: [Node]) {
            var fresh: [Level] = []
            for var node in added {
                let index = Int32(nodes.count)
                if let level = level(of: node.generation) {
                    node.nextInLevel = levels[level].first
                    levels[level].first = index
                } else {
                    fresh.append(Level(generation: node.generation, first: index))
                }
                nodes.append(node)
            }
            insert(fresh)
        }

        /// Adds levels at once, because each insertion moves all newer ones. Levels of one generation become one.
        private mutating func insert(_ fresh: [Level]) {
            guard let first = fresh.first else { return }
            let isNewer = (levels.last?.generation ?? 0) < first.generation
            levels += fresh
            let isSorted = zip(fresh, fresh.dropFirst()).allSatisfy { $0.generation < $1.generation }
            if isNewer && isSorted { return }
            levels.sort { ($0.generation, $0.first) < ($1.generation, $1.first) }
            var merged: [Level] = []
            merged.reserveCapacity(levels.count)
            for level in levels {
                guard let last = merged.last, last.generation == level.generation else {
                    merged.append(level)
                    continue
                }
                var end = level.first
                while nodes[Int(end)].nextInLevel != Self.none { end = nodes[Int(end)].nextInLevel }
                nodes[Int(end)].nextInLevel = last.first
                merged[merged.count - 1].first = level.first
            }
            levels = merged
        }

        /// Makes a root the child of a node. ``updateLeaves(adding:)`` must follow.
        mutating func link(_ child: Int32, to parent: Int32) {
            nodes[Int(child)].parent = parent
            nodes[Int(parent)].childCount += 1
        }

        /// Forgets the leaves that got children.
        mutating func updateLeaves(adding leaf: Int32?) {
            leafIndexes.removeAll { nodes[Int($0)].childCount > 0 }
            if let leaf { leafIndexes.append(leaf) }
        }

        mutating func note(_ join: Join) { joins.append(join) }
        mutating func forgetJoins() { joins = [] }

        mutating func setStatus(_ status: RevisionStatus, at index: Int32) { nodes[Int(index)].status = status }

        /// Makes a node a root. ``keep(where:)`` must follow.
        mutating func unlink(_ child: Int32) { nodes[Int(child)].parent = Self.none }

        /// Keeps some of the nodes. A node whose parent is not kept becomes a root.
        mutating func keep(where isKept: (Int) -> Bool) {
            let removedCount = nodes.indices.first(where: isKept) ?? count
            // A linear history loses its oldest revisions at each edit.
            if count == levels.count, nodes.indices.dropFirst(removedCount).allSatisfy(isKept) {
                removeFirst(removedCount)
                return
            }
            var positions = [Int32](repeating: Self.none, count: nodes.count)
            var kept: [Node] = []
            kept.reserveCapacity(nodes.count)
            for index in nodes.indices where isKept(index) {
                positions[index] = Int32(kept.count)
                kept.append(nodes[index])
            }
            for index in kept.indices where kept[index].parent != Self.none {
                kept[index].parent = positions[Int(kept[index].parent)]
            }
            self = RevisionTree(nodes: kept)
        }

        /// Removes the first nodes where every generation has one. None of the others may lose a child.
        private mutating func removeFirst(_ removedCount: Int) {
            let shift = Int32(removedCount)
            nodes.removeFirst(removedCount)
            for index in nodes.indices { nodes[index].parent = max(nodes[index].parent - shift, Self.none) }
            levels.removeAll { $0.first < shift }
            for index in levels.indices { levels[index].first -= shift }
            leafIndexes.removeAll { $0 < shift }
            for index in leafIndexes.indices { leafIndexes[index] -= shift }
        }
    }
#endif
