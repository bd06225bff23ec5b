#if TansuSync
import TansuBSON
import Testing

@testable import TansuSync

/// Trees of sizes at which recursion or work for each node at each step would be noticed.
@Suite struct LargeRevisionTreeTests {
    private func hash(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }

    @Test func fiveThousandEditsKeepTheNewestHundred() throws {
        var tree = RevisionTree()
        var parent: Revision?
        for number in 1...5000 {
            let revision = try Revision(generation: number, hash: hash(number))
            let path = try parent.map { try RevisionPath(revision, parent: $0) } ?? RevisionPath(revision)
            #expect(try tree.merge(path) == .newLeaf)
            tree.stem(to: 100)
            parent = revision
        }
        #expect(tree.count == 100)
        #expect(tree.winner?.revision == parent)
        #expect(tree.path(of: try #require(parent))?.ids == (4901...5000).reversed().map(hash))
    }

    @Test func aThousandConflictsOfOneRevision() throws {
        var tree = RevisionTree()
        let root = try Revision(generation: 1, hash: hash(0))
        try tree.merge(RevisionPath(root))
        for number in 1...1000 {
            let path = try RevisionPath(try Revision(generation: 2, hash: hash(number)), parent: root)
            #expect(try tree.merge(path) == (number == 1 ? .newLeaf : .newBranch))
        }
        #expect(tree.leafCount == 1000)
        #expect(tree.conflicts.map(\.hashText) == (1...999).reversed().map(hash))
        #expect(try RevisionTree(bson: tree.bson()) == tree)
    }

    @Test func aPathOfFiftyThousandAndItsOlderHalfLater() throws {
        let ids = (1...50_000).reversed().map(hash)
        var tree = RevisionTree()
        #expect(try tree.merge(RevisionPath(start: 50_000, ids: ids.prefix(25_000))) == .newLeaf)
        #expect(try tree.merge(RevisionPath(start: 50_000, ids: ids)) == .newAncestors)
        #expect(try tree.merge(RevisionPath(start: 50_000, ids: ids)) == .nothingNew)
        #expect(tree.count == 50_000 && tree.leafCount == 1)
        #expect(try RevisionTree(bson: tree.bson()) == tree)
        tree.stem(to: 10)
        #expect(tree.count == 10)
    }

    /// Each second revision comes as a root of its own before the path that joins them.
    @Test func aPathThatJoinsThousandsOfRoots() throws {
        let ids = (1...20_000).reversed().map(hash)
        var tree = RevisionTree()
        for generation in stride(from: 2, through: 20_000, by: 2) {
            try tree.merge(RevisionPath(try Revision(generation: generation, hash: hash(generation))))
        }
        #expect(tree.leafCount == 10_000)
        #expect(try tree.merge(RevisionPath(start: 20_000, ids: ids)) == .newAncestors)
        #expect(tree.leafCount == 1 && tree.count == 20_000)
    }

    @Test func aTreeHasABound() throws {
        let half = RevisionTree.maximumCount / 2
        var tree = RevisionTree()
        try tree.merge(RevisionPath(start: half, ids: (1...half).map(hash)))
        try tree.merge(RevisionPath(start: half, ids: (half + 1...2 * half).map(hash)))
        let before = tree
        let one = RevisionPath(try Revision(generation: 1, hash: "one"))
        let error = #expect(throws: RevisionError.self) { try tree.merge(one) }
        #expect(error?.code == .treeTooLarge)
        #expect(throws: RevisionError.self) { try tree.push([(one, .available), (one, .available)]) }
        #expect(tree.count == before.count && tree.leaves == before.leaves && !tree.contains(one.revision))
    }
}
#endif
