#if TansuSync
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

@Suite("Store: replication of a collection as an app uses it")
struct ReplicationTests {
    private func error(_ body: () throws -> Void) -> SyncError.Code? {
        do { try body() } catch { return (error as? SyncError)?.code }
        return nil
    }

    @Test("A revision that violates the schema is refused also when it loses, and the others of a batch are kept")
    func schema() throws {
        let database = try Database(.memory)
        let notes = try database.collection("notes")
        let replicated = try notes.enableReplication()
        try database.setSchema(["properties": ["n": ["minimum": 0]]], for: "notes")
        func pushed(_ id: String, _ revision: String, _ n: BSONValue) throws -> PushedRevision {
            PushedRevision(id: id, path: RevisionPath(try #require(Revision(revision))), fields: ["n": n])
        }
        let first = try replicated.write { store in
            try store.push([
                pushed("a", "1-b", 1), pushed("bad", "1-b", -1), pushed("c", "1-b", 2), pushed("a", "1-a", -2),
            ])
        }
        #expect(first.map { $0 == nil } == [true, false, true, false])
        for revision in ["1-a", "2-a"] {
            let refusal = try replicated.write { try $0.push([pushed("a", revision, -1)]) }
            guard case .refused(let reason)? = refusal[0] else {
                Issue.record("\(refusal)")
                continue
            }
            #expect(reason.contains("n: minimum"))
        }
        #expect(try replicated.write { try $0.push([pushed("a", "1-a", 3)]) } == [nil])
        #expect(try notes.find().all().compactMap { $0["n"] } == [1, 2])
        #expect(try notes.conflicted() == ["a"])
    }

    @Test("A revision obeys a query and its level", arguments: Database.ValidationLevel.allCases)
    func validators(level: Database.ValidationLevel) throws {
        let database = try Database(.memory)
        let notes = try database.collection("notes")
        let replicated = try notes.enableReplication()
        if level != .strict { try notes.save(["_id": "old", "n": -1]) }
        try database.setValidator(["$expr": ["$gte": ["$n", 0]]], for: "notes", level: level)
        let refuses = level == .strict || level == .moderate
        func push(_ id: String, _ n: BSONValue) throws -> Bool {
            let path = RevisionPath(try #require(Revision("1-a")))
            return try replicated.write { try $0.push([PushedRevision(id: id, path: path, fields: ["n": n])]) } == [nil]
        }
        #expect(try push("good", 1))
        #expect(try push("bad", -1) != refuses)
        #expect(try notes.find(["_id": ["$in": ["good", "bad"]]]).all().count == (refuses ? 1 : 2))
        // What violates it already may be changed, but where it is strict.
        if level != .strict { try notes.update(["_id": "old"], ["$set": ["n": -2]]) }
    }

    @Test("Documents that cannot be replicated are refused by name, and nothing of them changes")
    func refused() throws {
        let database = try Database(.memory)
        try database.collection("numbers").save([["_id": "a"], ["_id": 7]])
        #expect(error { try database.collection("numbers").enableReplication() } == .unusableID)
        try database.collection("nulls").save([["_id": "a"], ["_id": nil]])
        #expect(error { try database.collection("nulls").enableReplication() } == .unusableID)
        try database.collection("reserved").save(["_id": "a", "_x": 1])
        #expect(error { try database.collection("reserved").enableReplication() } == .reservedField)
        #expect(error { _ = try database.collection("none").revision(of: "a") } == .notReplicated)
        #expect(try database.collection("numbers").count() == 2)
        #expect(try !database.collectionNames().contains { $0.hasPrefix("tansu.revisions.numbers") })
    }

    @Test(
        "A document whose id cannot be replicated is refused at the next look after it was saved, until it is removed",
        arguments: [
            5, .double(.nan), true, "", "_x", .binary(BSONBinary([1])), BSONValue(UUID()), ["a": 1], .date(0), .minKey,
            .maxKey,
        ] as [BSONValue])
    func savedLater(_ id: BSONValue) throws {
        for reopens in [false, true] {
            let folder = try TemporaryFolder()
            let path = folder.path("db")
            var database = try Database(path: path)
            let looks: [(Database.Collection<BSONDocument>) throws -> Void] = [
                { _ = try $0.revision(of: "a") }, { _ = try $0.conflicted() }, { try $0.enableReplication() },
            ]
            try database.collection("notes").enableReplication()
            try database.collection("notes").save([["_id": "a"], ["_id": id]])
            if reopens {
                try database.close()
                database = try Database(path: path)
            }
            for look in looks { #expect(error { try look(database.collection("notes")) } == .unusableID) }
            try database.collection("notes").remove(id: id)
            for look in looks { try look(database.collection("notes")) }
            #expect(try database.collection("notes").revision(of: "a")?.generation == 1)
            try database.close()
        }
    }

    @Test("The refusal of a UUID says how it can be stored")
    func savedUUID() throws {
        let notes = try Database(.memory).collection("notes")
        try notes.enableReplication()
        try notes.save(["_id": BSONValue(UUID())])
        let error = #expect(throws: SyncError.self) { try notes.conflicted() }
        #expect(error?.description.contains("coding: .init(uuid: .string)") ?? false)
    }

    @Test("Without replication there are no collections of the layer")
    func untouched() throws {
        let database = try Database(.memory)
        try database.collection("people").save(["_id": "a"])
        #expect(try database.collectionNames() == ["people"])
        try database.collection("people").enableReplication()
        #expect(try database.collection("people").revision(of: "a")?.generation == 1)
        try database.collection("people").disableReplication()
        #expect(
            try database.collectionNames().filter { $0 != "tansu.sync" && $0 != "tansu.attachments.people" } == [
                "people"
            ])
        #expect(try database.collection("people").count() == 1)
    }

    @Test("Several local saves between two looks are one revision; ids are text or ObjectIds")
    func revisions() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        try people.enableReplication()
        let id = try people.save(["name": "mike"])
        try people.save(["_id": "text", "n": 1])
        try people.save(["_id": "text", "n": 2])
        #expect(try people.revision(of: id)?.generation == 1)
        #expect(try people.revision(of: "text")?.generation == 1)
        try people.save(["_id": "text", "n": 3])
        try people.save(["_id": "text", "n": 4])
        let revision = try #require(try people.revision(of: "text"))
        #expect(revision.generation == 2)
        // An equal save is no change.
        try people.save(["_id": "text", "n": 4])
        #expect(try people.revision(of: "text") == revision)
        try people.remove(id: "text")
        #expect(try people.revision(of: "text") == nil)
        try people.save(["_id": "text", "n": 5])
        #expect(try people.revision(of: "text")?.generation == 4)
        #expect(throws: TansuError.self) {
            try database.write { try $0.collection("people").revision(of: "text") }
        }
    }

    @Test("Conflicts are listed, found by an index, and end when they are resolved")
    func conflicts() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let replicated = try people.enableReplication()
        try people.save(["_id": "a", "n": 1])
        try people.save(["_id": "b", "n": 1])
        #expect(try people.conflicts(of: "a").isEmpty)
        let other = PushedRevision(
            id: "a", path: try RevisionPath(start: 1, ids: ["00000000000000000000000000000001"]), fields: ["n": 2])
        #expect(try replicated.write { try $0.push([other]) } == [nil])
        #expect(try people.conflicts(of: "a").count == 1)
        #expect(try people.conflicted() == ["a"])
        try people.resolveConflicts(of: "a", with: ["n": 3])
        #expect(try people.conflicted().isEmpty)
        #expect(try people.get("a") == ["_id": "a", "n": 3])
        // A local removal removes what is in conflict, too.
        #expect(try replicated.write { try $0.push([other]) } == [nil])
        let third = PushedRevision(
            id: "b", path: try RevisionPath(start: 1, ids: ["00000000000000000000000000000002"]), fields: ["n": 9])
        _ = try replicated.write { try $0.push([third]) }
        try people.remove(id: "b")
        #expect(try people.revision(of: "b") == nil)
        #expect(try people.get("b") == nil)
    }

