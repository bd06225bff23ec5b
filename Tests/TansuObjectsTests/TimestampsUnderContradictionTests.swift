import Foundation
import Tansu
import TansuObjects
import TansuTestSupport
import Testing

@Suite("Timestamps that documents and updates contradict")
struct TimestampsUnderContradictionTests {
    private let db: Database
    private let notes: Database.Collection<BSONDocument>

    init() throws {
        db = try Database(.memory)
        try db.setTimestamps(Database.Timestamps(), of: "notes")
        notes = try db.collection("notes")
    }

    private func dates(_ id: BSONValue) throws -> (created: Int64, updated: Int64) {
        let document = try #require(try notes.find(["_id": ["$eq": id]]).first())
        guard case .date(let created) = document["createdAt"], case .date(let updated) = document["updatedAt"] else {
            Issue.record("no dates in \(document)")
            return (0, 0)
        }
        #expect(document.filter { $0.key == "createdAt" || $0.key == "updatedAt" }.count == 2)
        return (created, updated)
    }

    private func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// Waits until the clock shows another millisecond.
    private func pass() {
        let start = now()
        while now() <= start + 1 { usleep(500) }
    }

    private static let lies: [BSONValue] = [
        .date(0), .date(.max), .date(.min), .null, "yesterday", 5, .document(["x": 1]), .array([.date(0)]), .minKey,
    ]

    @Test("Whatever a document says of its dates, they are those of the engine", arguments: lies)
    func documents(lie: BSONValue) throws {
        let start = now()
        try notes.insert(["_id": 1, "createdAt": lie, "updatedAt": lie, "text": "a"])
        let first = try dates(1)
        #expect(first.created >= start - 1 && first.created <= now() + 1)
        #expect(first.updated >= first.created)
        pass()
        try notes.save(["createdAt": lie, "_id": 1, "updatedAt": lie, "text": "b"])
        let second = try dates(1)
        #expect(second.created == first.created)
        #expect(second.updated > first.updated)
        pass()
        try notes.replace(["_id": 1, "updatedAt": lie])
        #expect(try dates(1).created == first.created)
        #expect(try dates(1).updated > second.updated)
        try notes.remove(["_id": 1])
        pass()
        try notes.save(["_id": 1, "createdAt": .date(first.created)])
        #expect(try dates(1).created > second.updated)
    }

