#if TansuSync
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

/// The stored form of a tree, and what any other bytes give.
@Suite struct StoredRevisionTreeTests {
    private func randomTree(_ generator: inout SeededGenerator) throws -> RevisionTree {
        var random = try RandomRevisions(count: Int.random(in: 1...40, using: &generator), generator)
        generator = SeededGenerator(seed: generator.next())
        var tree = RevisionTree()
        for _ in 0..<Int.random(in: 0...25, using: &generator) {
            let (path, status) = random.next()
            try tree.merge(path, status: status)
        }
        if Bool.random(using: &generator) { tree.stem(to: 3) }
        return tree
    }

    @Test func aTreeIsReadAsItWasWritten() throws {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        for round in 0..<150 {
            let tree = try randomTree(&generator)
            let stored = try tree.bson()
            let read = try RevisionTree(bson: stored)
            #expect(read.leaves == tree.leaves && read.count == tree.count, "TANSU_SEED=\(seed), round \(round)")
            for node in tree.nodes {
                #expect(read.path(of: node.revision) == tree.path(of: node.revision))
                #expect(read.status(of: node.revision) == node.status)
            }
            #expect(read == tree)
            #expect(try read.bson() == stored, "TANSU_SEED=\(seed), round \(round)")
        }
    }

    @Test func aLinearHistoryTakesSeventeenBytesForEachRevision() throws {
        var tree = RevisionTree()
        let digits = (0..<1000).map { String(0x1000_0000_0000_0000 + $0, radix: 16) }.map { $0 + $0 }
        try tree.merge(try RevisionPath(start: 1000, ids: digits))
        guard case .binary(let nodes)? = try tree.bson()["nodes"] else {
            Issue.record("no nodes")
            return
        }
        #expect(nodes.bytes.count == 17 * 1000 + 2)
    }

    /// The bytes of version 1, so that a change of the form is seen.
    @Test func theFormOfVersion1() throws {
        var tree = RevisionTree()
        try tree.merge(try RevisionPath(start: 3, ids: ["c", "b"]))
        try tree.merge(
            try RevisionPath(start: 3, ids: [String(repeating: "0f", count: 16), "b"]), status: .deleted)
        let expected: [UInt8] =
            [0b0100, 0, 2, 1, 0x62]
            + [0b1010] + [UInt8](repeating: 0x0F, count: 16)
            + [0b0101, 2, 1, 0x63]
        let stored: BSONDocument = ["v": .int32(1), "nodes": .binary(BSONBinary(expected))]
        #expect(try tree.bson() == stored)
        #expect(try RevisionTree(bson: stored) == tree)
    }

    private func expectError(_ code: RevisionError.Code, _ document: BSONDocument) {
        let error = #expect(throws: RevisionError.self) { try RevisionTree(bson: document) }
        #expect(error?.code == code, "\(document)")
    }

    @Test func otherDocumentsAreRejected() {
        expectError(.corruptTree, [:])
        expectError(.corruptTree, ["v": "1", "nodes": .binary(BSONBinary([]))])
        expectError(.unknownVersion, ["v": .int32(2), "nodes": .binary(BSONBinary([]))])
        expectError(.unknownVersion, ["v": .int32(0)])
        expectError(.corruptTree, ["v": .int32(1)])
        expectError(.corruptTree, ["v": .int32(1), "nodes": [1, 2]])
    }

    @Test(arguments: [
        ("unknown flag", [0b10101, 0, 1, 1, 0x61]), ("unknown status", [0b0111, 0, 1, 1, 0x61]),
        ("no parent", [0b1101, 1, 0x61]), ("parent before the first", [0b0101, 2, 1, 0x61]),
        ("generation 0", [0b0101, 0, 0, 1, 0x61]),
        ("sixteen characters", [0b0101, 0, 1, 16] + [UInt8](repeating: 0x61, count: 16)),
        ("thirty-two digits", [0b0101, 0, 1, 32] + [UInt8](repeating: 0x61, count: 32)),
        ("control character", [0b0101, 0, 1, 1, 7]), ("leaf without a body", [0b0100, 0, 1, 1, 0x61]),
        ("truncated", [0b0101, 0, 1, 2, 0x61]), ("truncated digest", [0b0001, 0, 1, 2, 0x61]),
        ("endless number", [0b0101, 0] + [UInt8](repeating: 0x80, count: 12)),
        ("great generation", [0b0101, 0] + [UInt8](repeating: 0xFF, count: 8) + [1, 1, 0x61]),
        ("twice", [0b0101, 0, 1, 1, 0x61, 0b0101, 0, 1, 1, 0x61]),
    ])
    func otherBytesAreRejected(_ name: String, _ bytes: [UInt8]) {
        expectError(.corruptTree, ["v": .int32(1), "nodes": .binary(BSONBinary(bytes))])
    }

    @Test func bytesThatWereChangedGiveAnErrorOrATree() throws {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        var trees = 0
        for round in 0..<600 {
            guard case .binary(let nodes)? = try randomTree(&generator).bson()["nodes"] else { continue }
            var bytes = nodes.bytes
            for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
                let position = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes.removeSubrange(position...)
                case 1: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: position)
                default: bytes[position] = UInt8.random(in: 0...255, using: &generator)
                }
            }
            do {
                let tree = try RevisionTree(bson: ["v": .int32(1), "nodes": .binary(BSONBinary(bytes))])
                // What is read is a tree like any other.
                #expect(try RevisionTree(bson: tree.bson()) == tree, "TANSU_SEED=\(seed), round \(round)")
                for leaf in tree.leaves { #expect(tree.path(of: leaf.revision) != nil) }
                trees += 1
            } catch {
                #expect(error.code == .corruptTree, "TANSU_SEED=\(seed), round \(round)")
            }
        }
        #expect(trees > 0)
    }
}
#endif
