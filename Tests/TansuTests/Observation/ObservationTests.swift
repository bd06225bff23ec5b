import Foundation
import Testing

@testable import Tansu
import TansuTestSupport

@Suite("Live queries")
struct ObservationTests {
    @Test("delivers the first result immediately, and later ones when they differ")
    func results() async throws {
        let (db, people) = try fourPeople()
        var adults = people.find(["age": ["$gte": 18]]).sorted(by: "name").observe().makeAsyncIterator()
        #expect(try await adults.next()?.map(\.name) == ["lena", "rosa"])
        // None of these changes the result.
        try await db.collection("pets").save(["_id": 1, "name": "tom"])
        try await people.save(["_id": 9, "name": "anna", "age": 3])
        try await people.update(["_id": 3], ["$set": ["age": 8]])
        #expect(throws: CancellationError.self) {
            try db.write { transaction in
                try transaction.collection("people").save(["_id": 10, "name": "zoe", "age": 50])
                throw CancellationError()
            }
        }
        try await people.save(["_id": 11, "name": "mona", "age": 40])
        #expect(try await adults.next()?.map(\.name) == ["lena", "mona", "rosa"])
        try await db.renameCollection("people", to: "folk")
        #expect(try await adults.next()?.count == 0)
    }

    @Test("delivers one result of many commits")
    func coalescing() async throws {
        let (_, people) = try fourPeople()
        var all = people.observe(hints: ["$orderby": ["_id": 1]]).makeAsyncIterator()
        #expect(try await all.next()?.count == 4)
        for id in 5...20 { try await people.save(["_id": BSONValue(id)]) }
        #expect(try await all.next()?.count == 20)
        try await people.remove(["_id": 20])
        #expect(try await all.next()?.count == 19)
    }

    @Test("follows typed values, limits and projections")
    func typed() async throws {
        struct Name: Codable, Hashable { var name: String }
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        var oldest = people.find().sorted(by: "age", .descending).limit(1).observe().makeAsyncIterator()
        var names = people.find().fields(["name": 1, "_id": 0]).decoded(as: Name.self).observeChanges()
            .makeAsyncIterator()
        #expect(try await oldest.next() == [])
        #expect(try await names.next()?.elements == [])
        try await people.save(.mike)
        #expect(try await oldest.next() == [.mike])
        #expect(try await names.next()?.changes == [.inserted(at: 0)])
        try await people.save(.omar)
        try await people.save(.rosa)
        #expect(try await oldest.next() == [.rosa])
        #expect(try await names.next()?.elements == [Name(name: "mike"), Name(name: "omar"), Name(name: "rosa")])
    }

    @Test("observes other collections too when it joins their documents")
    func joins() async throws {
        let db = try Database(.memory)
        let pets = try db.collection("pets")
        let people = try db.collection("people")
        try await pets.save(["_id": 1, "name": "tom"])
        try await people.save(["_id": 1, "pet": 1])
        var joined = people.find(["$do": ["pet": ["$join": "pets"]]]).observe().makeAsyncIterator()
        #expect(try await joined.next()?.first?[path: "pet.name"] == "tom")
        try await pets.save(["_id": 1, "name": "tim"])
        #expect(try await joined.next()?.first?[path: "pet.name"] == "tim")
    }

    @Test("ends with an error, the task or the database, and frees everything")
    func ending() async throws {
        let (db, people) = try fourPeople()
        var wrong = people.observe(["age": ["$unheard": 1]]).makeAsyncIterator()
        await #expect { try await wrong.next() } throws: { ($0 as? TansuError)?.code == .invalidQuery }
        #expect(try await wrong.next() == nil)
        #expect(db.engine.openFeeds == 0)
        for try await _ in people.observe() { break }
        #expect(db.engine.openFeeds == 0)
        let cancelled = Task { for try await _ in people.observe() {} }
        while db.engine.commits.waitingTasks == 0 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(db.engine.openFeeds == 0)
        let closed = Task { for try await _ in people.find().observeChanges() {} }
        while db.engine.commits.waitingTasks == 0 { await Task.yield() }
        try await db.close()
        await #expect { try await closed.value } throws: { ($0 as? TansuError)?.code == .closed }
    }

    // MARK: Steps between lists

    /// A list of documents {_id, n}.
    static func list(_ rows: [(id: Int, n: Int)]) throws -> ObservedList<BSONDocument> {
        var list = ObservedList<BSONDocument>()
        for row in rows {
            let document: BSONDocument = ["_id": BSONValue(row.id), "n": BSONValue(row.n)]
            try document.withUnsafeBytes { try list.append($0, .documents) }
        }
        return list
    }

    @Test("delivers the steps for lists on a screen")
    func steps() throws {
        let old = try Self.list([(1, 0), (2, 0), (3, 0), (4, 0)])
        #expect(try Self.list([(1, 0), (3, 0), (4, 0)]).changes(from: old) == [.removed(at: 1)])
        #expect(try Self.list([(1, 0), (2, 0), (9, 0), (3, 0), (4, 0)]).changes(from: old) == [.inserted(at: 2)])
        #expect(try Self.list([(4, 0), (1, 0), (2, 0), (3, 0)]).changes(from: old) == [.moved(from: 3, to: 0)])
        #expect(try Self.list([(1, 0), (2, 7), (3, 0), (4, 0)]).changes(from: old) == [.updated(at: 1)])
        #expect(
            try Self.list([(3, 5), (1, 0), (2, 0)]).changes(from: old) == [
                .removed(at: 3), .moved(from: 2, to: 0), .updated(at: 0),
            ])
        #expect(
            try Self.list([(1, 0), (4, 0)]).changes(from: old) == [.removed(at: 2), .removed(at: 1)],
            "one by one, too, these elements are removed")
        #expect(old.changes(from: ObservedList()) == (0..<4).map { .inserted(at: $0) })
        #expect(old.changes(from: old) == [])
    }

    @Test("the steps, applied to the old list, make the new one", arguments: 0..<20)
    func applied(stream: UInt64) throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed &+ stream)
        var ids = Array(1...12)
        var numbers: [Int: Int] = [:]
        var old = ObservedList<BSONDocument>()
        for _ in 0..<100 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: ids.shuffle(using: &random)
            case 1: numbers[Int.random(in: 1...30, using: &random)] = Int.random(in: 0..<99, using: &random)
            case 2: if let id = ids.randomElement(using: &random) { ids.removeAll { $0 == id } }
            default:
                let id = Int.random(in: 1...30, using: &random)
                if !ids.contains(id) { ids.insert(id, at: Int.random(in: 0...ids.count, using: &random)) }
            }
            let new = try Self.list(ids.map { ($0, numbers[$0] ?? 0) })
            let update = Database.ListUpdate(elements: new.elements, changes: new.changes(from: old))
            #expect(Self.apply(update, to: old.elements) == new.elements, "TANSU_SEED=\(seed), stream \(stream)")
            old = new
        }
    }

    /// What a screen does with an update: it uses the new elements only where a change says so.
    static func apply(_ update: Database.ListUpdate<BSONDocument>, to old: [BSONDocument]) -> [BSONDocument?] {
        var leaving: Set<Int> = []
        var placed: [Int: BSONDocument] = [:]
        var updated: Set<Int> = []
        for change in update.changes {
            switch change {
            case .removed(let index): leaving.insert(index)
            case .inserted(let index): placed[index] = update.elements[index]
            case .updated(let index): updated.insert(index)
            case .moved(let from, let to):
                leaving.insert(from)
                placed[to] = old[from]
            }
        }
        var staying = old.indices.filter { !leaving.contains($0) }.map { old[$0] }.makeIterator()
        let count = old.count - leaving.count + placed.count
        return (0..<count).map { index in
            let element = placed[index] ?? staying.next()
            return updated.contains(index) ? update.elements[index] : element
        }
    }
}
