#if TansuSync
    import TansuBSON

    extension RevisionTree {
        /// Removes the revisions that are `limit` or more edits older than every leaf that descends from them.
        ///
        /// This is CouchDB's `_revs_limit`: each leaf keeps its `limit` newest revisions. Leaves stay. What had a removed
        /// parent becomes a root. It is called after each batch of merges.
        ///
        /// A batch in which a path joined two trees is a special case in CouchDB. There the path becomes part of the older
        /// tree only, and the newer tree stays as it is until stemming rebuilds both of the `limit` newest revisions of
        /// each leaf. So its leaves keep nothing above what was its root, the path keeps what it would if its newest revision
        /// were a leaf, and a revision that is the oldest which its leaves keep becomes a root.
        ///
        /// - Returns: Whether the tree changed.
        @discardableResult
        public mutating func stem(to limit: Int) -> Bool {
            defer { forgetJoins() }
            let limit = max(1, limit)
            guard let oldest = levels.first, let newest = levels.last,
                newest.generation - oldest.generation >= limit
            else { return false }
            if joins.isEmpty {
                let distances = distancesToLeaves()
                guard distances.contains(where: { $0 >= limit }) else { return false }
                keep { distances[$0] < limit }
                return true
            }
            let distances = distancesToLeavesAfterJoins(limit)
            let cut = nodes.indices.filter { isCut($0, distances, limit) }
            for index in cut { unlink(Int32(index)) }
            let isKept = withDescendants { distances[$0] < limit }
            guard !cut.isEmpty || isKept.contains(false) else { return false }
            keep { isKept[$0] }
            return true
        }

        /// The leaves, and of the other nodes for which a condition holds those from which a leaf is still reached.
        private func withDescendants(_ condition: (Int) -> Bool) -> [Bool] {
            var isKept = [Bool](repeating: false, count: count)
            for leaf in leafIndexes {
                for index in ancestry(of: leaf) {
                    if isKept[Int(index)] || !(index == leaf || condition(Int(index))) { break }
                    isKept[Int(index)] = true
                }
            }
            return isKept
        }

        /// Whether the node is the oldest that its leaves keep, after a join, so that CouchDB makes it a root.
        ///
        /// CouchDB also cuts off the children of a revision that was a leaf before the join, and so makes it a leaf again.
        /// Here stemming never changes the leaves: what was edited does not come back as a conflict.
        private func isCut(_ index: Int, _ distances: [Int], _ limit: Int) -> Bool {
            let parent = nodes[index].parent
            return parent != Self.none && distances[index] == limit - 1 && distances[Int(parent)] > 0
        }

        /// The number of edits between each node and the nearest leaf.
        ///
        /// - Parameter roots: Nodes whose ancestors are not reached through them.
        private func distancesToLeaves(within roots: Set<Int32> = []) -> [Int] {
            // A node that is not reached is farther away than any limit.
            var distances = nodes.map { $0.childCount == 0 ? 0 : Int.max - 1 }
            for level in levels.reversed() {
                var index = level.first
                while index != Self.none {
                    let parent = nodes[Int(index)].parent
                    if parent != Self.none, roots.isEmpty || !roots.contains(index) {
                        let distance = min(distances[Int(index)], Int.max - 2) + 1
                        distances[Int(parent)] = min(distances[Int(parent)], distance)
                    }
                    index = nodes[Int(index)].nextInLevel
                }
            }
            return distances
        }

        /// The same when trees were joined since the last stemming: up to a limit, and what counts as a leaf.
        private func distancesToLeavesAfterJoins(_ limit: Int) -> [Int] {
            var distances = distancesToLeaves(within: Set(joins.map(\.formerRoot)))
            func count(_ index: Int32, _ distance: Int) {
                distances[Int(index)] = min(distances[Int(index)], distance)
            }
            for tip in Set(joins.map(\.tip)) {
                for (distance, index) in ancestry(of: tip).prefix(limit).enumerated() { count(index, distance) }
            }
            for join in joins where join.wasLeaf {
                for (distance, index) in ancestry(of: join.newestShared).prefix(limit).enumerated() {
                    count(index, distance)
                    if index == join.formerRoot { break }
                }
            }
            return distances
        }

        /// Removes leaves together with the ancestors that no other leaf has. Their parents do not become leaves.
        ///
        /// - Returns: The given revisions that were leaves, each once.
        public mutating func purge(_ revisions: some Sequence<Revision>) -> [Revision] {
            var purged: [Revision] = []
            var isPurged = [Bool](repeating: false, count: count)
            for revision in revisions {
                guard let index = index(of: revision), nodes[Int(index)].childCount == 0, !isPurged[Int(index)] else {
                    continue
                }
                isPurged[Int(index)] = true
                purged.append(revision)
            }
            guard !purged.isEmpty else { return [] }
            var isKept = [Bool](repeating: false, count: count)
            for leaf in leafIndexes where !isPurged[Int(leaf)] {
                for index in ancestry(of: leaf) {
                    if isKept[Int(index)] { break }
                    isKept[Int(index)] = true
                }
            }
            keep { isKept[$0] }
            return purged
        }

        /// Forgets that revisions other than leaves were stored, as CouchDB's compaction does with their bodies. That also
        /// stems.
        ///
        /// - Returns: The revisions that are missing now and were not before.
        public mutating func compact() -> [Revision] {
            var forgotten: [Revision] = []
            for index in nodes.indices where nodes[index].childCount > 0 && nodes[index].status.isStored {
                forgotten.append(nodes[index].revision)
                setStatus(.missing, at: Int32(index))
            }
            return forgotten
        }
    }
#endif
