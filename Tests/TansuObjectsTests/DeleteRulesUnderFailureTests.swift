import Foundation
import Tansu
import TansuObjects
import TansuTestSupport
import Testing

@Suite("Delete rules under failure")
struct DeleteRulesUnderFailureTests {
    private let db: Database

    init() throws { db = try Database(.memory) }

    private func all(_ name: String) throws -> [BSONDocument] { try db.collection(name).find().all() }

    private static let everyID: [BSONValue] = [
        .double(2.5), .double(.nan), .double(-0.0), .string(""), .string("a\u{0}b"), .document(["a": 1, "b": [1, 2]]),
        .document([:]),
        .binary(BSONBinary([], subtype: .generic)), .binary(BSONBinary(Array(0..<16), subtype: .uuid)),
        .objectID(ObjectID()), .bool(false), .date(-1), .code("x"), .int32(.min), .int64(.max),
        .timestamp(BSONTimestamp(seconds: 1, increment: 2)), .minKey, .maxKey,
        .string(String(repeating: "long ", count: 2_000)),
    ]

    @Test("An id of any type is referred to, by every rule", arguments: everyID)
    func idsOfEveryType(id: BSONValue) throws {
        for isIndexed in [false, true] {
            let db = try Database(.memory)
            try db.setReferences([.init("to", to: "targets", onDelete: .cascade)], of: "parts")
            try db.setReferences([.init("to.at", to: "targets", onDelete: .nullify)], of: "lists")
            try db.setReferences([.init("to", to: "targets", onDelete: .deny)], of: "locks")
            if isIndexed {
                try db.collection("parts").ensureIndex(on: ["to": .ascending])
                try db.collection("lists").ensureWildcardIndex()
                try db.collection("locks").ensureIndex(on: ["to": .descending])
            }
            try db.collection("targets").save([["_id": id], ["_id": "other"]])
            try db.collection("parts").save([["_id": 1, "to": id], ["_id": 2, "to": "other"]])
            try db.collection("lists").save([
                ["_id": 1, "to": [["at": id], ["at": [id, "other", id]], ["at": "other"]]]
            ])
            try db.collection("locks").save([["_id": 1, "to": [id, id]]])
            #expect(errorCode { try db.collection("targets").remove(["_id": id]) } == .referenced)
            #expect(try db.collection("parts").count() == 2)
            #expect(try db.danglingReferences().count == 0)
            try db.collection("locks").remove([:])
            #expect(try db.collection("targets").remove(["_id": id]) == 1)
            #expect(try db.collection("parts").find().all() == [["_id": 2, "to": "other"]])
            #expect(
                try db.collection("lists").find().all()
                    == [["_id": 1, "to": [["at": .null], ["at": ["other"]], ["at": "other"]]]])
            #expect(try db.danglingReferences().count == 0)
        }
    }

    @Test("A document that refers to itself is removed, whatever the rule", arguments: Database.DeleteRule.allCases)
    func selfReference(rule: Database.DeleteRule) throws {
        try db.setReferences(
            [.init("self", to: "nodes", onDelete: rule), .init("all", to: "nodes", onDelete: rule)], of: "nodes")
        let nodes = try db.collection("nodes")
        try nodes.save([["_id": 1, "self": 1, "all": [1, 1.0, .int64(1)]], ["_id": 2, "self": 2, "all": []]])
        #expect(try nodes.remove(["_id": 1]) == 1)
        #expect(try all("nodes") == [["_id": 2, "self": 2, "all": []]])
        #expect(try db.dropCollection("nodes"))
        #expect(try db.collectionNames().isEmpty)
    }

    @Test("A cascade goes round a cycle of three collections, however long, and stops at nothing")
    func cycles() throws {
        for (from, to) in [("a", "b"), ("b", "c"), ("c", "a")] {
            try db.setReferences([.init("next", to: to, onDelete: .cascade)], of: from)
            try db.collection(from).ensureIndex(on: ["next": .ascending])
        }
        let count: Int32 = 3_000
        for (name, next) in [("a", Int32(0)), ("b", 0), ("c", 1)] {
            try db.collection(name).save((0..<count).map { ["_id": .int32($0), "next": .int32(($0 + next) % count)] })
        }
        try db.collection("a").save(["_id": "apart", "next": "nowhere"])
        #expect(try db.collection("b").remove(["_id": 17]) == 1)
        #expect(try all("a").count == 1)
        #expect(try all("b").isEmpty)
        #expect(try all("c").isEmpty)
    }

    @Test("What denies at the end of a cascade keeps everything, and is named")
    func denyInsideCascade() throws {
        try db.setReferences([.init("customer", to: "customers", onDelete: .cascade)], of: "orders")
        try db.setReferences([.init("order", to: "orders", onDelete: .cascade)], of: "invoices")
        try db.setReferences([.init("about", to: "customers", onDelete: .nullify)], of: "notes")
        try db.setReferences([.init("invoices.of", to: "invoices", onDelete: .deny)], of: "audits")
        try db.collection("customers").save([["_id": 1], ["_id": 2]])
        try db.collection("orders").save([["_id": 1, "customer": 1], ["_id": 2, "customer": 2]])
        try db.collection("invoices").save([["_id": 1, "order": 1], ["_id": 2, "order": 2]])
        try db.collection("notes").save([["_id": 1, "about": [1, 2]]])
        try db.collection("audits").save([["_id": "A-7", "invoices": [["of": 9], ["of": [1]]]]])
        let names = try db.collectionNames()
        let before = try names.map { try all($0) }
        for removal in [
            { try db.collection("customers").remove(["_id": 1]) }, { try db.collection("customers").remove([:]) },
            { try db.collection("customers").update([:], ["$dropall": true]).matched },
            { try db.collection("customers").findAndRemove(["_id": 1]) == nil ? 0 : 1 },
            { try db.dropCollection("customers") ? 1 : 0 }, { try db.dropCollection("invoices") ? 1 : 0 },
        ] as [() throws -> Int] {
            do {
                let removed = try removal()
                Issue.record("removed \(removed)")
            } catch let error as TansuError {
                #expect(error.code == .referenced)
                #expect(error.context == "audits")
                #expect(error.message.contains("invoices.of"))
                #expect(error.message.contains("A-7"))
            }
            #expect(try names.map { try all($0) } == before)
        }
        // Inside a transaction the call is undone, and the others stay.
        try db.write { transaction in
            try transaction.collection("orders").save(["_id": 3, "customer": 1])
            #expect(errorCode { _ = try transaction.collection("customers").remove(["_id": 1]) } == .referenced)
            #expect(try transaction.collection("orders").count() == 3)
            #expect(try transaction.collection("customers").remove(["_id": 2]) == 1)
        }
        #expect(try all("orders").map { $0["_id"] } == [1, 3])
        #expect(try all("notes") == [["_id": 1, "about": [1]]])
    }

    @Test("Documents that deny each other are removed together, or not at all")
    func denyInCircles() throws {
        try db.setReferences([.init("likes", to: "b", onDelete: .deny)], of: "a")
        try db.setReferences(
            [.init("likes", to: "a", onDelete: .deny), .init("peer", to: "b", onDelete: .deny)], of: "b")
        try db.collection("a").save([["_id": 1, "likes": 1]])
        try db.collection("b").save([["_id": 1, "likes": 1, "peer": 2], ["_id": 2, "peer": 1]])
        #expect(errorCode { _ = try db.collection("a").remove([:]) } == .referenced)
        #expect(errorCode { _ = try db.collection("b").remove([:]) } == .referenced)
        #expect(errorCode { _ = try db.dropCollection("a") } == .referenced)
        try db.collection("a").update(["_id": 1], ["$set": ["likes": .null]])
        #expect(errorCode { _ = try db.collection("b").remove(["_id": 2]) } == .referenced)
        #expect(try db.collection("b").remove(["_id": ["$in": [1, 2]]]) == 2)
        #expect(try db.collection("a").remove([:]) == 1)
    }

    @Test("Of several references of a document, one that cascades wins over those that nullify or deny")
    func severalRules() throws {
        try db.setReferences(
            [
                .init("a", to: "t", onDelete: .nullify), .init("b", to: "t", onDelete: .cascade),
                .init("c", to: "t", onDelete: .deny),
            ], of: "h")
        try db.collection("t").save([["_id": 1], ["_id": 2]])
        try db.collection("h").save([["_id": 1, "a": 1, "b": 1, "c": 1], ["_id": 2, "a": 1, "b": 2, "c": 2]])
        #expect(try db.collection("t").remove(["_id": 1]) == 1)
        #expect(try all("h") == [["_id": 2, "a": .null, "b": 2, "c": 2]])
    }

    @Test("A unique index that would hold null twice undoes the whole call, alone and in a savepoint")
    func uniqueNull() throws {
        try db.setReferences([.init("owner", to: "people", onDelete: .nullify)], of: "keys")
        try db.setReferences([.init("of", to: "people", onDelete: .cascade)], of: "pets")
        try db.collection("keys").ensureIndex(on: ["owner": .ascending], unique: true)
        try db.collection("people").save([["_id": 1], ["_id": 2]])
        try db.collection("keys").save([["_id": 1, "owner": 1], ["_id": 2, "owner": 2]])
        try db.collection("pets").save([["_id": 1, "of": 1], ["_id": 2, "of": 2]])
        #expect(errorCode { _ = try db.collection("people").remove([:]) } == .notUnique)
        #expect(try all("people").count == 2)
        #expect(try all("pets").count == 2)
        #expect(try all("keys") == [["_id": 1, "owner": 1], ["_id": 2, "owner": 2]])
        try db.write { transaction in
            let people = try transaction.collection("people")
            #expect(try people.remove(["_id": 1]) == 1)
            #expect(errorCode { try transaction.savepoint { _ = try people.remove(["_id": 2]) } } == .notUnique)
            #expect(errorCode { _ = try people.remove(["_id": 2]) } == .notUnique)
            #expect(try transaction.collection("pets").find().all() == [["_id": 2, "of": 2]])
        }
        #expect(try all("people") == [["_id": 2]])
        #expect(try all("keys") == [["_id": 1, "owner": .null], ["_id": 2, "owner": 2]])
    }

    @Test(
        "A reference follows a collection that is renamed, at both ends, and a name that is free again is another collection"
    )
    func renames() throws {
        try db.setReferences([.init("to", to: "old", onDelete: .cascade)], of: "holders")
        try db.collection("old").save([["_id": 1], ["_id": 2]])
        try db.collection("holders").save([["_id": 1, "to": 1], ["_id": 2, "to": 2]])
        try db.renameCollection("old", to: "new")
        try db.collection("old").save(["_id": 1])
        try db.collection("old").remove([:])
        #expect(try all("holders").count == 2)
        #expect(try db.collections().first { $0.name == "holders" }?.references.map(\.collection) == ["new"])
        try db.renameCollection("holders", to: "others")
        #expect(try db.danglingReferences().count == 0)
        try db.collection("new").remove(["_id": 1])
        #expect(try all("others") == [["_id": 2, "to": 2]])
        struct Rollback: Error {}
        try? db.write { transaction in
            try transaction.renameCollection("new", to: "newer")
            try transaction.collection("newer").remove([:])
            #expect(try transaction.collection("others").count() == 0)
            throw Rollback()
        }
        #expect(try all("others") == [["_id": 2, "to": 2]])
        #expect(try db.collections().first { $0.name == "others" }?.references.map(\.collection) == ["new"])
    }

    @Test("Dropping a collection applies the rules to those who refer to it, and one that is made again has them too")
    func drops() throws {
        try db.setReferences([.init("to", to: "t", onDelete: .nullify)], of: "n")
        try db.setReferences([.init("to", to: "t", onDelete: .cascade)], of: "c")
        try db.setReferences([.init("c", to: "c", onDelete: .cascade)], of: "t")
        for _ in 0..<2 {
            try db.collection("c").save([["_id": 1, "to": 1], ["_id": 2, "to": 7]])
            try db.collection("t").save([["_id": 1, "c": 2], ["_id": 2]])
            try db.collection("n").save([["_id": 1, "to": [1, 2, 7]]])
            #expect(try db.dropCollection("t"))
            #expect(try db.collectionNames() == ["c", "n"])
            #expect(try all("c") == [["_id": 2, "to": 7]])
            #expect(try all("n") == [["_id": 1, "to": [7]]])
            #expect(try db.repairDanglingReferences().removed == 1)
        }
        // What was declared of the dropped collection went with it.
        #expect(try db.collections().first { $0.name == "t" } == nil)
        try db.collection("t").save(["_id": 1, "c": 9])
        #expect(try db.collections().first { $0.name == "t" }?.references.isEmpty == true)
    }

    @Test(
        "A path that is none, or leads to positions or wildcards, is an error, and changes nothing",
        arguments: ["", ".", "a.", ".a", "a..b", "a.0", "*", "**", "a.*", "a.**", "**.a", "a\u{0}b", "_id.x.0"])
    func badPaths(path: String) throws {
        try db.setReferences([.init("good", to: "t", onDelete: .deny)], of: "h")
        let code = errorCode {
            try db.setReferences([.init("fine", to: "t"), .init(path, to: "t", onDelete: .cascade)], of: "h")
        }
        #expect(code != nil, "\(path)")
        #expect(try db.collections().first { $0.name == "h" }?.references.map(\.path) == ["good"])
    }

    @Test(
        "A name that no collection can have is an error",
        arguments: ["", "$x", "a\u{0}b", String(repeating: "x", count: 5_000)])
    func badNames(name: String) throws {
        #expect(errorCode { try db.setReferences([.init("to", to: name)], of: "h") } != nil)
        #expect(errorCode { try db.setReferences([.init("to", to: "t")], of: name) } != nil)
        #expect(try db.collections().allSatisfy { $0.references.isEmpty })
    }

    @Test("64 references are allowed, not more")
    func numberOfReferences() throws {
        let references = (0..<65).map { Database.CollectionReference("r\($0)", to: "t", onDelete: .cascade) }
        #expect(errorCode { try db.setReferences(references, of: "h") } != nil)
        try db.setReferences(Array(references.dropLast()), of: "h")
        try db.collection("t").save(["_id": 1])
        try db.collection("h").save([["_id": 1, "r63": 1], ["_id": 2, "r64": 1]])
        try db.collection("t").remove([:])
        #expect(try all("h") == [["_id": 2, "r64": 1]])
    }

    @Test("Names with dots, quotes, emoji and combining marks are kept apart")
    func names() throws {
        let targets = ["a.b", "ü", "u\u{308}", "👩‍👩‍👧", "with space", "quote\"'\\"]
        for (number, target) in targets.enumerated() {
            try db.setReferences([.init("field é\\.x.to", to: target, onDelete: .cascade)], of: "h\(number)")
            try db.collection(target).save(["_id": 1])
            try db.collection("h\(number)").save([
                ["_id": 1, "field é.x": ["to": 1]], ["_id": 2, "field é": ["x": ["to": 1]]],
            ])
        }
        for (number, target) in targets.enumerated() {
            #expect(try all("h\(number)").count == 2)
            #expect(try db.dropCollection(target))
            #expect(try all("h\(number)").map { $0["_id"] } == [2], "\(target)")
        }
    }

    @Test("An _id that refers is removed with its target, and is never made null")
    func references_of_id() throws {
        try db.setReferences([.init("_id", to: "t", onDelete: .cascade)], of: "details")
        try db.collection("t").save([["_id": 1], ["_id": 2]])
        try db.collection("details").save([["_id": 1], ["_id": 2]])
        try db.collection("t").remove(["_id": 1])
        #expect(try all("details") == [["_id": 2]])
        if errorCode({ try db.setReferences([.init("_id", to: "t", onDelete: .nullify)], of: "details") }) == nil {
            #expect(errorCode { _ = try db.collection("t").remove([:]) } != nil)
            #expect(try all("t") == [["_id": 2]])
        }
        #expect(try all("details") == [["_id": 2]])
    }

    @Test("Rules that a transaction declares are there in it, and gone when it is rolled back")
    func declaredInTransaction() throws {
        struct Rollback: Error {}
        try db.collection("t").save([["_id": 1]])
        try db.collection("h").save([["_id": 1, "to": 1]])
        #expect(throws: Rollback.self) {
            try db.write { transaction in
                try transaction.setReferences([.init("to", to: "t", onDelete: .cascade)], of: "h")
                try transaction.collection("t").remove([:])
                #expect(try transaction.collection("h").count() == 0)
                throw Rollback()
            }
        }
        #expect(try all("h").count == 1)
        try db.collection("t").remove([:])
        #expect(try all("h").count == 1)
        #expect(try db.danglingReferences().count == 0)
    }

    @Test("What rules change is observed, and dated, like any other change")
    func observedAndDated() async throws {
        try await db.setReferences([.init("to", to: "t", onDelete: .cascade)], of: "c")
        try await db.setReferences([.init("to", to: "t", onDelete: .nullify)], of: "n")
        try await db.setTimestamps(Database.Timestamps(), of: "n")
        try await db.collection("t").save(["_id": 1])
        try await db.collection("c").save(["_id": 1, "to": 1])
        try await db.collection("n").save(["_id": 1, "to": 1])
        let before = try #require(all("n").first)
        try await Task.sleep(for: .milliseconds(3))
        let events = db.objectChanges()
        try await db.collection("t").remove(["_id": 1])
        let after = try #require(all("n").first)
        #expect(after["to"] == .null)
        #expect(after["createdAt"] == before["createdAt"])
        guard case .date(let first) = before["updatedAt"], case .date(let last) = after["updatedAt"] else {
            Issue.record("no dates")
            return
        }
        #expect(last > first)
        for try await event in events {
            #expect(
                event.deleted == [ObjectKey(collection: "t", id: 1), ObjectKey(collection: "c", id: 1)])
            #expect(event.updated == [ObjectKey(collection: "n", id: 1)])
            #expect(event.inserted.isEmpty)
            break
        }
    }

    @Test("Writers at the same time leave no reference that dangles, and no document that was denied its removal goes")
    func concurrentWriters() async throws {
        try await db.setReferences(
            [.init("to", to: "t", onDelete: .cascade), .init("all", to: "t", onDelete: .nullify)], of: "h")
        try await db.setReferences([.init("to", to: "h", onDelete: .deny)], of: "locks")
        try await db.collection("h").ensureIndex(on: ["to": .ascending])
        let db = db
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in Int32(0)..<6 {
                group.addTask {
                    for step in Int32(0)..<40 {
                        let id = BSONValue.int32((worker * 7 + step) % 10)
                        if (worker + step) % 2 == 0 {
                            try await db.write { transaction in
                                try transaction.collection("t").save(["_id": id])
                                try transaction.collection("h").save([
                                    "_id": .int32(worker * 100 + step), "to": id, "all": [id, id],
                                ])
                                if step % 5 == 0 {
                                    try transaction.collection("locks").save([
                                        "_id": .int32(worker * 100 + step), "to": .int32(worker * 100 + step),
                                    ])
                                }
                            }
                        } else {
                            do { try await db.collection("t").remove(["_id": id]) } catch let error as TansuError
                                where error.code == .referenced
                            {}
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await db.danglingReferences().count == 0)
        #expect(try all("locks").count == 12 + 12)
    }

    @Test("Repairing applies the rules to what dangles, over cycles, and leaves nothing that it should have found")
    func repair() throws {
        try db.collection("a").save([
            ["_id": 1, "n": [9, 9, 2], "c": .null], ["_id": 2, "c": 9], ["_id": 3, "c": 2], ["_id": 4, "d": 9, "c": 3],
        ])
        try db.setReferences(
            [
                .init("n", to: "a", onDelete: .nullify), .init("c", to: "a", onDelete: .cascade),
                .init("i", to: "a", onDelete: .ignore),
            ], of: "a")
        let dangling = try db.danglingReferences()
        #expect(dangling.documents == 2)
        let repair = try db.repairDanglingReferences()
        #expect(repair.removed == 1)
        #expect(try all("a") == [["_id": 1, "n": [], "c": .null]])
        #expect(try db.danglingReferences().count == 0)
    }
}
