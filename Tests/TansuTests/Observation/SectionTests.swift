import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

private struct Contact: Codable, Hashable, Sendable, Identifiable {
    var id: Int
    var name: String
    var team: String?

    var letter: Character { name.first ?? "#" }
}

/// A value that equals nothing, not even itself.
private struct Unequal: Hashable, Sendable {
    static func == (a: Self, b: Self) -> Bool { false }
    func hash(into hasher: inout Hasher) {}
}

extension [Database.ListSection<String?, Contact>] {
    /// The sections as one text: "red: ann bob, nil: cid".
    fileprivate var text: String {
        map { "\($0.value ?? "nil"): \($0.elements.map(\.name).joined(separator: " "))" }.joined(separator: ", ")
    }
}

@Suite("Live queries in sections", .timeLimit(.minutes(20)))
struct SectionTests {
    private func contacts(_ db: Database) throws -> Database.Collection<Contact> {
        try db.collection("contacts", of: Contact.self)
    }

    private func threeContacts() async throws -> (Database, Database.Collection<Contact>) {
        let db = try patientDatabase()
        let contacts = try contacts(db)
        try await contacts.save([
            Contact(id: 1, name: "ann", team: "red"), Contact(id: 2, name: "bob", team: "blue"),
            Contact(id: 3, name: "cid", team: "red"),
        ])
        return (db, contacts)
    }

    @Test("Typed values are followed from section to section, also through empty results")
    func typed() async throws {
        let (_, contacts) = try await threeContacts()
        var lists = try contacts.find().sorted(by: \.name).observe(sectionedBy: \.team).makeAsyncIterator()
        #expect(try await lists.next()?.text == "red: ann cid, blue: bob")
        try await contacts.save(Contact(id: 1, name: "ann", team: "blue"))
        #expect(try await lists.next()?.text == "blue: ann bob, red: cid")
        try await contacts.save(Contact(id: 4, name: "abe", team: nil))
        #expect(try await lists.next()?.text == "nil: abe, blue: ann bob, red: cid")
        try await contacts.update(["team": "blue"], ["$set": ["team": "gold"]])
        #expect(try await lists.next()?.text == "nil: abe, gold: ann bob, red: cid")
        try await contacts.remove([:])
        #expect(try await lists.next() == [])
        try await contacts.save(Contact(id: 9, name: "zoe", team: "red"))
        #expect(try await lists.next()?.text == "red: zoe")
    }

    @Test("Sections are sorted by their values, and elements as the query says")
    func sorted() async throws {
        let (_, contacts) = try await threeContacts()
        let query = try contacts.find().sorted(by: \.name, .descending)
        var up = query.observe(sectionedBy: { $0.team ?? "" }, sorted: .ascending).makeAsyncIterator()
        var down = query.observe(sectionedBy: \.letter, sorted: .descending).makeAsyncIterator()
        #expect(try await up.next()?.map(\.value) == ["blue", "red"])
        #expect(try await down.next()?.map(\.id) == ["c", "b", "a"])
        try await contacts.save(Contact(id: 4, name: "abe", team: "amber"))
        let list = try #require(try await up.next())
        #expect(list.map(\.value) == ["amber", "blue", "red"])
        #expect(list.map { $0.elements.map(\.name) } == [["abe"], ["bob"], ["cid", "ann"]])
        #expect(try await down.next()?.map { $0.elements.map(\.name) } == [["cid"], ["bob"], ["ann", "abe"]])
    }

