import Foundation
import Tansu
import TansuTestSupport
import Testing

/// A call on a collection that may run long, with the query that it is to run.
private struct LongCall: Sendable, CustomTestStringConvertible {
    typealias Body = @Sendable (Database.Collection<BSONDocument>, BSONDocument) async throws -> Void

    let testDescription: String
    let run: Body

    init(_ name: String, _ run: @escaping Body) {
        testDescription = name
        self.run = run
    }

    static let reads = [
        LongCall("count") { _ = try await $0.count($1) },
        LongCall("all") { _ = try await $0.find($1).all() },
        LongCall("all, sorted") { _ = try await $0.find($1).sorted(by: "t").all() },
        LongCall("first") { _ = try await $0.find($1).first() },
        LongCall("sequence") { for try await _ in $0.find($1) {} },
        LongCall("explain") { _ = try await $0.find($1).explain() },
        LongCall("distinct") { _ = try await $0.distinct("t", $1) },
        LongCall("aggregate") { _ = try await $0.aggregate($1, group: ["by": "t"]) },
        LongCall("pipeline") { _ = try await $0.aggregate([.match($1), .group(by: "$t")]).all() },
        LongCall("pipeline, first") { _ = try await $0.aggregate([.match($1), .group(by: "$t")]).first() },
        LongCall("pipeline, sequence") { for try await _ in try $0.aggregate([.match($1), .group(by: "$t")]) {} },
        LongCall("pipeline, explain") { _ = try await $0.aggregate([.match($1), .group(by: "$t")]).explain() },
    ]
    static let updates = [
        LongCall("update") { try await $0.update($1, ["$set": ["new": 1]]) },
        LongCall("findAndUpdate") { try await $0.findAndUpdate($1, ["$set": ["new": 1]]) },
    ]
    static let removals = [
        LongCall("findAndRemove") { try await $0.findAndRemove($1) },
        LongCall("remove") { try await $0.remove($1) },
    ]
}

/// A write that waits for another one.
private struct WaitingWrite: Sendable, CustomTestStringConvertible {
    typealias Body = @Sendable (Database, Database.Collection<BSONDocument>) async throws -> Void

    let testDescription: String
    let run: Body

    init(_ name: String, _ run: @escaping Body) {
        testDescription = name
        self.run = run
    }

    static let all = [
        WaitingWrite("write") { db, _ in try await db.write { _ = try $0.collection("people").save(["_id": 9]) } },
        WaitingWrite("write that awaits") { db, _ in
            try await db.write { tx in _ = try await tx.collection("people").save(["_id": 9]) }
        },
        WaitingWrite("save") { try await $1.save(["_id": 9]) },
        WaitingWrite("save many") { try await $1.save([["_id": 9], ["_id": 8]]) },
        WaitingWrite("insert") { try await $1.insert(["_id": 9]) },
        WaitingWrite("insert many") { try await $1.insert([["_id": 9], ["_id": 8]]) },
        WaitingWrite("replace") { try await $1.replace(["_id": 1]) },
        WaitingWrite("replace by query") { try await $1.replace(["_id": 1], with: ["new": 1]) },
        WaitingWrite("remove by id") { try await $1.remove(id: 1) },
        WaitingWrite("remove") { try await $1.remove([:]) },
        WaitingWrite("update") { try await $1.update([:], ["$set": ["new": 1]]) },
        WaitingWrite("upsert") { try await $1.upsert(["_id": 9], ["$set": ["new": 1]]) },
        WaitingWrite("update by closure") { try await $1.update(id: 1) { $0["new"] = 1 } },
        WaitingWrite("update all by closure") { try await $1.update([:]) { $0["new"] = 1 } },
        WaitingWrite("find and update") { try await $1.findAndUpdate([:], ["$set": ["new": 1]]) },
        WaitingWrite("find and remove") { try await $1.findAndRemove([:]) },
        WaitingWrite("bulk") { try await $1.bulk([.save(["_id": 9])]) },
        WaitingWrite("create an index") { try await $1.ensureIndex("by_name", on: ["name": .ascending]) },
        WaitingWrite("drop an index") { try await $1.dropIndex("by_age") },
        WaitingWrite("create a collection") { db, _ in try await db.ensureCollection("pets") },
        WaitingWrite("rename a collection") { db, _ in try await db.renameCollection("people", to: "folk") },
        WaitingWrite("drop a collection") { db, _ in try await db.dropCollection("people") },
        WaitingWrite("set a schema") { db, _ in
            try await db.setSchema(DocumentSchema(["required": ["name"]]), for: "people")
        },
        WaitingWrite("migrate") { db, _ in
            var migrations = Database.Migrations()
            migrations.add("one") { _ in }
            try await db.migrate(migrations)
        },
    ]
}

