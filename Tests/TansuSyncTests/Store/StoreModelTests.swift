#if TansuSync
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

/// The store against a model in memory, under local saves, edits of clients and pushed revisions.
@Suite("Store: random edits against a model")
struct StoreModelTests {
    /// A document as it should be.
    private struct Model {
        var tree = RevisionTree()
        /// Bodies of the leaves that are not deleted.
        var bodies: [Revision: BSONDocument] = [:]
        var lastChange = 0

        var winner: BSONDocument? {
            guard let winner = tree.winner, !winner.isDeleted else { return nil }
            return bodies[winner.revision]
        }

        mutating func add(_ revision: Revision, parent: Revision?, isDeleted: Bool, _ body: BSONDocument) throws {
            let path = try parent.map { try RevisionPath(revision, parent: $0) } ?? RevisionPath(revision)
            try tree.merge(path, status: isDeleted ? .deleted : .available)
            if !isDeleted { bodies[revision] = body }
        }
    }

    @Test(
        "Local changes become one revision each, edits follow CouchDB's rules, and nothing is missed",
        arguments: 0..<6)
    func random(round: Int) throws {
        let seed = SeededGenerator.seed() &+ UInt64(round)
        var random = SeededGenerator(seed: seed)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var database = try Database(path: folder.path)
        var collection = try ReplicatedCollection.open("d", in: database, create: true)
        let ids = (0..<6).map { "id\($0)" }
        var model: [String: Model] = [:]
        var local: [String: BSONDocument] = [:]  // what the collection has

        for step in 0..<300 {
            let place: Comment = "seed \(seed), step \(step)"
            let id = ids.randomElement(using: &random) ?? "id0"
            let body: BSONDocument = [
                "n": .int32(Int32.random(in: 0..<5, using: &random)), "step": .int32(Int32(step)),
            ]
            switch Int.random(in: 0..<13, using: &random) {
            case 0...2:
                try database.collection("d").save(
                    BSONDocument([("_id", .string(id))] + body.map { ($0.key, $0.value) }))
                local[id] = body
            case 3:
                try database.collection("d").remove(id: id)
                local[id] = nil
            case 4...6:
                follow(&model, local)
                let known = model[id]
                let leaves = known?.tree.leaves ?? []
                let parent = Bool.random(using: &random) ? leaves.randomElement(using: &random)?.revision : nil
                let isDeleted = Int.random(in: 0..<4, using: &random) == 0
                let edit = DocumentEdit(
                    id: id, parent: parent, isDeleted: isDeleted, fields: isDeleted ? [:] : body)
                let result = try collection.write { try $0.save([edit]) }[0]
                let base = parent ?? (known?.tree.isDeleted == true ? known?.tree.winner?.revision : nil)
                // A deleted document continues by an edit without a parent only.
                let isConflict =
                    parent == nil
                    ? !leaves.isEmpty && (known?.tree.isDeleted == false || isDeleted)
                    : known?.tree.isDeleted == true
                switch result {
                case .success(let revision):
                    #expect(!isConflict, place)
                    let expected = try RevisionDigest.revision(
                        after: base, isDeleted: isDeleted, body: isDeleted ? [:] : body)
                    #expect(revision == expected, place)
                    try model[id, default: Model()].add(revision, parent: base, isDeleted: isDeleted, body)
                case .failure(let error):
                    #expect(isConflict && error == .conflict, place)
                }
                local[id] = model[id]?.winner
            case 7...9:
                follow(&model, local)
                let parent = model[id]?.tree.leaves.randomElement(using: &random)?.revision
                let generation = (parent?.generation ?? 0) + 1
                let hash = String(format: "%032x", Int.random(in: 0..<Int(Int32.max), using: &random))
                let revision = try Revision(generation: generation, hash: hash)
                let isDeleted = Int.random(in: 0..<5, using: &random) == 0
                let useParent = Bool.random(using: &random) ? parent : nil
                let path = try useParent.map { try RevisionPath(revision, parent: $0) } ?? RevisionPath(revision)
                let errors = try collection.write {
                    try $0.push([
                        PushedRevision(id: id, path: path, isDeleted: isDeleted, fields: isDeleted ? [:] : body)
                    ])
                }
                #expect(errors == [nil], place)
                try model[id, default: Model()].add(revision, parent: useParent, isDeleted: isDeleted, body)
                local[id] = model[id]?.winner
            case 10:
                follow(&model, local)
                try collection.read { _ in }
            case 11:
                try database.close()
                database = try Database(path: folder.path)
                collection = try ReplicatedCollection.open("d", in: database, create: false)
            default:
                follow(&model, local)
                try collection.write { _ in }
            }
            guard step % 7 == 0 else { continue }
            follow(&model, local)
            try check(collection, model, local, place)
        }
        try database.close()
    }

    /// What the layer does with local changes, once it looks.
    private func follow(_ model: inout [String: Model], _ local: [String: BSONDocument]) {
        for (id, body) in local where model[id]?.winner != body {
            let winner = model[id]?.tree.winner?.revision
            guard let revision = try? RevisionDigest.revision(after: winner, body: body) else { continue }
            try? model[id, default: Model()].add(revision, parent: winner, isDeleted: false, body)
        }
        for (id, document) in model where local[id] == nil && !document.tree.isDeleted {
            for leaf in document.tree.leaves where !leaf.isDeleted {
                guard
                    let revision = try? RevisionDigest.revision(after: leaf.revision, isDeleted: true, body: [:])
                else { continue }
                try? model[id]?.add(revision, parent: leaf.revision, isDeleted: true, [:])
            }
        }
    }

    private func check(
        _ collection: ReplicatedCollection, _ model: [String: Model], _ local: [String: BSONDocument],
        _ place: Comment
    ) throws {
        try collection.read { store in
            var seen: Set<String> = []
            var last: Int64 = 0
            for result in try store.changes(after: 0) {
                let record = try result.get()
                #expect(record.sequence > last && seen.insert(record.id).inserted, place)
                last = record.sequence
                let expected = try #require(model[record.id], place)
                #expect(record.tree.leaves == expected.tree.leaves, "\(place): leaves of \(record.id)")
                for leaf in record.tree.leaves where !leaf.isDeleted {
                    let body = try #require(try store.body(of: record, leaf.revision), place)
                    #expect(body.fields == expected.bodies[leaf.revision], place)
                }
                let stored = try store.transaction.collection("d").get(record.id)?.wireFields
                #expect(stored == expected.winner && stored == local[record.id], place)
            }
            #expect(seen.count == model.count, place)
            let info = store.info()
            #expect(info.updateSequence == last || last == 0, place)
            #expect(info.documents == Int64(model.values.count { !$0.tree.isDeleted }), place)
            #expect(info.deletedDocuments == Int64(model.values.count { $0.tree.isDeleted }), place)
        }
    }
}
#endif