    @Test("Changes have the steps from what was delivered before")
    func changes() async throws {
        let (_, contacts) = try await threeContacts()
        var updates = try contacts.find().sorted(by: \.name).observeChanges(sectionedBy: \.team).makeAsyncIterator()
        #expect(try await updates.next()?.changes == [.sectionInserted(at: 0), .sectionInserted(at: 1)])
        // Two commits, one result.
        try await contacts.save(Contact(id: 4, name: "dan", team: "blue"))
        try await contacts.save(Contact(id: 3, name: "cid", team: "blue"))
        let update = try #require(try await updates.next())
        #expect(update.sections.text == "red: ann, blue: bob cid dan")
        #expect(
            update.changes == [
                .moved(from: .init(section: 0, item: 1), to: .init(section: 1, item: 1)),
                .inserted(at: .init(section: 1, item: 2)), .updated(at: .init(section: 1, item: 1)),
            ])
        try await contacts.remove(["team": "red"])
        #expect(try await updates.next()?.changes == [.sectionRemoved(at: 0)])
        try await contacts.remove([:])
        #expect(try await updates.next()?.changes == [.sectionRemoved(at: 0)])
    }

    @Test("By the path of a stored value: equal numbers, and null and nothing, are one section")
    func paths() async throws {
        let db = try Database(.memory)
        let items = try db.collection("items")
        try await items.save([
            ["_id": 1, "a": ["b": 2]], ["_id": 2, "a": ["b": 2.0]], ["_id": 3, "a": ["b": .int64(2)]],
            ["_id": 4, "a": ["b": nil]], ["_id": 5, "a": 7], ["_id": 6], ["_id": 7, "a": ["b": "2"]],
            ["_id": 8, "a": ["b": 2.5]],
            ["_id": 9, "a": ["b": .double(.nan)]], ["_id": 10, "a": ["b": .double(.nan)]],
        ])
        let query = items.find().sorted(by: "_id")
        var sections = query.observe(sectionedBy: "a.b").makeAsyncIterator()
        let first = try #require(try await sections.next())
        #expect(first.map { $0.elements.count } == [3, 3, 1, 1, 2])
        #expect(first[0].value == 2 && first[1].value == nil && first[2].value == "2" && first[3].value == 2.5)
        #expect(first[0].value == .int32(2))
        var updates = query.observeChanges(sectionedBy: "a.b").makeAsyncIterator()
        _ = try await updates.next()
        // The section's number is stored in another way, which is the same section.
        try await items.remove(id: 1)
        #expect(try await updates.next()?.changes == [.removed(at: .init(section: 0, item: 0))])
        var sorted = query.observe(sectionedBy: "_id", sorted: .by { ($0?.intValue ?? 0) > ($1?.intValue ?? 0) })
            .makeAsyncIterator()
        #expect(try await sorted.next()?.first?.value == 10)
        // A typed collection, whose stored names are those of the path.
        try await db.collection("contacts").save(["_id": 1, "name": "ann", "team": "red"])
        var typed = try contacts(db).find().observe(sectionedBy: "_id").makeAsyncIterator()
        #expect(try await typed.next()?.map(\.value) == [1])
        // What the query leaves out has no value.
        var projected = items.find(["_id": 2]).fields(["a": 0]).observe(sectionedBy: "a.b").makeAsyncIterator()
        #expect(try await projected.next()?.map(\.value) == [.none])
    }

    @Test("A malformed path is an error of the query", arguments: ["", ".", "a..b", "a."])
    func malformed(path: String) async throws {
        let db = try Database(.memory)
        var sections = try db.collection("items").find().observe(sectionedBy: path).makeAsyncIterator()
        await #expect { try await sections.next() } throws: { ($0 as? TansuError)?.code == .invalidQuery }
        #expect(try await sections.next() == nil)
        var updates = try db.collection("items").find().observeChanges(sectionedBy: path).makeAsyncIterator()
        await #expect { try await updates.next() } throws: { ($0 as? TansuError)?.code == .invalidQuery }
        #expect(db.engine.openFeeds == 0)
    }

    @Test("Raw documents, joins, limits, and documents that a projection has made alike")
    func raw() async throws {
        let (db, people) = try fourPeople()
        var byAge = people.find().sorted(by: "name").limit(3).observe(sectionedBy: \.["age"]).makeAsyncIterator()
        let ages = try await byAge.next()?.map { $0.elements.compactMap(\.name?.stringValue) }
        #expect(ages == [["lena"], ["mike"], ["omar"]])
        var alike = people.find().fields(["age": 1, "_id": 0]).observeChanges(sectionedBy: "age").makeAsyncIterator()
        #expect(try await alike.next()?.sections.map(\.elements.count) == [1, 2, 1])
        try await people.save(["_id": 9, "age": 35])
        let update = try #require(try await alike.next())
        #expect(update.sections.map(\.elements.count) == [1, 3, 1])
        #expect(update.changes.count == 1)
        try await db.collection("teams").save(["_id": "x", "city": "rome"])
        try await people.save(["_id": 1, "team": "x"])
        var joined = people.find(["_id": 1, "$do": ["team": ["$join": "teams"]]]).observe(sectionedBy: "team.city")
            .makeAsyncIterator()
        #expect(try await joined.next()?.map(\.value) == ["rome"])
        try await db.collection("teams").save(["_id": "x", "city": "oslo"])
        #expect(try await joined.next()?.map(\.value) == ["oslo"])
    }

    @Test("A value is asked for once for each document of a result, and not when nothing has changed")
    func calls() async throws {
        let (_, contacts) = try await threeContacts()
        let calls = Locked(0)
        var updates = contacts.find(["_id": ["$lt": 100]]).observeChanges(sectionedBy: { contact -> String? in
            calls.withLock { $0 += 1 }
            return contact.team
        }).makeAsyncIterator()
        _ = try await updates.next()
        #expect(calls.withLock { $0 } == 3)
        try await contacts.save(Contact(id: 100, name: "far", team: "red"))
        try await contacts.save(Contact(id: 4, name: "eve", team: "red"))
        #expect(try await updates.next()?.changes == [.inserted(at: .init(section: 0, item: 2))])
        #expect(calls.withLock { $0 } == 7)
    }

    @Test("Values that equal nothing, and orders that are none, do no harm")
    func hostileValues() async throws {
        let (_, contacts) = try await threeContacts()
        var unequal = contacts.find().observeChanges(sectionedBy: { _ in Unequal() }, sorted: .by { _, _ in true })
            .makeAsyncIterator()
        #expect(try await unequal.next()?.changes.count == 3)
        var nans = contacts.find().observeChanges(sectionedBy: { _ in Double.nan }, sorted: .ascending)
            .makeAsyncIterator()
        #expect(try await nans.next()?.sections.count == 3)
        // A closure that does not depend on the document alone: steps lead from what was delivered.
        let run = Locked(0)
        var moody = contacts.find().sorted(by: "_id").observeChanges(sectionedBy: { _ in run.withLock { $0 } })
            .makeAsyncIterator()
        #expect(try await moody.next()?.changes == [.sectionInserted(at: 0)])
        run.withLock { $0 = 1 }
        try await contacts.save(Contact(id: 4, name: "dan", team: nil))
        #expect(try await moody.next()?.changes == [.sectionRemoved(at: 0), .sectionInserted(at: 0)])
        #expect(try await unequal.next()?.changes.count == 3 + 4)
        #expect(try await nans.next()?.changes.count == 3 + 4)
    }

    @Test("After an error of decoding the next change is delivered, with steps from the last result")
    func decodingErrors() async throws {
        let (db, contacts) = try await threeContacts()
        var updates = contacts.find().observeChanges(sectionedBy: \.team).makeAsyncIterator()
        _ = try await updates.next()
        try await db.collection("contacts").save(["_id": 4, "team": "red"])
        await #expect(throws: DecodingError.self) { try await updates.next() }
        try await db.collection("contacts").remove(id: 4)
        #expect(try await updates.next()?.changes == [])
        try await db.collection("contacts").save(["_id": 4, "team": "red"])
        var broken = contacts.find().observe(sectionedBy: \.team).makeAsyncIterator()
        await #expect(throws: DecodingError.self) { try await broken.next() }
        try await db.collection("contacts").remove(id: 4)
        #expect(try await broken.next()?.count == 2)
        var skipping = contacts.find().decoding(.skipping()).observe(sectionedBy: \.team).makeAsyncIterator()
        #expect(try await skipping.next()?.count == 2)
    }

    @Test("Ends with the task or the database, and frees everything")
    func ending() async throws {
        let (db, contacts) = try await threeContacts()
        for try await _ in contacts.find().observe(sectionedBy: \.team) { break }
        #expect(db.engine.openFeeds == 0)
        let cancelled = Task { for try await _ in contacts.find().observeChanges(sectionedBy: \.team) {} }
        while db.engine.commits.waitingTasks == 0 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(db.engine.openFeeds == 0)
        let closed = Task { for try await _ in contacts.find().observe(sectionedBy: "team") {} }
        while db.engine.commits.waitingTasks == 0 { await Task.yield() }
        try await db.close()
        await #expect { try await closed.value } throws: { ($0 as? TansuError)?.code == .closed }
    }

    @Test("In a transaction the sections are those of committed documents")
    func transaction() async throws {
        let (db, _) = try await threeContacts()
        let first = try await db.write { tx -> Int? in
            let contacts = try tx.collection("contacts", of: Contact.self)
            try await contacts.save(Contact(id: 4, name: "dan", team: "gold"))
            var sections = contacts.find().observe(sectionedBy: \.team).makeAsyncIterator()
            return try await sections.next()?.count
        }
        #expect(first == 2)
    }
}