    @Test(
        "Updates that set, unset, rename, count or take the dates apart leave them dates",
        arguments: [
            ["$set": ["createdAt": .date(0), "updatedAt": .date(0), "n": 1]],
            ["$unset": ["createdAt": "", "updatedAt": ""], "$set": ["n": 1]],
            ["$rename": ["createdAt": "old"]], ["$rename": ["n": "updatedAt"]], ["$inc": ["updatedAt": 5, "n": 1]],
            ["$set": ["createdAt.x": 1, "n": 1]], ["$push": ["updatedAt": 1], "$inc": ["n": 1]],
            ["$min": ["createdAt": .date(0)], "$inc": ["n": 1]],
            ["$currentDate": ["createdAt": true], "$inc": ["n": 1]],
            ["$max": ["updatedAt": .date(.max)], "$inc": ["n": 1]],
            ["$setOnInsert": ["createdAt": .date(0)], "$inc": ["n": 1]],
        ] as [BSONDocument])
    func updates(operations: BSONDocument) throws {
        try notes.save([["_id": 1, "n": 0], ["_id": 2, "n": 0]])
        let (before, other) = (try dates(1), try dates(2))
        pass()
        do {
            try notes.update(["_id": 1], operations)
            let after = try dates(1)
            #expect(after.created == before.created)
            #expect(after.updated > before.updated && after.updated <= now() + 1)
        } catch let error as TansuError {
            // Such as an array's operator on a date; then nothing is changed.
            #expect(error.code == .invalidQuery || error.code == .invalidDocument, "\(error)")
            #expect(try dates(1) == before)
        }
        #expect(try dates(2) == other)
        do {
            _ = try notes.findAndUpdate(["_id": 2], operations, returning: .after)
            #expect(try dates(2).created == other.created)
        } catch is TansuError {}
        _ = try dates(2)
        do {
            try notes.update(["_id": 3], ["$upsert": ["createdAt": .date(0), "n": 1]])
        } catch is TansuError {}
        if try notes.count(["_id": 3]) == 1 { #expect(try dates(3).created > before.created) }
    }

    @Test("What changes nothing is no save, also in the middle of what does")
    func nothing() throws {
        try notes.save([["_id": 1, "n": 1], ["_id": 2, "n": 2]])
        let (first, second) = (try dates(1), try dates(2))
        pass()
        #expect(try notes.update([:], ["$set": ["n": 2]]).modified == 1)
        #expect(try dates(1).updated > first.updated)
        #expect(try dates(2) == second)
        try notes.update(["_id": 2], ["$unset": ["missing": ""]])
        #expect(try dates(2) == second)
    }

    @Test("Names that cannot be fields, or are one for both, are errors, and change nothing")
    func badNames() throws {
        let long = String(repeating: "x", count: 121)
        for name in ["", "_id", "$x", "a.b", "a\u{0}b", long] {
            for timestamps in [Database.Timestamps(created: name), .init(updated: name)] {
                #expect(throws: TansuError.self, "\(name)") { try db.setTimestamps(timestamps, of: "notes") }
            }
        }
        #expect(throws: TansuError.self) { try db.setTimestamps(.init(created: "at", updated: "at"), of: "notes") }
        #expect(throws: TansuError.self) { try db.setTimestamps(.init(created: nil, updated: nil), of: "notes") }
        #expect(try db.collections().first?.timestamps == Database.Timestamps())
        for name in [String(long.dropLast()), "é", "0", "with space", "a\\b", "*", "**", "a*"] {
            try db.setTimestamps(.init(created: nil, updated: name), of: "notes")
            try notes.save(["_id": 1, "n": .string(name)])
            let document = try #require(try notes.find().first())
            guard case .date = document[name] else {
                Issue.record("no date \(name) in \(document)")
                continue
            }
            #expect(try notes.find(savedAfter: Date(timeIntervalSince1970: 0)).count() == 1, "\(name)")
            #expect(try notes.find(savedBefore: Date(timeIntervalSince1970: 0)).count() == 0, "\(name)")
        }
        struct Note: Codable, Sendable, Identifiable { var id: Int }
        for (number, name) in ["a\\b", "*", "**"].enumerated() {
            let db = try Database(.memory)
            try db.use(
                Model { Entity("notes", of: Note.self).timestamps(.init(created: name, updated: "at\(number)")) })
            try db.collection(of: Note.self).save(Note(id: number))
            #expect(try db.collection("notes").indexes().map(\.entries) == [1, 1], "\(name)")
        }
        try db.setTimestamps(nil, of: "notes")
        #expect { try notes.find(savedAfter: Date()) } throws: { ($0 as? TansuError)?.code == .invalidState }
        try notes.save(["_id": 1, "createdAt": "mine"])
        #expect(try notes.find().first() == ["_id": 1, "createdAt": "mine"])
    }

    @Test("Transactions and savepoints that are rolled back leave the dates as they were")
    func rollback() throws {
        struct Rollback: Error {}
        try notes.save(["_id": 1, "n": 1])
        let before = try dates(1)
        pass()
        try? db.write { transaction in
            try transaction.collection("notes").save(["_id": 1, "n": 2])
            throw Rollback()
        }
        #expect(try dates(1) == before)
        try db.write { transaction in
            try? transaction.savepoint {
                try transaction.collection("notes").save(["_id": 1, "n": 2])
                throw Rollback()
            }
        }
        #expect(try dates(1) == before)
        try db.write { try $0.setTimestamps(nil, of: "notes") }
        try notes.save(["_id": 1])
        #expect(try notes.find().first() == ["_id": 1])
    }

    @Test("A document from before keeps its own fields until it is saved, and gets no date of insertion then")
    func before() throws {
        let old = try db.collection("old")
        try old.save([["_id": 1, "n": 1], ["_id": 2, "createdAt": .date(5)]])
        try db.setTimestamps(Database.Timestamps(), of: "old")
        #expect(try old.find().all() == [["_id": 1, "n": 1], ["_id": 2, "createdAt": .date(5)]])
        try old.save(["_id": 1, "n": 2])
        let saved = try #require(try old.find(["_id": 1]).first())
        #expect(saved["createdAt"] == nil)
        guard case .date = saved["updatedAt"] else {
            Issue.record("no date in \(saved)")
            return
        }
        #expect(try old.find(savedAfter: Date(timeIntervalSince1970: 0)).count() == 1)
    }

    @Test("An editing context has the dates that were saved, and its own fields contradict nothing")
    func editing() async throws {
        struct Note: Codable, Sendable, Identifiable, Hashable {
            var id: Int
            var text = ""
            var createdAt: Date?
            var updatedAt: Date?
        }
        let db = try Database(.memory)
        try await db.use(Model { Entity("notes", of: Note.self).timestamps() })
        let context = EditingContext(db)
        try await context.insert(Note(id: 1, createdAt: Date(timeIntervalSince1970: 0)))
        try await context.save()
        let first = try #require(try await context.get(Note.self, id: 1))
        #expect(try await db.collection(of: Note.self).get(1) == first)
        #expect(try #require(first.createdAt).timeIntervalSinceNow > -3600)
        #expect(first.updatedAt != nil)
        pass()
        try await context.update(Note.self, id: 1) {
            $0.text = "a"
            $0.createdAt = nil
            $0.updatedAt = Date(timeIntervalSince1970: 0)
        }
        try await context.save()
        #expect(await !context.hasChanges)
        let second = try #require(try await context.get(Note.self, id: 1))
        #expect(second.createdAt == first.createdAt)
        #expect(try #require(second.updatedAt) > #require(first.updatedAt))
        // Two contexts that change a document in turn, each knowing what it saved, make no conflicts of their own.
        try await context.update(Note.self, id: 1) { $0.text = "b" }
        #expect(try await context.save() == 1)
        #expect(try await context.undo())
        #expect(try await context.save() == 1)
        #expect(try await db.collection(of: Note.self).get(1)?.text == "a")
        // A graph with the same value again is not saved.
        let stored = try #require(try await db.collection(of: Note.self).get(1))
        #expect(try await db.save(graph: [stored]) == 0)
        #expect(try await db.save(graph: [Note(id: 1, text: "a")]) <= 1)
        #expect(try await db.collection(of: Note.self).get(1)?.createdAt == first.createdAt)
    }
}
