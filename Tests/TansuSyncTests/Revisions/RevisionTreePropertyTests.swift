#if TansuSync
import TansuTestSupport
import Testing

@testable import TansuSync

/// Random histories beside a model that is a set of paths.
@Suite struct RevisionTreePropertyTests {
    private func pushes(_ generator: inout SeededGenerator, _ count: Int) throws -> [(RevisionPath, RevisionStatus)] {
        var random = try RandomRevisions(count: Int.random(in: 1...40, using: &generator), generator)
        generator = SeededGenerator(seed: generator.next())
        return (0..<count).map { _ in random.next() }
    }

    private func tree(_ pushes: [(RevisionPath, RevisionStatus)]) throws -> RevisionTree {
        var tree = RevisionTree()
        for (path, status) in pushes { try tree.merge(path, status: status) }
        return tree
    }

    @Test func mergesGiveWhatTheSetOfPathsGives() throws {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        for round in 0..<60 {
            var tree = RevisionTree()
            var model = NaiveRevisions()
            for (path, status) in try pushes(&generator, 25) {
                let before = tree
                let result = try tree.merge(path, status: status)
                #expect((result == .nothingNew) == (tree == before), "TANSU_SEED=\(seed), round \(round)")
                #expect((result == .newLeaf || result == .newBranch) == !before.contains(path.revision))
                let graft = path.revisions.first { before.contains($0) }
                let extendsLeaf = graft.map { model.leaves.contains($0) } ?? before.isEmpty
                #expect((result == .newLeaf) == (extendsLeaf && !before.contains(path.revision)))
                #expect((result == .filledInternalNode) == (before.status(of: path.revision) == .missing))
                model.merge(path, status)
                expectSame(tree, model, "TANSU_SEED=\(seed), round \(round)")
            }
        }
    }

    private func expectSame(_ tree: RevisionTree, _ model: NaiveRevisions, _ place: String) {
        let leaves = model.leaves
        #expect(tree.count == model.revisions.count, "\(place)")
        #expect(tree.leaves.map(\.revision) == leaves, "\(place)")
        #expect(tree.winner?.revision == leaves.first, "\(place)")
        #expect(tree.isDeleted == (leaves.first.map { model.stored[$0] == .deleted } ?? false), "\(place)")
        #expect(tree.conflicts == leaves.dropFirst().filter { model.stored[$0] != .deleted }, "\(place)")
        #expect(tree.deletedConflicts == leaves.dropFirst().filter { model.stored[$0] == .deleted }, "\(place)")
        for revision in model.revisions {
            #expect(tree.status(of: revision) == model.status(of: revision), "\(place)")
            #expect(tree.path(of: revision)?.revisions == model.path(of: revision), "\(place)")
            #expect(tree.isLeaf(revision) == leaves.contains(revision), "\(place)")
            let descendants = leaves.filter { model.path(of: $0).contains(revision) }
            #expect(tree.latest(of: revision).map(\.revision) == descendants, "\(place)")
        }
    }

