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

// MARK: - Leaves

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

// MARK: - History

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
