#if TansuSync
import TansuBSON

extension RevisionTree {
    /// Merges the revisions that one `_bulk_docs` with `new_edits: false` has of the document: all or none.
    ///
    /// - Returns: What the merge of each did.
    /// - Throws: ``RevisionError`` when the tree would become too large; it is then unchanged.
    @discardableResult
    public mutating func push(
        _ pushed: [(path: RevisionPath, status: RevisionStatus)]
    ) throws(RevisionError) -> [MergeResult] {
        // One merge is atomic, and needs no copy.
        if pushed.count == 1 { return [try merge(pushed[0].path, status: pushed[0].status)] }
        var merged = self
        var results: [MergeResult] = []
        for (path, status) in pushed { results.append(try merged.merge(path, status: status)) }
        self = merged
        return results
    }
}

// MARK: - Merging

extension RevisionTree {
    /// What a merge did.
    public enum MergeResult: String, Sendable, Hashable {
        /// The path extends a leaf, or is the first of the tree.
        case newLeaf
        /// The path begins a new branch: a conflict.
        case newBranch
        /// A revision of which only the name was known is now stored.
        case filledInternalNode
        /// The revision was known. Now more of its ancestors are.
        case newAncestors
        /// Everything was known.
        case nothingNew
    }

    /// Merges a revision with its ancestors.
    ///
    /// The path is grafted on its newest revision that the tree has. Ancestors that the tree does not have become missing
    /// nodes. Without a common revision the path becomes a tree of its own.
    ///
    /// When the tree knows another parent of a revision than the path, the tree's one stays, and the rest of the path is
    /// ignored.
    ///
    /// - Throws: ``RevisionError`` when the tree would become too large; it is then unchanged.
    @discardableResult
    public mutating func merge(
        _ path: RevisionPath, status: RevisionStatus = .available
    ) throws(RevisionError) -> MergeResult {
        let known = indexes(of: path)
        let missingCount = known.count { $0 == Self.none }
        guard count + missingCount <= Self.maximumCount else {
            throw RevisionError(
                .treeTooLarge, "The document would have more than \(Self.maximumCount) revisions")
        }
        let graft = known.first { $0 != Self.none }
        let extendsLeaf = graft.map { nodes[Int($0)].childCount == 0 } ?? isEmpty
        let isNew = known[0] == Self.none
        let isChanged = graftNodes(of: path, known: known, status: status)
        if isNew { return extendsLeaf ? .newLeaf : .newBranch }
        if status.isStored, nodes[Int(known[0])].status == .missing {
            setStatus(status, at: known[0])
            return .filledInternalNode
        }
        return isChanged ? .newAncestors : .nothingNew
    }

    /// The nodes of a path, newest first; ``none`` for those that the tree does not have. It ends before the first
    /// revision that contradicts the tree.
    private func indexes(of path: RevisionPath) -> [Int32] {
        var indexes: [Int32] = []
        indexes.reserveCapacity(path.count)
        var child = Self.none
        for age in 0..<path.count {
            let parent = child == Self.none ? Self.none : nodes[Int(child)].parent
            if parent != Self.none {
                guard nodes[Int(parent)].hash == path.hashes[age] else { break }
                child = parent
            } else {
                child = index(generation: path.generation - age, hash: path.hashes[age]) ?? Self.none
            }
            indexes.append(child)
        }
        return indexes
    }

    /// Adds the nodes of a path that the tree does not have, and links those that it has.
    ///
    /// - Returns: Whether the tree changed.
    private mutating func graftNodes(of path: RevisionPath, known: [Int32], status: RevisionStatus) -> Bool {
        var indexes = known
        var added: [Node] = []
        for age in indexes.indices.reversed() where indexes[age] == Self.none {
            indexes[age] = Int32(count + added.count)
            added.append(
                Node(
                    generation: path.generation - age, hash: path.hashes[age], status: age == 0 ? status : .missing,
                    parent: Self.none))
        }
        add(added)
        var isChanged = !added.isEmpty
        noteJoins(of: known, tip: indexes[0])
        for age in indexes.indices.dropLast() where nodes[Int(indexes[age])].parent == Self.none {
            link(indexes[age], to: indexes[age + 1])
            isChanged = true
        }
        if isChanged { updateLeaves(adding: known[0] == Self.none ? indexes[0] : nil) }
        return isChanged
    }

    /// Notes where a path is about to join trees, for the next stemming.
    private mutating func noteJoins(of known: [Int32], tip: Int32) {
        guard let oldest = known.lastIndex(where: { $0 != Self.none }) else { return }
        var newestShared = Self.none
        for age in 0..<oldest {
            guard known[age] != Self.none else {
                newestShared = Self.none
                continue
            }
            if newestShared == Self.none { newestShared = known[age] }
            if nodes[Int(known[age])].parent == Self.none {
                let wasLeaf = nodes[Int(newestShared)].childCount == 0
                note(Join(tip: tip, newestShared: newestShared, wasLeaf: wasLeaf, formerRoot: known[age]))
                newestShared = Self.none
            }
        }
    }
}

// MARK: - Removing

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