    @Test func theOrderOfMergesDoesNotMatterNorDoesRepetition() throws {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        for round in 0..<100 {
            let pushes = try pushes(&generator, 30)
            let first = try tree(pushes)
            #expect(first == (try tree(pushes.shuffled(using: &generator))), "TANSU_SEED=\(seed), round \(round)")
            var again = first
            for (path, status) in pushes {
                #expect(try again.merge(path, status: status) == .nothingNew, "TANSU_SEED=\(seed), round \(round)")
            }
            #expect(again == first)
            // The tree of one half, merged into that of the other as the paths of all its stored revisions.
            var left = try tree(Array(pushes[..<15]))
            let right = try tree(Array(pushes[15...]))
            for node in right.nodes where node.status.isStored {
                try left.merge(try #require(right.path(of: node.revision)), status: node.status)
            }
            #expect(left == first, "TANSU_SEED=\(seed), round \(round)")
        }
    }

    @Test func stemmingKeepsTheLeavesAndTheirNewestAncestors() throws {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        for round in 0..<100 {
            let limit = Int.random(in: 1...6, using: &generator)
            var tree = RevisionTree()
            var model = NaiveRevisions()
            for (path, status) in try pushes(&generator, 20) {
                try tree.merge(path, status: status)
                model.merge(path, status)
            }
            let before = tree
            // Joins have a rule of their own, but no stemming changes the leaves.
            var joined = tree
            joined.stem(to: limit)
            #expect(joined.leaves == before.leaves, "TANSU_SEED=\(seed), round \(round)")
            #expect(try RevisionTree(bson: joined.bson()) == joined)
            tree.forgetJoins()
            let isStemmed = tree.stem(to: limit)
            model.stem(to: limit)
            #expect(isStemmed == (tree != before), "TANSU_SEED=\(seed), round \(round)")
            #expect(tree.leaves == before.leaves, "TANSU_SEED=\(seed), round \(round)")
            expectSame(tree, model, "TANSU_SEED=\(seed), round \(round)")
            for leaf in tree.leaves {
                let path = try #require(tree.path(of: leaf.revision)).hashes
                let old = try #require(before.path(of: leaf.revision)).hashes
                #expect(old.starts(with: path) && path.count >= min(limit, old.count))
            }
            let stemmed = tree
            let isStemmedAgain = tree.stem(to: limit)
            #expect(!isStemmedAgain && tree == stemmed, "TANSU_SEED=\(seed), round \(round)")
        }
    }

    /// A tree and its model after as many random merges.
    private func grown(
        by merges: Int, _ generator: inout SeededGenerator
    ) throws -> (random: RandomRevisions<SeededGenerator>, tree: RevisionTree, model: NaiveRevisions) {
        var random = try RandomRevisions(count: 25, generator)
        generator = SeededGenerator(seed: generator.next())
        var tree = RevisionTree()
        var model = NaiveRevisions()
        for _ in 0..<merges {
            let (path, status) = random.next()
            try tree.merge(path, status: status)
            model.merge(path, status)
        }
        return (random, tree, model)
    }

    @Test func purgingRemovesLeavesAndWhatOnlyTheyHad() throws {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        for round in 0..<100 {
            var (random, tree, model) = try grown(by: 20, &generator)
            let chosen = random.revisions.shuffled(using: &generator).prefix(6)
            let leaves = Set(tree.leaves.map(\.revision))
            let purged = tree.purge(chosen + chosen)
            #expect(purged == chosen.filter { leaves.contains($0) }, "TANSU_SEED=\(seed), round \(round)")
            model.purge(Set(chosen))
            expectSame(tree, model, "TANSU_SEED=\(seed), round \(round)")
        }
    }

    @Test func missingRevisionsAndTheirPossibleAncestors() throws {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        for round in 0..<60 {
            let (random, tree, model) = try grown(by: 10, &generator)
            let asked = random.revisions.shuffled(using: &generator).prefix(8)
            let missing = tree.missing(of: asked + asked)
            #expect(missing == asked.filter { !model.revisions.contains($0) }, "TANSU_SEED=\(seed), round \(round)")
            let older = model.leaves.filter { leaf in missing.contains { $0.generation > leaf.generation } }
            #expect(tree.possibleAncestors(of: missing, limit: 1000) == older.reversed())
            #expect(tree.possibleAncestors(of: missing, limit: 2) == older.prefix(2).reversed())
        }
    }

    @Test func compactionForgetsAllBodiesButThoseOfLeaves() throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed())
        for _ in 0..<40 {
            var tree = try tree(pushes(&generator, 20))
            let before = tree
            let forgotten = Set(tree.compact())
            #expect(tree.leaves == before.leaves)
            for node in before.nodes {
                let isForgotten = node.childCount > 0 && node.status.isStored
                #expect(forgotten.contains(node.revision) == isForgotten)
                #expect(tree.status(of: node.revision) == (node.childCount > 0 ? .missing : node.status))
            }
            let forgottenAgain = tree.compact()
            #expect(forgottenAgain.isEmpty)
        }
    }
}
#endif