/// A thread that holds the write lock.
private final class WriteLockHolder: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let lock = NSLock()
    private var hasEnded = false

    /// Returns when the lock is held.
    init(_ db: Database) async {
        let held = Signal()
        Thread.detachNewThread { [self] in
            try? db.write { _ in
                Task { await held.give() }
                semaphore.wait()
            }
            lock.withLock { hasEnded = true }
        }
        await held.wait()
    }

    var isHolding: Bool { lock.withLock { !hasEnded } }

    func release() { semaphore.signal() }
}

@Suite("Cancelling tasks")
struct CancellationTests {
    @Test(
        "A long call stops in the middle, keeps nothing and leaves nothing open",
        arguments: LongCall.reads + LongCall.updates + LongCall.removals
    )
    fileprivate func longCall(call: LongCall) async throws {
        let (db, words) = try slowWords()
        let error = try await cancelledInTheMiddle(of: words) { try await call.run(words, slow) }
        #expect(error is CancellationError)
        #expect(try await words.count() == wordCount)
        #expect(try await words.count(["new": 1]) == 0)
        try await db.close()
    }

    @Test("A transaction stops in the middle of a call inside it, and is rolled back")
    func transactions() async throws {
        let (db, words) = try slowWords()
        let change: BSONDocument = ["$set": ["new": 1]]
        let transactions: [@Sendable () async throws -> Void] = [
            { _ = try await db.read { try $0.collection("words").count(slow) } },
            {
                try await db.write { tx in
                    try tx.collection("words").save(["new": 1])
                    try tx.collection("words").update(slow, change)
                }
            },
            { _ = try await db.read { tx in try await tx.collection("words").count(slow) } },
            {
                try await db.write { tx in
                    let words = try tx.collection("words")
                    _ = try await words.save(["new": 1])
                    _ = try await words.update(slow, change)
                }
            },
        ]
        for transaction in transactions {
            let error = try await cancelledInTheMiddle(of: words, transaction)
            #expect(error is CancellationError)
            #expect(try await words.count(["new": 1]) == 0)
        }
        try await db.close()
    }

