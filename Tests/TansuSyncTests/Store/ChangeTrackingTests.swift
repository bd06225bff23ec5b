#if TansuSync
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

@Suite("Store: changes that are made without the layer, in every way there is")
struct ChangeTrackingTests {
    private func error(_ body: () throws -> Void) -> SyncError.Code? {
        do { try body() } catch { return (error as? SyncError)?.code }
        return nil
    }

    /// The winner of each document that ever was; nil for one that is deleted.
    private func winners(_ people: Database.Collection<BSONDocument>) throws -> [String: Revision] {
        try ReplicatedCollection.open(people.name, in: people.session.database, create: false).read { store in
            var winners: [String: Revision] = [:]
            let records = try store.documents(includesDeleted: true)
            while let record = try records.read() { winners[record.id] = record.winner }
            return winners
        }
    }

    @Test("Exactly the documents that changed get another revision, whichever way they were changed", arguments: 0..<6)
    func model(round: Int) throws {
        var random = SeededGenerator(seed: SeededGenerator.seed() &+ UInt64(round))
        let folder = try TemporaryFolder()
        let path = folder.path("db")
        var database = try Database(path: path)
        var people = try database.collection("people")
        try database.setReferences(
            [Database.CollectionReference("boss", to: "people", onDelete: .cascade)], of: "people")
        try people.save((0..<5).map { ["_id": .string("p\($0)"), "n": .int32(0)] })
        try people.enableReplication()
        var known = try winners(people)
        var before = try documents(people)
        for step in 0..<120 {
            try change(&random, database, people)
            if Int.random(in: 0..<12, using: &random) == 0 {
                try database.close()
                database = try Database(path: path)
                people = try database.collection("people")
            }
            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
            let after = try documents(people)
            let now = try winners(people)
            for id in Set(before.keys).union(after.keys) where before[id] != after[id] {
                #expect(now[id] != known[id], "step \(step): \(id) has changed")
            }
            let touched = try self.touched(known, now)
            for id in touched where before[id] == after[id] {
                // What was changed and changed back has a revision of its own; what nobody touched has none.
                #expect((now[id]?.generation ?? 0) > (known[id]?.generation ?? 0), "step \(step): \(id)")
            }
            #expect(try winners(people) == now, "step \(step): a second look changes nothing")
            (known, before) = (now, after)
        }
        try database.close()
    }

    private func touched(_ a: [String: Revision], _ b: [String: Revision]) throws -> [String] {
        Set(a.keys).union(b.keys).filter { a[$0] != b[$0] }
    }

    private func documents(_ people: Database.Collection<BSONDocument>) throws -> [String: BSONDocument] {
        var found: [String: BSONDocument] = [:]
        for document in try people.find().all() { found[document["_id"]?.stringValue ?? "?"] = document }
        return found
    }

    private func change(
        _ random: inout SeededGenerator, _ database: Database, _ people: Database.Collection<BSONDocument>
    ) throws {
        let id = "p\(Int.random(in: 0..<8, using: &random))"
        let value = BSONValue.int32(Int32.random(in: 0..<4, using: &random))
        let boss = BSONValue.string("p\(Int.random(in: 0..<8, using: &random))")
        switch Int.random(in: 0..<11, using: &random) {
        case 0: try people.save(["_id": .string(id), "n": value])
        case 1: try people.save(["_id": .string(id), "n": value, "boss": boss])
        case 2: try people.update(["_id": .string(id)], ["$set": ["n": value]])
        case 3: try people.update(["n": value], ["$inc": ["n": 1]])
        case 4: try people.update(["_id": .string(id)], ["$set": ["n": value], "$upsert": ["u": value]])
        case 5: try people.remove(id: id)
        case 6: try people.remove(["n": value])
        case 7: _ = try people.findAndUpdate(["_id": .string(id)], ["$inc": ["n": 1]])
        case 8:
            let documents = #"[{"_id": "\#(id)", "j": 1}]"#
            _ = try database.executeJSON(#"{"op": "save", "collection": "people", "documents": \#(documents)}"#)
        case 9:
            // Nothing of it is kept.
            struct Undone: Error {}
            do {
                try database.write { transaction in
                    try transaction.collection("people").save(["_id": .string(id), "undone": true])
                    throw Undone()
                }
            } catch is Undone {}
        default:
            try database.write { transaction in
                let people = try transaction.collection("people")
                try? transaction.savepoint {
                    try people.save(["_id": .string(id), "undone": true])
                    throw CancellationError()
                }
                try people.save(["_id": .string("p7"), "n": value])
            }
        }
    }

    @Test("More documents than a batch get their first revisions, and their next ones")
    func manyDocuments() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let count = 4_500
        try people.save((0..<count).map { ["_id": .string("p\($0)"), "n": .int32(0)] })
        try people.save((0..<10).map { _ in ["n": .int32(0)] })
        let replicated = try people.enableReplication()
        #expect(try replicated.read { $0.info().updateSequence } == Int64(count + 10))
        try people.update([:], ["$inc": ["n": 1]])
        #expect(try people.revision(of: "p7")?.generation == 2)
        #expect(try replicated.read { $0.info().updateSequence } == Int64(2 * (count + 10)))
        try people.remove(["n": 1])
        #expect(try replicated.read { $0.info().deletedDocuments } == Int64(count + 10))
        #expect(try replicated.read { $0.info().documents } == 0)
    }

