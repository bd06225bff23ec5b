#if TansuSync
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Store: what the layer writes has its revisions, and counts as no local change")
struct LargeCommitTests {
    private func edits(_ range: Range<Int>, _ fields: BSONDocument = ["n": 1]) -> [DocumentEdit] {
        range.map { DocumentEdit(id: "d\($0)", fields: fields) }
    }

    /// How many documents have a change without a revision.
    private func pendingCount(_ database: Database) throws -> Int {
        let name = try #require(try database.collectionNames().first { $0.hasPrefix(StoreNames.changesPrefix) })
        return try database.collection(name).count()
    }

    private func generation(_ id: String, _ collection: ReplicatedCollection) throws -> Int? {
        try collection.read { try $0.document(id)?.winner.generation }
    }

    @Test("Local changes before, between and after batches are followed; batches are no local changes")
    func localChanges() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let collection = try ReplicatedCollection.open("people", in: database, create: true)
        try people.save(["_id": "d1", "n": "local"])
        let results = try collection.write { try $0.save(edits(0..<200)) }
        #expect(results[1] == .failure(.conflict))
        #expect(results.count { if case .success = $0 { true } else { false } } == 199)
        #expect(try pendingCount(database) == 0)
        #expect(try generation("d0", collection) == 1)
        try people.save(["_id": "d2", "n": "local"])
        try people.remove(id: "d3")
        _ = try collection.write { try $0.save(edits(200..<400)) }
        try people.save(["_id": "d399", "n": "local"])
        #expect(try generation("d2", collection) == 2)
        #expect(try collection.read { try $0.document("d3")?.isDeleted } == true)
        #expect(try generation("d399", collection) == 2)
        #expect(try generation("d398", collection) == 1)
        #expect(try collection.read { $0.info().documents } == 399)
        _ = try collection.write { try $0.save(edits(400..<403)) }
        #expect(try pendingCount(database) == 0)
        try people.save(["_id": "d401", "n": "local"])
        try people.remove(id: "d402")
        #expect(try pendingCount(database) == 2)
        #expect(try generation("d400", collection) == 1)
    }

    @Test("What the engine removes with the documents of a batch is followed")
    func references() throws {
        let database = try Database(.memory)
        let collection = try ReplicatedCollection.open("people", in: database, create: true)
        try database.setReferences(
            [Database.CollectionReference("boss", to: "people", onDelete: .cascade)], of: "people")
        let boss = try collection.write { try $0.save(edits(0..<1))[0].get() }
        _ = try collection.write { try $0.save(edits(1..<101, ["boss": "d0"])) }
        _ = try collection.write { store in
            try store.save([DocumentEdit(id: "d0", parent: boss, isDeleted: true)] + edits(200..<300))
        }
        let info = try collection.read { $0.info() }
        #expect(info.documents == 100)
        #expect(info.deletedDocuments == 101)
        #expect(try database.collection("people").count() == 100)
    }

    @Test("The dates of a batch are in its revisions")
    func timestamps() throws {
        let database = try Database(.memory)
        let collection = try ReplicatedCollection.open("people", in: database, create: true)
        try database.setTimestamps(Database.Timestamps(), of: "people")
        _ = try collection.write { try $0.save(edits(0..<100)) }
        #expect(try pendingCount(database) == 0)
        #expect(try generation("d7", collection) == 1)
        let stored = try #require(try database.collection("people").get("d7"))
        #expect(stored["createdAt"] != nil && stored["updatedAt"] == stored["createdAt"])
    }

    @Test("Ids that are equal as texts of Swift, and have other bytes, are those of two documents")
    func formsOfACharacter() throws {
        let ids = ["\u{E9}", "e\u{301}"]
        let database = try Database(.memory)
        let collection = try ReplicatedCollection.open("people", in: database, create: true)
        let new = ids.enumerated().map { DocumentEdit(id: $1, fields: ["n": BSONValue($0)]) }
        let revisions = try collection.write { try $0.save(new) }.map { try $0.get() }
        #expect(revisions[0] != revisions[1])
        for (index, id) in ids.enumerated() {
            let record = try #require(try collection.read { try $0.document(id) })
            #expect(record.winner == revisions[index])
            #expect(try collection.read { try $0.body(of: record, record.winner)?.fields["n"] } == BSONValue(index))
        }
        let pushed = try ids.enumerated().map {
            PushedRevision(
                id: $1, path: try RevisionPath(start: 2, ids: ["a\($0)", revisions[$0].hashText]),
                fields: ["p": BSONValue($0)])
        }
        #expect(try collection.write { try $0.push(pushed) } == [nil, nil])
        for (index, id) in ids.enumerated() {
            let record = try #require(try collection.read { try $0.document(id) })
            #expect(record.winner.hashText == "a\(index)")
            #expect(try collection.read { try $0.body(of: record, record.winner)?.fields["p"] } == BSONValue(index))
        }
    }

    @Test("Keys that begin with a dollar sign are stored as others; dollar signs and their bytes elsewhere stay")
    func keys() throws {
        let database = try Database(.memory)
        let collection = try ReplicatedCollection.open("people", in: database, create: true)
        let bodies: [BSONDocument] = [
            ["n": 36, "text": "$x", "price$": "1$", "length": .string(String(repeating: "a", count: 35))],
            ["$ref": 1], ["deep": ["list": [["$id": "x", "n": 36]]]],
            ["binary": .binary(BSONBinary([0x24, 2, 0x24]))],
        ]
        let edits = bodies.enumerated().map { DocumentEdit(id: "d\($0)", fields: $1) }
        for result in try collection.write({ try $0.save(edits) }) { _ = try result.get() }
        for (index, body) in bodies.enumerated() {
            let record = try #require(try collection.read { try $0.document("d\(index)") })
            #expect(try collection.read { try $0.body(of: record, record.winner)?.fields } == body)
        }
        let people = try database.collection("people")
        #expect(try people.get("d0")?["n"] == 36)
        #expect(try people.get("d1")?["$ref"] == 1)
        #expect(try people.get("d2")?[path: "deep.list.0.$id"] == "x")
    }
}
#endif
