import Foundation
import Tansu
import TansuObjects
import TansuTestSupport
import Testing

private struct Note: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var text = ""
    var createdAt: Date?
    var updatedAt: Date?
}

/// A type that knows nothing of its dates.
private struct Plain: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var text = ""
}

@Suite("Timestamps")
struct TimestampTests {
    private let db: Database
    private let notes: Database.Collection<Note>

    init() throws {
        db = try Database(.memory)
        try db.use(
            Model {
                Entity("notes", of: Note.self).timestamps()
                Entity("plain", of: Plain.self)
                    .timestamps(Database.Timestamps(created: nil, updated: "changed"), isIndexed: false)
            })
        notes = try db.collection(of: Note.self)
    }

    /// Dates are stored in milliseconds.
    private var now: Date { Date(timeIntervalSince1970: (Date().timeIntervalSince1970 * 1000).rounded(.down) / 1000) }

    @Test("a model declares them, with indexes, and saves set them")
    func declared() throws {
        let before = now
        try notes.save(Note(id: 1, createdAt: .distantPast))
        let saved = try #require(try notes.get(1))
        let (created, updated) = (try #require(saved.createdAt), try #require(saved.updatedAt))
        #expect(created >= before && created == updated && updated <= Date())
        #expect(try Set(notes.indexes().map(\.name)).isSuperset(of: ["createdAt_1", "updatedAt_1"]))
        try notes.update(id: 1) { $0.text = "new" }
        #expect(try notes.get(1)?.createdAt == created)
        #expect(try db.collections().first { $0.name == "notes" }?.timestamps == Database.Timestamps())
        try db.collection(of: Plain.self).save(Plain(id: 1))
        let document = try #require(try db.collection("plain").get(1))
        #expect(document["changed"] != nil && document["createdAt"] == nil)
        #expect(try db.collection("plain").indexes().isEmpty)
    }

    @Test("queries by when documents were saved")
    func queries() throws {
        let before = now
        try notes.save([Note(id: 1), Note(id: 2)])
        #expect(try notes.find(savedAfter: before.addingTimeInterval(-1)).count() == 2)
        #expect(try notes.find(savedBefore: before).count() == 0)
        #expect(try notes.find(savedBefore: Date().addingTimeInterval(1)).all().map(\.id) == [1, 2])
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "Pacific/Auckland"))
        let onDays = try [-1.0, 0, 1].map {
            try notes.find(savedOn: before.addingTimeInterval($0 * 86_400), in: calendar).count()
        }
        // Midnight may have come between the saves.
        #expect(onDays.reduce(0, +) == 2 && onDays[0] == 0)
        let future = try notes.find(savedAfter: before.addingTimeInterval(3600)).count()
        #expect(future == 0)
        try db.setTimestamps(nil, of: "notes")
        let error = #expect(throws: TansuError.self) { try notes.find(savedAfter: before) }
        #expect(error?.code == .invalidState)
        #expect(throws: TansuError.self) { try db.collection("none").find(savedBefore: before) }
    }

    @Test("set, changed and ended by calls")
    func calls() async throws {
        try await db.setTimestamps(Database.Timestamps(created: "made", updated: nil), of: "things")
        let things = try db.collection("things")
        try await things.save(["_id": 1])
        #expect(try await things.get(1)?["made"] != nil)
        try await db.write { try await $0.setTimestamps(nil, of: "things") }
        try await things.save(["_id": 2])
        #expect(try await things.get(2)?["made"] == nil)
        for bad in [
            Database.Timestamps(created: nil, updated: nil), .init(created: "a.b"), .init(created: "x", updated: "x"),
        ] {
            let error = await #expect(throws: TansuError.self) { try await db.setTimestamps(bad, of: "things") }
            #expect(error?.code == .invalidQuery)
        }
    }

    @Test("an editing context knows the dates that its save has set")
    func context() async throws {
        let context = EditingContext(db)
        try await context.insert(Note(id: 1))
        try await context.insert(Plain(id: 1))
        try await context.save()
        #expect(try await context.get(Note.self, id: 1)?.createdAt != nil)
        // No conflict with its own save.
        try await context.update(Plain.self, id: 1) { $0.text = "a" }
        try await context.update(Note.self, id: 1) { $0.text = "b" }
        #expect(try await context.save() == 2)
        #expect(await context.hasChanges == false)
    }

    @Test("a graph does not save again what differs in its dates only")
    func graph() throws {
        #expect(try db.save(graph: [Plain(id: 1), Note(id: 1)]) == 2)
        #expect(try db.save(graph: [Plain(id: 1), Note(id: 1)]) == 0)
        #expect(try db.save(graph: [Plain(id: 1, text: "a"), Note(id: 1)]) == 1)
    }

    @Test("a model that is used again, and a later one without them")
    func laterModel() throws {
        let folder = try TemporaryFolder()
        for (version, isDated) in [(1, true), (1, true), (2, false)] {
            let db = try Database(path: folder.path("db"))
            try db.use(
                Model(version: version) {
                    if isDated {
                        Entity("notes", of: Note.self).timestamps()
                    } else {
                        Entity("notes", of: Note.self)
                    }
                })
            #expect(try db.collections().first { $0.name == "notes" }?.timestamps == (isDated ? .init() : nil))
            try db.close()
        }
    }
}