    @Test("Giving the first revisions goes on where it was interrupted, and misses no change of the meantime")
    func interrupted() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db")
        var database = try Database(path: path)
        var people = try database.collection("people")
        try people.save((0..<50).map { ["_id": .string("p\(10 + $0)"), "n": .int32(0)] })
        try people.enableReplication()
        // As if it had been killed after half of them.
        try database.write { transaction in
            let states = try transaction.collection(StoreNames.states)
            var state = try #require(try states.get("people"))
            state["enabledUpTo"] = "p30"
            try states.save(state)
            let records = try transaction.collection(StoreNames.revisions("people"))
            try records.remove(["_id": ["$gt": "p30"]])
        }
        try people.save([["_id": "p20", "n": 1], ["_id": "p50", "n": 1]])
        try people.remove(id: "p51")
        try database.close()
        database = try Database(path: path)
        people = try database.collection("people")
        #expect(try people.revision(of: "p20")?.generation == 2)
        #expect(try people.revision(of: "p50")?.generation == 1)
        #expect(try people.revision(of: "p59")?.generation == 1)
        #expect(try people.revision(of: "p51") == nil)
        try database.close()
    }

    @Test("A collection that another library renames keeps its revisions; one that it drops loses them")
    func renamedByC() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let replicated = try people.enableReplication()
        try people.save(["_id": "a", "n": 1])
        #expect(try people.revision(of: "a")?.generation == 1)
        try people.save(["_id": "a", "n": 2])
        _ = try database.executeJSON(#"{"op": "renameCollection", "collection": "people", "to": "persons"}"#)
        let persons = try database.collection("persons")
        // Whichever is asked first.
        #expect(try persons.revision(of: "a")?.generation == 2)
        #expect(error { _ = try replicated.read { _ in } } == .notReplicated)
        #expect(error { _ = try people.revision(of: "a") } == .notReplicated)
        _ = try database.executeJSON(#"{"op": "renameCollection", "collection": "persons", "to": "people"}"#)
        #expect(error { _ = try persons.revision(of: "a") } == .notReplicated)
        #expect(try people.revision(of: "a")?.generation == 2)
        _ = try database.executeJSON(#"{"op": "dropCollection", "collection": "people"}"#)
        try people.save(["_id": "a", "n": 3])
        #expect(error { _ = try people.revision(of: "a") } == .notReplicated)
        try people.enableReplication()
        #expect(try people.revision(of: "a")?.generation == 1)
        try people.disableReplication()
        try people.save(["_id": "a", "n": 4])
        #expect(try !database.collectionNames().contains { $0.hasPrefix("tansu.changes.") })
        try people.enableReplication()
        #expect(try people.revision(of: "a")?.generation == 1)
    }

    @Test("Who waits is woken by changes without the layer")
    func waiting() async throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let replicated = try await people.enableReplication()
        for (number, command) in [
            #"{"op": "save", "collection": "people", "documents": [{"_id": "a"}]}"#,
            #"{"op": "remove", "collection": "people", "query": {"_id": "a"}}"#,
        ].enumerated() {
            async let end: Void = replicated.waitForChange(after: Int64(number))
            _ = try await database.executeJSON(command)
            try await end
        }
        #expect(try await replicated.read { $0.info().updateSequence } == 2)
    }
}
#endif