    @Test("The fields of a merge never change the id of the document, and reserved ones are refused")
    func mergedFields() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let replicated = try people.enableReplication()
        try people.save(["_id": "a", "n": 1])
        try people.save(["_id": "b", "n": 2])
        let first = try #require(try people.revision(of: "a"))
        let other = try Revision(generation: first.generation, hash: String(repeating: "0", count: 32))
        let errors = try replicated.write {
            try $0.push([PushedRevision(id: "a", path: RevisionPath(other), fields: ["n": 3])])
        }
        #expect(errors == [nil])
        #expect(error { try people.resolveConflicts(of: "a", with: ["_rev": "x"]) } == .reservedField)
        #expect(try people.conflicts(of: "a").map(\.revision) == [other])

        try people.resolveConflicts(of: "a", with: ["_id": "b", "n": 4])
        #expect(try people.get("a") == ["_id": "a", "n": 4])
        #expect(try people.get("b") == ["_id": "b", "n": 2])
        #expect(try people.conflicts(of: "a").isEmpty)
        let expected = try RevisionDigest.revision(after: first, body: ["n": 4])
        #expect(try people.revision(of: "a") == expected)
    }

    @Test("A resolver decides alike on two replicas, whatever the order in which they learn of the conflict")
    func resolver() throws {
        let add: ConflictResolver = { conflict in
            let sum = (conflict.winner.fields["n"]?.intValue ?? 0) + (conflict.other.fields["n"]?.intValue ?? 0)
            return .merge(["n": BSONValue(sum)])
        }
        let first = try Replica(resolver: add)
        let second = try Replica(resolver: add)
        try first.people.save(["_id": "a", "n": 1])
        try second.people.save(["_id": "a", "n": 10])
        try first.push(to: second)
        try second.push(to: first)
        try first.push(to: second)
        #expect(try first.people.get("a") == ["_id": "a", "n": 11])
        #expect(try second.people.get("a") == ["_id": "a", "n": 11])
        #expect(try first.people.revision(of: "a") == second.people.revision(of: "a"))
        #expect(try first.people.conflicted().isEmpty && second.people.conflicted().isEmpty)
    }

    @Test("Replicas that push to each other have the same leaves and winners", arguments: 0..<4)
    func convergence(round: Int) throws {
        let seed = SeededGenerator.seed() &+ UInt64(round)
        var random = SeededGenerator(seed: seed)
        let replicas = try (0..<3).map { _ in try Replica(resolver: nil) }
        for _ in 0..<120 {
            let replica = try #require(replicas.randomElement(using: &random))
            let id = "id\(Int.random(in: 0..<5, using: &random))"
            switch Int.random(in: 0..<6, using: &random) {
            case 0...2:
                try replica.people.save(["_id": .string(id), "n": .int32(.random(in: 0..<9, using: &random))])
            case 3: try replica.people.remove(id: id)
            case 4: try replica.push(to: try #require(replicas.randomElement(using: &random)))
            default: try replica.replicated.compact()
            }
        }
        for _ in 0..<2 {
            for source in replicas { for target in replicas { try source.push(to: target) } }
        }
        let leaves = try replicas.map { try $0.leaves() }
        #expect(leaves[0] == leaves[1] && leaves[1] == leaves[2], "seed \(seed)")
        let documents = try replicas.map { try $0.people.find().all().sorted { "\($0)" < "\($1)" } }
        #expect(documents[0] == documents[1] && documents[1] == documents[2], "seed \(seed)")
    }

    /// A database that pushes its revisions to another one.
    private struct Replica {
        let database: Database
        let people: Database.Collection<BSONDocument>
        let replicated: ReplicatedCollection

        init(resolver: ConflictResolver?) throws {
            database = try Database(.memory)
            people = try database.collection("people")
            replicated = try people.enableReplication(resolver: resolver)
        }

        func push(to other: Replica) throws {
            let revisions = try replicated.read { store in
                var revisions: [PushedRevision] = []
                for result in try store.changes(after: 0) {
                    let record = try result.get()
                    for leaf in record.tree.leaves {
                        guard let path = record.tree.path(of: leaf.revision) else { continue }
                        let body = try store.body(of: record, leaf.revision)
                        revisions.append(
                            PushedRevision(
                                id: record.id, path: path, isDeleted: leaf.isDeleted, fields: body?.fields ?? [:]))
                    }
                }
                return revisions
            }
            #expect(try other.replicated.write { try $0.push(revisions) }.allSatisfy { $0 == nil })
        }

        func leaves() throws -> [String: [RevisionTree.Leaf]] {
            try replicated.read { store in
                var leaves: [String: [RevisionTree.Leaf]] = [:]
                for result in try store.changes(after: 0) {
                    let record = try result.get()
                    leaves[record.id] = record.tree.leaves
                }
                return leaves
            }
        }
    }

    @Test("A document that the collection refuses does not stop its batch, and can be any JSON")
    func batches() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        try people.ensureIndex("by_mail", on: ["mail": .ascending], unique: true)
        let replicated = try people.enableReplication()
        let results = try replicated.write {
            try $0.save([
                DocumentEdit(id: "a", fields: ["mail": "x"]), DocumentEdit(id: "b", fields: ["mail": "x"]),
                DocumentEdit(id: "c", fields: ["mail": "y", "$ref": ["$id": 1], "\u{FF04}z": 2]),
            ])
        }
        #expect((try? results[0].get()) != nil && (try? results[2].get()) != nil)
        guard case .failure(.refused) = results[1] else {
            Issue.record("\(results[1])")
            return
        }
        try replicated.read { store in
            #expect(store.info().documents == 2 && store.info().updateSequence == 2)
            let record = try #require(try store.document("c"))
            let body = try #require(try store.body(of: record, record.winner))
            #expect(body.fields == ["mail": "y", "$ref": ["$id": 1], "\u{FF04}z": 2])
            #expect(try store.document("b") == nil)
        }
        // What the layer has written is no local change.
        let before = try replicated.read { $0.info().updateSequence }
        try people.save(["_id": "d", "mail": "z"])
        #expect(try replicated.read { $0.info().updateSequence } == before + 1)
    }

    @Test("A resolver that throws, and a merge that the collection refuses, leave the conflict and stop nothing")
    func failingResolvers() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        try people.ensureIndex("by_mail", on: ["mail": .ascending], unique: true)
        try people.save(["_id": "other", "mail": "taken"])
        try people.save([["_id": "a", "mail": "a"], ["_id": "b", "mail": "b"]])
        let replicated = try people.enableReplication { conflict in
            if conflict.id == "a" { throw CancellationError() }
            return .merge(["mail": "taken"])
        }
        let pushed = try ["a", "b", "c"].map { id in
            PushedRevision(
                id: id, path: try RevisionPath(start: 1, ids: ["0000000000000000000000000000000f"]),
                fields: ["mail": .string(id + "2")])
        }
        #expect(try replicated.write { try $0.push(pushed) } == [nil, nil, nil])
        #expect(try people.get("c") == ["_id": "c", "mail": "c2"])
        #expect(try Set(people.conflicted()) == ["a", "b"])
        #expect(error { try people.resolveConflicts(of: "a", with: ["mail": "taken"]) } == .refused)
        #expect(try people.conflicts(of: "a").count == 1)
        #expect(try replicated.read { $0.info().documents } == 4)
    }

    @Test("Design documents and local documents are not in the collection")
    func hiddenDocuments() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let replicated = try people.enableReplication()
        _ = try replicated.write { try $0.save([DocumentEdit(id: "_design/x", fields: ["views": ["$a": 1]])]) }[0]
            .get()
        #expect(try replicated.write { try $0.saveLocal("_local/c", former: nil, ["seq": 5]) } == 1)
        #expect(try replicated.write { try $0.saveLocal("_local/c", former: 1, ["seq": 6]) } == 2)
        #expect(try people.count() == 0)
        try replicated.read { store in
            #expect(try store.local("_local/c")?.fields == ["seq": 6])
            let record = try #require(try store.document("_design/x"))
            #expect(try store.body(of: record, record.winner)?.fields == ["views": ["$a": 1]])
            #expect(store.info().documents == 1 && store.info().updateSequence == 1)
        }
        #expect(try replicated.write { try $0.removeLocal("_local/c") })
    }

    @Test("After a gap of the change stream everything is compared: no local change is missed")
    func gap() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gap-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let saved = try changeWithoutLooking(folder)
        let database = try Database(path: folder.path)
        defer { try? database.close() }
        let people = try database.collection("people")
        let replicated = try people.enableReplication()
        try replicated.read { store in
            var live: Set<String> = []
            for record in try store.documents() { live.insert(try record.get().id) }
            #expect(live == saved)
            #expect(store.info().documents == Int64(saved.count) && store.info().deletedDocuments == 500)
        }
        #expect(try people.revision(of: "d900")?.generation == 2)
    }

    private func changeWithoutLooking(_ folder: URL) throws -> Set<String> {
        let database = try Database(path: folder.path)
        defer { try? database.close() }
        let people = try database.collection("people")
        try people.save((0..<1000).map { ["_id": .string("d\($0)"), "n": 0] })
        try withExtendedLifetime(people.enableReplication()) {}
        try people.remove(["_id": ["$in": .array(BSONArray((0..<500).map { .string("d\($0)") }))]])
        for _ in 0..<20 {
            try people.save(
                (500..<1000).map { ["_id": .string("d\($0)"), "n": .int64(Int64.random(in: 1..<1000))] })
        }
        try database.compact()
        return Set((500..<1000).map { "d\($0)" })
    }

    @Test("Local writers and clients at once: every change has its revision")
    func concurrency() async throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let replicated = try await people.enableReplication()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    for number in 0..<60 {
                        try await people.save([
                            "_id": .string("w\(writer)-\(number % 7)"), "n": .int32(Int32(number)),
                        ])
                    }
                }
            }
            group.addTask {
                for number in 0..<60 {
                    _ = try await replicated.write {
                        try $0.save([DocumentEdit(id: "c\(number)", fields: ["n": 1])])
                    }
                }
            }
            group.addTask {
                for _ in 0..<60 { _ = try await replicated.read { $0.info().updateSequence } }
            }
            try await group.waitForAll()
        }
        try await replicated.read { store in
            let isFollowed = try store.isFollowed()
            #expect(isFollowed)
            #expect(store.info().documents == 81)
        }
    }

    @Test("Waiting ends with a local save, a client's edit and the end of the task")
    func waiting() async throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let replicated = try await people.enableReplication()
        try await replicated.waitForChange(after: -1)
        let first = Task { try await replicated.waitForChange(after: 0) }
        try await people.save(["_id": "a"])
        try await first.value
        let waiters = (0..<50).map { _ in Task { try await replicated.waitForChange(after: 1) } }
        _ = try await replicated.write { try $0.save([DocumentEdit(id: "b")]) }
        for waiter in waiters { try await waiter.value }
        // One that waits for a sequence far ahead holds nobody back.
        let distant = Task { try await replicated.waitForChange(after: 10_000) }
        try await Task.sleep(for: .milliseconds(20))
        let near = Task { try await replicated.waitForChange(after: 2) }
        try await people.save(["_id": "c"])
        try await near.value
        distant.cancel()
        await #expect(throws: CancellationError.self) { try await distant.value }
        let cancelled = Task { try await replicated.waitForChange(after: 100) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test("Former bodies are kept for a while, and their number is bounded")
    func formerBodies() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let replicated = try people.enableReplication()
        var parent: Revision?
        var revisions: [Revision] = []
        for number in 0..<2500 {
            let edit = DocumentEdit(id: "a", parent: parent, fields: ["n": .int32(Int32(number))])
            parent = try replicated.write { try $0.save([edit]) }[0].get()
            revisions.append(try #require(parent))
            if number == 100 {
                let record = try #require(try replicated.read { try $0.document("a") })
                #expect(try replicated.read { try $0.body(of: record, revisions[3]) }?.fields == ["n": 3])
            }
            #expect(try database.collection("tansu.bodies.people").count() <= 1002)
        }
        try replicated.compact()
        #expect(try database.collection("tansu.bodies.people").count() == 0)
        let record = try #require(try replicated.read { try $0.document("a") })
        #expect(try replicated.read { try $0.body(of: record, record.winner) }?.fields == ["n": 2499])
        #expect(try replicated.read { try $0.body(of: record, revisions[2490]) } == nil)
    }

    @Test("A renamed collection keeps its revisions")
    func renaming() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        try people.enableReplication()
        try people.save(["_id": "a", "n": 1])
        #expect(try people.revision(of: "a")?.generation == 1)
        try people.save(["_id": "a", "n": 2])
        #expect(try people.revision(of: "a")?.generation == 2)
        let replicated = try people.enableReplication()
        try database.renameCollection("people", to: "persons")
        #expect(error { _ = try replicated.read { _ in } } == .notReplicated)
        let persons = try database.collection("persons")
        try persons.save(["_id": "b"])
        #expect(try persons.revision(of: "a")?.generation == 2 && persons.revision(of: "b")?.generation == 1)
        #expect(try !database.collectionNames().contains { $0.hasSuffix(".people") })
    }

    @Test(
        "Renaming moves the revisions in its commit, also when nobody follows the collection",
        arguments: [false, true])
    func renamingAlone(_ isInTransaction: Bool) throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        try people.enableReplication()
        try people.save([["_id": "a", "n": 1], ["_id": "b", "n": 1]])
        #expect(try people.revision(of: "a")?.generation == 1)
        // Nobody has looked at this one.
        try people.save(["_id": "a", "n": 2])
        if isInTransaction {
            try database.write { try $0.renameCollection("people", to: "persons") }
        } else {
            try database.renameCollection("people", to: "persons")
        }
        let names = try database.collectionNames()
        #expect(names.filter { $0.hasSuffix(".people") }.isEmpty, "\(names)")
        #expect(names.filter { $0.hasSuffix(".persons") }.count == 4, "\(names)")
        let persons = try database.collection("persons")
        #expect(try persons.revision(of: "a")?.generation == 2 && persons.revision(of: "b")?.generation == 1)
        // And back, with another one under the name that was not replicated.
        try people.save(["_id": "c"])
        #expect(error { _ = try people.revision(of: "c") } == .notReplicated)
        try database.dropCollection("people")
        try database.renameCollection("persons", to: "people")
        #expect(try people.revision(of: "a")?.generation == 2)
    }

    @Test("A collection takes the name of one that was dropped, and not its revisions")
    func renamingToAFormerName() throws {
        let database = try Database(.memory)
        let (people, former) = (try database.collection("people"), try database.collection("former"))
        let followed = try former.enableReplication()
        try former.save(["_id": "a", "of": "former"])
        try former.attachments(of: "a").add([1], name: "x")
        for n in 1...3 {
            try former.save(["_id": "a", "n": .int32(Int32(n))])
            #expect(try former.revision(of: "a") != nil)
        }
        try people.enableReplication()
        try people.save(["_id": "a"])
        try people.attachments(of: "a").add([2], name: "y")
        let revision = try #require(try people.revision(of: "a"))
        // Nobody follows that, before another one has the name.
        try database.dropCollection("former")
        try database.renameCollection("people", to: "former")
        #expect(error { _ = try followed.read { _ in } } == .notReplicated)
        #expect(try former.revision(of: "a") == revision)
        #expect(try former.attachments(of: "a").list().map(\.name) == ["y"])
        #expect(try former.attachments(of: "a").bytes(of: "y") == [2])
        #expect(try database.removeUnusedAttachments() == 1)
        #expect(try former.revision(of: "a") == revision)
    }

    @Test("A name that is too long for what belongs to the collection is refused, and nothing is renamed")
    func renamingToALongName() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        try people.enableReplication()
        try people.save(["_id": "a"])
        let revision = try people.revision(of: "a")
        let error = #expect(throws: TansuError.self) {
            try database.renameCollection("people", to: String(repeating: "n", count: 103))
        }
        #expect(error?.code == .invalidName && error?.message.contains("102") == true)
        #expect(try people.revision(of: "a") == revision)
        let longest = String(repeating: "n", count: 102)
        try database.renameCollection("people", to: longest)
        #expect(try database.collection(longest).revision(of: "a") == revision)
    }

    @Test("A renaming by the C library is followed")
    func renamingInC() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        let replicated = try people.enableReplication()
        try people.save(["_id": "a"])
        let revision = try people.revision(of: "a")
        _ = try database.executeJSON(#"{"op": "renameCollection", "collection": "people", "to": "persons"}"#)
        #expect(self.error { _ = try replicated.read { _ in } } == .notReplicated)
        #expect(try database.collection("persons").revision(of: "a") == revision)
    }

    @Test("A dropped collection is not replicated any more, and a new one begins again")
    func dropping() throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        try people.save(["_id": "a"])
        let replicated = try people.enableReplication()
        try replicated.drop()
        #expect(try database.collectionNames().filter { $0 != "tansu.sync" }.isEmpty)
        #expect(error { _ = try people.revision(of: "a") } == .notReplicated)
        try people.save(["_id": "b"])
        try people.enableReplication()
        #expect(try people.revision(of: "b")?.generation == 1 && people.revision(of: "a") == nil)
        // By the app itself.
        try database.dropCollection("people")
        #expect(error { _ = try people.revision(of: "b") } == .notReplicated)
        try people.save(["_id": "c"])
        try people.enableReplication()
        #expect(try people.revision(of: "b") == nil && people.revision(of: "c")?.generation == 1)
    }
}
#endif
