#if TansuServer
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Remote: saving and removing")
struct RemoteWritingTests {
    /// Why documents were not saved; nil for those that were.
    private static func codes(_ results: [Result<SavedDocument, SyncError>]) -> [SyncError.Code?] {
        results.map { result in
            guard case .failure(let error) = result else { return nil }
            return error.code
        }
    }

    @available(macOS 14, *)
    @Test("A revision that was read detects conflicts; without one a save replaces what is there")
    func conflicts() async throws {
        try await RemoteHost.run { host in
            let people: RemoteCollection<BSONDocument> = try host.people()
            let first = try await people.save(["_id": "x", "n": 1])
            #expect(first.id == "x" && first.revision.generation == 1)
            var read = try #require(try await people.get("x"))
            let second = try await people.save(["_id": "x", "n": 2])
            #expect(second.revision.generation == 2)
            read["n"] = 3
            let old = read
            let conflict = await #expect(throws: SyncError.self) { try await people.save(old) }
            #expect(conflict?.code == .conflict && conflict?.description.contains("\"x\"") == true)
            #expect(try await people.get("x")?["n"] == 2)
            read["_rev"] = .string(second.revision.description)
            #expect(try await people.save(read).revision.generation == 3)

            let exists = await #expect(throws: SyncError.self) { try await people.insert(["_id": "x"]) }
            #expect(exists?.code == .exists)
            try await people.insert(["_id": "y"])
            let late = await #expect(throws: SyncError.self) {
                try await people.remove(id: "x", revision: second.revision)
            }
            #expect(late?.code == .conflict)
            #expect(try await people.remove(id: "x"))
            #expect(try await !people.remove(id: "x"))
            #expect(try await people.save(["_id": "x", "n": 9]).revision.generation > 3)
            let made = try await people.save(["n": 1])
            #expect(try await people.get(made.id)?["n"] == 1)
            for bad in [["_id": 5], ["_id": "_x"], ["_id": "z", "_rev": 5]] as [BSONDocument] {
                await #expect(throws: SyncError.self) { try await people.save(bad) }
            }
            let refused = await #expect(throws: SyncError.self) { try await people.save(["_id": "z", "_no": 1]) }
            #expect(refused?.code == .refused)
        }
    }

    @available(macOS 14, *)
    @Test("Updates read and save again when others write in between, and keep fields that the type does not have")
    func updates() async throws {
        try await RemoteHost.run { host in
            let anna = Person(name: "anna", age: 1)
            let id = anna.id.hexString
            try await host.far.save([
                "_id": .string(id), "name": "anna", "age": 1, "more": ["kept": true],
            ])
            try await host.far.attachments(of: id).add([1, 2, 3], name: "photo")
            let people = try host.people(of: Person.self)
            let others = try host.people(of: Person.self)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for collection in [people, others] {
                    tasks.addTask {
                        for _ in 0..<5 { _ = try await collection.update(id: anna.id) { $0.age += 1 } }
                    }
                }
                try await tasks.waitForAll()
            }
            let age = try await people.get(anna.id)?.age
            #expect(age == 11)
            #expect(try await host.far.get(id)?["more"] == ["kept": true])
            #expect(try await people.update(id: ObjectID()) { $0.age += 1 } == nil)
            let revision = try await people.revision(of: anna.id)
            #expect(try await people.update(id: anna.id) { $0.age += 0 }?.age == 11)
            #expect(try await people.revision(of: anna.id) == revision)
            await #expect(throws: TansuError.self) { try await people.update(id: anna.id) { $0.id = ObjectID() } }

            // A save replaces the fields, and keeps the attachments.
            try await people.save(Person(id: anna.id, name: "Anna", age: 2))
            #expect(try await host.far.get(id)?["more"] == nil)
            #expect(try await host.far.attachments(of: id).bytes(of: "photo") == [1, 2, 3])
            let saved = try await people.save([
                Person(id: anna.id, name: "Anna", age: 3), Person(name: "b", age: 1),
            ])
            #expect(saved.allSatisfy { (try? $0.get()) != nil })
            #expect(try await host.far.attachments(of: id).list().count == 1)
        }
    }

    @available(macOS 14, *)
    @Test("A type with a revision detects conflicts too")
    func typedRevision() async throws {
        struct Note: Codable, Sendable, Equatable {
            var id: String
            var rev: String?
            var text: String
            enum CodingKeys: String, CodingKey { case id = "_id", rev = "_rev", text }
        }
        try await RemoteHost.run { host in
            let notes = try host.people(of: Note.self)
            try await notes.save(Note(id: "n", text: "a"))
            try await host.far.attachments(of: "n").add([7], name: "file")
            var note = try #require(try await notes.get("n"))
            #expect(note.rev?.hasPrefix("2-") == true)
            let old = note
            note.text = "b"
            try await notes.save(note)
            #expect(try await host.far.attachments(of: "n").bytes(of: "file") == [7])
            let conflict = await #expect(throws: SyncError.self) { try await notes.save(old) }
            #expect(conflict?.code == .conflict)
            let results = try await notes.save([old, Note(id: "m", text: "c")])
            #expect((try? results[0].get()) == nil && (try? results[1].get()) != nil)
            let updated = try await notes.update(id: "n") { $0.text = "d" }
            #expect(updated?.rev?.hasPrefix("4-") == true && updated?.text == "d")
        }
    }

    @available(macOS 14, *)
    @Test("Several documents: each has its result")
    func bulk() async throws {
        try await RemoteHost.run { host in
            let people: RemoteCollection<BSONDocument> = try host.people()
            let many = try await people.save((0..<1_200).map { ["_id": .string("\($0)"), "n": .int32($0)] })
            #expect(many.count == 1_200 && many.allSatisfy { (try? $0.get()) != nil })
            let results = try await people.insert([["_id": "0"], ["_id": "new"], ["_id": "new"]])
            #expect(
                Self.codes(results) == [
                    .exists, nil, .exists,
                ])
            let stale = try #require(try await people.get("1"))
            let replaced = try await people.save([["_id": "1", "n": -1], stale, ["_id": "1", "n": -2]])
            #expect(
                Self.codes(replaced) == [
                    nil, .conflict, nil,
                ])
            #expect(try await people.get("1")?["n"] == -2)
            #expect(try await people.remove(["n": ["$gte": 100]]) == 1_100)
            #expect(try await people.find { _ in .raw(["n": ["$lt": 100]]) }.count() == 100)
            #expect(try await people.remove(people.find(mango: ["n": ["$lt": 10]])) == 10)
            #expect(try await people.remove([:], hints: ["$max": 1]) == 1)
            #expect(try await people.remove([:]) == 90)
            #expect(try await host.far.count() == 0)
        }
    }

    @available(macOS 14, *)
    @Test("An answer that is lost leaves one save, one removal, and no conflict")
    func lostAnswers() async throws {
        try await RemoteHost.run { host in
            let transport = FaultyTransport(ClientTransport(timeout: 20)) { call, number in
                ["PUT", "DELETE"].contains(call.method) || call.endpoint == "_bulk_docs"
                    ? (number % 2 == 1 ? .lostAnswer : nil) : nil
            }
            let people: RemoteCollection<BSONDocument> = try host.people(through: transport)
            #expect(try await people.insert(["_id": "x", "n": 1.5, "at": .date(7)]).revision.generation == 1)
            var read = try #require(try await people.get("x"))
            read["n"] = 2
            #expect(try await people.save(read).revision.generation == 2)
            _ = try await people.revision(of: "x")
            #expect(try await people.remove(id: "x"))
            let saved = try await people.insert([["_id": "a"], ["_id": "b", "n": 1]])
            #expect(saved.allSatisfy { (try? $0.get()) != nil })
            #expect(try await people.remove([:]) == 2)
            #expect(try await host.far.count() == 0)
        }
    }

    @available(macOS 14, *)
    @Test("The database is created and dropped; without it errors say so")
    func database() async throws {
        try await RunningServer.run { server in
            let people = try RemoteHost.people("http://127.0.0.1:\(server.port)/new", of: BSONDocument.self)
            for call in [
                { try await people.find().all().count }, { try await people.get("x") == nil ? 0 : 1 },
                { try await people.save(["_id": "x"]).revision.generation }, { try await people.count() },
                { try await people.remove(id: "x") ? 1 : 0 }, { try await people.indexes().count },
            ] as [() async throws -> Int] {
                let error = await #expect(throws: SyncError.self) { try await call() }
                #expect(error?.code == .noSuchDatabase)
            }
            #expect(try await people.create())
            #expect(try await !people.create())
            try await people.save(["_id": "x"])
            #expect(try await people.count() == 1)
            #expect(try await people.drop())
            #expect(try await !people.drop())
        }
    }
}
#endif
