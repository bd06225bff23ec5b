import Foundation
import Testing

@testable import Tansu
import TansuTestSupport

@Suite("Change streams")
struct ChangesTests {
    /// The next few changes in few words.
    static func take<Document>(
        _ count: Int, _ iterator: inout Database.Changes<Document>.AsyncIterator
    ) async throws -> [String] {
        var texts: [String] = []
        while texts.count < count, let change = try await iterator.next() { texts.append(text(change)) }
        return texts
    }

    static func text<Document>(_ change: Database.Change<Document>) -> String {
        let end = change.isLastOfCommit ? "." : ""
        let id = change.id?.intValue.map { " \($0)" } ?? ""
        return "\(change.sequence)\(end) \(change.kind) \(change.collection)\(id)"
    }

    @Test("are delivered from the call on, complete commits in order")
    func kinds() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people")
        try await people.save(["_id": 1, "name": "early"])
        var changes = db.changes().makeAsyncIterator()
        try await people.save(["_id": 1, "name": "mike"])
        try await db.write { transaction in
            let both = try transaction.collection("people")
            try await both.save(["_id": 2, "name": "rosa"])
            try await both.remove(["_id": 1])
        }
        try await db.renameCollection("people", to: "folk")
        _ = try await db.removeCollection("folk")
        #expect(
            try await Self.take(5, &changes) == [
                "2. update people 1", "3 insert people 2", "3. remove people 1",
                "4. collectionRenamed(to: \"folk\") people", "5. collectionDropped folk",
            ])
    }

    @Test("have documents as values, before and after as requested")
    func documents() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        var after = people.changes().makeAsyncIterator()
        var both = people.changes(documents: [.before, .after]).makeAsyncIterator()
        var none = people.changes(documents: []).makeAsyncIterator()
        var older = Person.mike
        older.age += 1
        try await people.save(.mike)
        try await people.save(older)
        try await people.remove(["_id": .init(Person.mike.id)])
        var seen: [Database.Change<Person>] = []
        for _ in 0..<4 { if let change = try await both.next() { seen.append(change) } }
        #expect(seen.map(\.kind) == [.collectionCreated, .insert, .update, .remove])
        #expect(seen.map(\.before) == [nil, nil, .mike, older])
        #expect(seen.map(\.after) == [nil, .mike, older, nil])
        #expect(seen[1].id == BSONValue(Person.mike.id))
        _ = try await after.next()
        #expect(try await after.next()?.after == .mike)
        #expect(try await after.next()?.before == nil)
        _ = try await none.next()
        #expect(try await none.next()?.after == nil)
    }

    @Test("resume from a token, also in another run")
    func resuming() async throws {
        let folder = try TemporaryFolder()
        var point = 0
        do {
            let db = try Database(path: folder.path("db"))
            let people = try db.collection("people")
            try await db.write { transaction in
                let both = try transaction.collection("people")
                for id in 1...3 { try await both.save(["_id": BSONValue(id)]) }
            }
            try await people.save(["_id": 4])
            for try await change in people.changes(since: 0) {
                point = change.resumeToken
                if change.id == 4 { break }
                // A commit that was interrupted is delivered again completely.
                #expect(point == (change.id == 3 ? 1 : 0))
            }
            try await people.save(["_id": 5])
            try await db.close()
        }
        let db = try Database(path: folder.path("db"))
        var changes = try db.collection("people").changes(since: point).makeAsyncIterator()
        try await db.collection("people").save(["_id": 6])
        #expect(try await Self.take(2, &changes) == ["3. insert people 5", "4. insert people 6"])
    }

    @Test("a token that cannot be resumed from is an error that says so")
    func rejected() async throws {
        let db = try Database(.memory, options: .init(segmentSize: 1 << 20))
        let people = try db.collection("people")
        let pad = BSONValue(String(repeating: "x", count: 30_000))
        for id in 0..<100 { try await people.save(["_id": BSONValue(id), "pad": pad]) }
        var open = people.changes().makeAsyncIterator()
        try await people.remove(["_id": ["$gte": 1]])
        try await db.compact()
        for number in [7, 1_000_000] {
            var late = people.changes(since: number).makeAsyncIterator()
            await #expect { try await late.next() } throws: { ($0 as? TansuError)?.code == .notFound }
            #expect(try await late.next() == nil)
        }
        var negative = people.changes(since: -1).makeAsyncIterator()
        await #expect { try await negative.next() } throws: { ($0 as? TansuError)?.code == .invalidArgument }
        // The one that was open misses nothing.
        #expect(try await Self.take(99, &open).allSatisfy { $0.contains("remove") })
    }

    @Test("a document that can't be decoded is an error, and the next step continues after it")
    func decoding() async throws {
        let db = try Database(.memory)
        var changes = try db.collection("people", of: Person.self).changes(since: 0).makeAsyncIterator()
        try await db.collection("people").save(["name": 7])
        try await db.collection("people", of: Person.self).save(.rosa)
        #expect(try await changes.next()?.kind == .collectionCreated)
        await #expect(throws: DecodingError.self) { try await changes.next() }
        #expect(try await changes.next()?.after == .rosa)
    }

    @Test("leaving the loop, dropping the sequence and cancelling the task free everything")
    func ending() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people")
        do {
            let unused = people.changes()
            #expect(db.engine.openFeeds == 1)
            _ = unused
        }
        #expect(db.engine.openFeeds == 0)
        try await people.save(["_id": 1])
        for try await _ in people.changes(since: 0) { break }
        #expect(db.engine.openFeeds == 0)

        let waiting = Task { for try await _ in people.changes() {} }
        while db.engine.commits.waitingTasks == 0 { await Task.yield() }
        #expect(db.engine.openFeeds == 1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(db.engine.openFeeds == 0)
        #expect(db.engine.commits.waitingTasks == 0)
        // The thread goes with the last feed; this returns when it has gone.
        db.engine.commits.stop()
        #expect(db.engine.commits.isIdle)
        // And comes again.
        var again = people.changes().makeAsyncIterator()
        try await people.save(["_id": 2])
        #expect(try await Self.take(1, &again) == ["2. insert people 2"])
    }

    @Test("closing a database ends waiting loops")
    func closing() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people")
        let waiting = (0..<3).map { _ in Task { for try await _ in people.changes() {} } }
        while db.engine.commits.waitingTasks < 3 { await Task.yield() }
        try await db.close()
        for task in waiting {
            await #expect { try await task.value } throws: { ($0 as? TansuError)?.code == .closed }
        }
        #expect(db.engine.commits.isIdle)
        var late = people.changes().makeAsyncIterator()
        await #expect { try await late.next() } throws: { ($0 as? TansuError)?.code == .closed }
    }

    @Test("an observed database is closed with the last reference")
    func dropping() async throws {
        let folder = try TemporaryFolder()
        for run in 0..<40 {
            let db = try Database(path: folder.path("db"))  // which fails with .locked while another one has it
            var changes = db.changes().makeAsyncIterator()
            try await db.collection("people").save(["_id": BSONValue(run)])
            while try await changes.next()?.id?.intValue != run {}
        }
    }

    @Test("a hundred tasks wait, and block no thread")
    func many() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people")
        let waiting = (0..<100).map { _ in
            let changes = people.changes()
            return Task { () -> Int in
                for try await change in changes where change.id != nil { return change.sequence }
                return 0
            }
        }
        while db.engine.commits.waitingTasks < 100 { await Task.yield() }
        #expect(try await people.count() == 0)
        try await people.save(["_id": 1])
        for task in waiting { #expect(try await task.value == 1) }
    }

    @Test("each of several readers gets everything that several writers commit, once")
    func concurrency() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people")
        let (writers, each) = (4, 100)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                let changes = people.changes(documents: [])
                group.addTask {
                    var ids: [Int] = []
                    var last = 0
                    for try await change in changes {
                        #expect(change.sequence >= last)
                        last = change.sequence
                        if let id = change.id?.intValue { ids.append(id) }
                        if ids.count == writers * each { break }
                    }
                    #expect(ids.sorted() == Array(0..<writers * each))
                }
            }
            for writer in 0..<writers {
                group.addTask {
                    for i in 0..<each { try await people.save(["_id": BSONValue(writer * each + i)]) }
                }
            }
            try await group.waitForAll()
        }
        #expect(db.engine.openFeeds == 0)
    }
}