    @Test("A cancelled write is rolled back, though its closure runs to its end")
    func swallowed() async throws {
        let (db, people) = try fourPeople()
        let inside = Signal()
        let cancelled = Signal()
        let task = Task {
            try await db.write { tx in
                _ = try await tx.collection("people").save(["_id": 9])
                await inside.give()
                await cancelled.wait()
                _ = try? await tx.collection("people").count()
            }
        }
        await inside.wait()
        task.cancel()
        await cancelled.give()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await people.get(9) == nil)
        try await people.save(["_id": 10])
        try await db.close()
    }

    @Test("A task that waits for the write lock stops waiting, and writes nothing", arguments: WaitingWrite.all)
    fileprivate func waiting(write: WaitingWrite) async throws {
        let (db, people) = try fourPeople()
        try await people.ensureIndex("by_age", on: ["age": .ascending])
        let holder = await WriteLockHolder(db)
        let task = Task { try await write.run(db, people) }
        for _ in 0..<20 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(holder.isHolding)
        holder.release()
        #expect(try await people.find().all() == fourPeople().1.find().all())
        #expect(try await people.indexes().map(\.name) == ["by_age"])
        #expect(try await db.collectionNames() == ["people"])
        #expect(try await db.schema(of: "people") == nil)
        try await people.save(["_id": 9])
        try await db.close()
    }

    @Test("A task that waits behind all threads that wait for the write lock stops waiting, too")
    func waitingInTheQueue() async throws {
        let (db, people) = try fourPeople()
        let holder = await WriteLockHolder(db)
        let others = (10..<30).map { id in Task { _ = try await people.save(["_id": BSONValue(id)]) } }
        for _ in 0..<20 { await Task.yield() }
        let task = Task { _ = try await people.save(["_id": 9]) }
        let closure = Task { try await db.write { tx in _ = try tx.collection("people").save(["_id": 9]) } }
        for _ in 0..<20 { await Task.yield() }
        task.cancel()
        closure.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: CancellationError.self) { try await closure.value }
        #expect(holder.isHolding)
        holder.release()
        for other in others { try await other.value }
        #expect(try await people.get(9) == nil)
        #expect(try await people.count() == 24)
        try await db.close()
    }

    @Test("A task inside a transaction that alone is cancelled does not stop the transaction")
    func innerTask() async throws {
        let (db, people) = try fourPeople()
        try await db.write { tx in
            let people = try tx.collection("people")
            for _ in 0..<50 {
                let reader = Task { _ = try await people.find().all() }
                reader.cancel()
                if case .failure(let error) = await reader.result { #expect(error is CancellationError) }
            }
            _ = try await people.save(["_id": 9])
        }
        #expect(try await people.get(9) != nil)
    }

    @Test(
        "A cancellation that meets the call's end leaves a whole answer or a CancellationError",
        arguments: LongCall.reads + LongCall.updates
    )
    fileprivate func races(call: LongCall) async throws {
        let (db, people) = try fourPeople()
        for round in 0..<60 {
            let task = Task { try await call.run(people, ["age": ["$gt": 1]]) }
            for _ in 0..<(round % 12) { await Task.yield() }
            task.cancel()
            if case .failure(let error) = await task.result { #expect(error is CancellationError) }
        }
        #expect(try await people.count() == 4)
        try await db.close()
    }

    @Test("A write that is cancelled as it ends is there when it said so, and not there when it threw")
    func writeRaces() async throws {
        let db = try Database(.memory)
        let a = try db.collection("a")
        var kept: Set<Int> = []
        for round in 0..<300 {
            let task = Task {
                if round.isMultiple(of: 2) {
                    try await db.write { tx in _ = try tx.collection("a").save(["_id": BSONValue(round)]) }
                } else {
                    try await db.write { tx in _ = try await tx.collection("a").save(["_id": BSONValue(round)]) }
                }
            }
            for _ in 0..<(round % 20) { await Task.yield() }
            task.cancel()
            switch await task.result {
            case .success: kept.insert(round)
            case .failure(let error): #expect(error is CancellationError)
            }
        }
        #expect(Set(try await a.find().all().compactMap { $0["_id"]?.intValue }) == kept)
        try await db.close()
    }

    @Test("A document that cannot be decoded is still changed, as without await")
    func undecodable() async throws {
        struct Name: Codable, Sendable { var name: Int }
        let (db, people) = try fourPeople()
        let names = try db.collection("people", of: Name.self)
        await #expect(throws: DecodingError.self) { try await names.findAndUpdate(["_id": 1], ["$set": ["age": 99]]) }
        #expect(try await people.get(1)?.age == 99)
        await #expect(throws: DecodingError.self) { try await names.findAndRemove(["_id": 1]) }
        #expect(try await people.get(1) == nil)
    }

    /// What the call throws when its task is cancelled after it began.
    ///
    /// A thread of its own cancels, for tasks may wait long for the other tests' tasks. Before, it does a small part
    /// of the work that the call has to do: so the call is in its middle by then, however slow the machine is.
    private func cancelledInTheMiddle(
        of words: Database.Collection<BSONDocument>, _ call: @escaping @Sendable () async throws -> Void
    ) async throws -> (any Error)? {
        let begun = DispatchSemaphore(value: 0)
        let task = Task {
            begun.signal()
            try await call()
        }
        let work = Mailbox<Result<Int, any Error>>()
        Thread.detachNewThread {
            begun.wait()
            work.content = Result { try words.count(["_id": ["$lt": BSONValue(wordCount / 400)], "t": slowWord]) }
            task.cancel()
        }
        let result = await task.result
        _ = try work.content?.get()
        if case .failure(let error) = result { return error }
        return nil
    }
}

@Suite("Cancelling from another thread")
struct ThreadCancellationTests {
    @Test("A cursor stops in the middle of a step, permanently")
    func cursor() throws {
        let (db, words) = try slowWords()
        for query in [words.find(slow), words.find(slow).sorted(by: "t")] {
            let cursor = try query.makeCursor()
            let error = stopped(by: cursor.cancel) { _ = try cursor.next() }
            #expect(error == .cancelled)
            let again = #expect(throws: TansuError.self) { try cursor.next() }
            #expect(again?.code == .cancelled)
            cursor.close()
            cursor.cancel()
            #expect(try cursor.next() == nil)
        }
        try db.close()
    }

    @Test("A transaction stops in the middle of a call, and the database stays usable")
    func transaction() throws {
        let (db, words) = try slowWords()
        let read = #expect(throws: TansuError.self) {
            try db.read { tx in
                let error = stopped(by: tx.cancel) { _ = try tx.collection("words").count(slow) }
                #expect(error == .cancelled)
                _ = try tx.collection("words").get(1)
            }
        }
        #expect(read?.code == .cancelled)
        let write = #expect(throws: TansuError.self) {
            try db.write { tx in
                try tx.collection("words").save(["new": 1])
                let error = stopped(by: tx.cancel) { try tx.collection("words").update(slow, ["$set": ["new": 1]]) }
                #expect(error == .cancelled)
            }
        }
        #expect(write?.code == .cancelled)
        #expect(try words.count(["new": 1]) == 0)
        try words.save(["new": 2])
        try db.close()
    }

    @Test("Cancelling after the end is harmless")
    func afterTheEnd() throws {
        let (db, people) = try fourPeople()
        let transaction = try db.write { tx in
            try tx.collection("people").save(["_id": 9])
            return tx
        }
        transaction.cancel()
        #expect(try people.get(9) != nil)
        try db.close()
        transaction.cancel()
    }

    @Test("Cancelling that meets the end of a cursor or transaction neither crashes nor leaves anything open")
    func races() throws {
        let (db, people) = try fourPeople()
        for round in 0..<400 {
            let cursor = try people.find().makeCursor()
            together {
                do { while try cursor.next() != nil {} } catch { #expect((error as? TansuError)?.code == .cancelled) }
                cursor.close()
            } and: {
                cursor.cancel()
            }
            let begun = DispatchSemaphore(value: 0)
            let known = Mailbox<Database.Transaction>()
            together {
                do {
                    try db.write { tx in
                        known.content = tx
                        begun.signal()
                        try tx.collection("people").save(["_id": 100, "round": BSONValue(round)])
                    }
                    #expect(try people.get(100)?.round == BSONValue(round))
                } catch {
                    #expect((error as? TansuError)?.code == .cancelled)
                }
            } and: {
                begun.wait()
                known.content?.cancel()
            }
        }
        try db.close()
    }

    /// The code of what `body` throws while another thread stops it.
    private func stopped(by stop: @escaping @Sendable () -> Void, _ body: () throws -> Void) -> TansuError.Code? {
        let begun = DispatchSemaphore(value: 0)
        let thread = Thread {
            begun.wait()
            stop()
        }
        thread.start()
        do {
            begun.signal()
            try body()
            return nil
        } catch {
            return (error as? TansuError)?.code
        }
    }

    private func together(_ first: @Sendable () -> Void, and second: @Sendable () -> Void) {
        DispatchQueue.concurrentPerform(iterations: 2) { $0 == 0 ? first() : second() }
    }
}

private let wordCount = 4000

/// A condition that is slow on every document of `slowWords()` and matches none.
private let slowWord: BSONValue = ["$regex": "x*x*x*[yz]"]
private let slow: BSONDocument = ["t": slowWord]

/// A memory database with documents on which `slow` takes seconds.
private func slowWords() throws -> (Database, Database.Collection<BSONDocument>) {
    let db = try Database(.memory)
    let words = try db.collection("words")
    try words.save((0..<wordCount).map { ["_id": BSONValue($0), "t": .string(slowText)] })
    return (db, words)
}

/// Passes a value from one thread to another that waits for it.
private final class Mailbox<Content: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Content?

    var content: Content? {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }
}
