#if TansuServer
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport

@testable import TansuSync

/// Every revision that was ever made, and what it said.
struct Oracle {
    struct Content: Equatable {
        var fields: BSONDocument
        var attachments: Set<String>
    }

    private(set) var trees: [String: RevisionTree] = [:]
    private(set) var contents: [String: Content] = [:]

    /// Adds what a replica has of a document. What it has was made there or came from another one.
    mutating func note(_ id: String, in store: RevisionStore) throws {
        guard let record = try store.document(id) else { return }
        for leaf in record.tree.leaves {
            guard let path = record.tree.path(of: leaf.revision) else { continue }
            try trees[id, default: RevisionTree()].merge(path, status: leaf.isDeleted ? .deleted : .available)
            if let body = try store.body(of: record, leaf.revision) {
                contents["\(id) \(leaf.revision)"] = Content(body)
            }
        }
    }

    /// What is wrong with a replica that has seen everything.
    func faults(of store: RevisionStore, _ name: String) throws -> [String] {
        var faults: [String] = []
        var ids: Set<String> = []
        let records = try store.documents(includesDeleted: true)
        while let record = try records.read() {
            ids.insert(record.id)
            let expected = trees[record.id]?.leaves ?? []
            let (here, there) = (record.tree.leaves.map(Self.name), expected.map(Self.name))
            if here != there { faults.append("\(name): \(record.id) has the leaves \(here), not \(there)") }
            for leaf in record.tree.leaves {
                guard let body = try store.body(of: record, leaf.revision) else {
                    faults.append("\(name): \(record.id) \(leaf.revision) has no body")
                    continue
                }
                if Content(body) != contents["\(record.id) \(leaf.revision)"] {
                    faults.append("\(name): \(record.id) \(leaf.revision) says something else: \(body.fields)")
                }
            }
        }
        let missing = Set(trees.keys).subtracting(ids)
        if !missing.isEmpty { faults.append("\(name): \(missing.sorted()) are missing") }
        return faults
    }

    static func name(_ leaf: RevisionTree.Leaf) -> String { "\(leaf.revision)\(leaf.isDeleted ? " deleted" : "")" }
}

extension Oracle.Content {
    init(_ body: RevisionBody) {
        fields = body.fields
        attachments = Set(body.files.map { "\($0.name) \($0.contentType) \($0.digest) \($0.length)" })
    }
}

/// Random edits of a replica.
@available(macOS 14, *)
struct SimulatedEdits: Sendable {
    let oracle = Locked(Oracle())

    private static let ids = (0..<7).map { $0 == 6 ? "ü/\($0) %" : "document \($0)" }

    /// Edits one document of a replica, and notes what it is then.
    func edit(_ replica: SimulatedReplica, _ random: inout SeededGenerator) async throws {
        let people = replica.people
        let id = Self.ids[Int.random(in: 0..<Self.ids.count, using: &random)]
        let number = Int32.random(in: 0..<6, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<8: try await people.save(["_id": .string(id), "n": .int32(number), "tags": ["a", "b"]])
        case 8..<11: _ = try await people.remove(id: id)
        case 11..<14:
            guard try await people.get(id) != nil else { break }
            let count = Int.random(in: 0..<3_000, using: &random)
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* Int(number + 1)) }
            let type = number % 2 == 0 ? "text/plain" : "application/octet-stream"
            try await people.attachments(of: id).add(bytes, name: "file \(number % 2)", type: type)
        case 14..<17: try await branch(replica, id, number, &random)
        case 17: try await people.resolveConflicts(of: id)
        case 18:
            // A document may be edited twice before anybody looks.
            try await people.save(["_id": .string(id), "n": .int32(number)])
            _ = try await people.remove(id: id)
            try await people.save(["_id": .string(id), "again": .int32(number)])
        default: try replica.replicated.compact()
        }
        try await note(replica, id)
    }

    /// Edits a revision that need not be the winner.
    private func branch(
        _ replica: SimulatedReplica, _ id: String, _ number: Int32, _ random: inout SeededGenerator
    ) async throws {
        let isDeleted = Int.random(in: 0..<3, using: &random) == 0
        let choice = Int.random(in: 0..<10, using: &random)
        try await replica.replicated.write { store in
            guard let leaves = try store.document(id)?.tree.leaves.filter({ !$0.isDeleted }), !leaves.isEmpty else {
                return
            }
            let parent = leaves[choice % leaves.count].revision
            let edit = DocumentEdit(
                id: id, parent: parent, isDeleted: isDeleted, fields: isDeleted ? [:] : ["branch": .int32(number)])
            _ = try store.save([edit])
        }
    }

    func note(_ replica: SimulatedReplica, _ id: String) async throws {
        // Local saves become revisions when somebody looks.
        _ = try await replica.people.revision(of: id)
        let oracle = oracle
        try await replica.replicated.read { store in try oracle.withLock { try $0.note(id, in: store) } }
    }

    /// What a replica has of all documents, as text.
    static func state(of replica: SimulatedReplica) async throws -> [String: [String]] {
        try await replica.replicated.read { store in
            var state: [String: [String]] = [:]
            let records = try store.documents(includesDeleted: true)
            while let record = try records.read() { state[record.id] = record.tree.leaves.map(Oracle.name) }
            return state
        }
    }
}
#endif
