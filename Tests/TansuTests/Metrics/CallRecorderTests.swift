import CoreMetrics
import Foundation
import Logging
import Tansu
import Testing

@Suite("Logging and metrics")
struct CallRecorderTests {
    private func database(_ log: CapturingLog, slow: Duration = .zero) throws -> Database {
        var logger = Logger(label: "test", factory: { _ in log })
        logger.logLevel = .trace
        return try Database(.memory, options: .init(logger: logger, slowCallTime: slow))
    }

    @Test("A slow query is logged with its plan and a suggested index, and without its values")
    func slowQuery() async throws {
        let log = CapturingLog()
        let db = try database(log)
        let people = try db.collection("people")
        try await people.save((0..<200).map { ["_id": BSONValue($0), "age": BSONValue($0 % 50), "name": "secret"] })
        _ = try await people.find(["age": ["$gt": 45], "name": "secret"]).sorted(by: "age").all()
        let entry = await log.first("slow find")
        #expect(entry.level == .warning)
        #expect(entry.metadata["collection"] == "people")
        #expect(entry.metadata["query"] == #"{"age":{"$gt":"?"},"name":"?"}"#)
        #expect(entry.metadata["orderby"] == #"{"age":1}"#)
        #expect(entry.metadata["plan"] == "scan")
        #expect(entry.metadata["documentsExamined"] == "200")
        #expect(entry.metadata["returned"] == "16")
        let line = #"try db.collection("people").ensureIndex(on: ["name": .ascending, "age": .ascending])"#
        #expect(entry.metadata["suggestion"] == line)
        #expect(entry.metadata["milliseconds"].flatMap { Double($0.description) } != nil)
        #expect(!log.text.contains("secret"))
    }

    @Test("The values of queries are logged where an option says so")
    func values() async throws {
        let log = CapturingLog()
        var options = Database.Options(logger: Logger(label: "test", factory: { _ in log }), slowCallTime: .zero)
        options.logsQueryValues = true
        let people = try Database(.memory, options: options).collection("people")
        _ = try await people.find(["name": "secret", "age": ["$gt": 45]]).all()
        #expect(await log.first("slow find").metadata["query"] == #"{"name":"secret","age":{"$gt":45}}"#)
    }

    @Test("A list of slow calls gets the values that the log does not get, with or without a log")
    func list() async throws {
        for log in [CapturingLog(), nil] {
            let listed = CapturingLog()
            var options = Database.Options(slowCallTime: .zero)
            options.logger = log.map { log in Logger(label: "test", factory: { _ in log }) }
            let start = Date()
            options.slowCallList = { kind, end, details in
                #expect(end >= start)
                Logger(label: "test", factory: { _ in listed }).info("\(kind)", metadata: details)
            }
            let people = try Database(.memory, options: options).collection("people")
            _ = try await people.find(["name": "secret"]).all()
            let entry = await listed.first("find")
            #expect(entry.metadata["query"] == #"{"name":"secret"}"#)
            #expect(entry.metadata["plan"] != nil)
            if let log { #expect(await log.first("slow find").metadata["query"] == #"{"name":"?"}"#) }
        }
    }

    @Test("Slow calls of every kind are logged")
    func kinds() async throws {
        let log = CapturingLog()
        let db = try database(log)
        let people = try db.collection("people")
        try await people.save(["_id": 1, "age": 5])
        _ = try await people.get(1)
        _ = try await people.count(["age": 5])
        _ = try await people.distinct("age")
        _ = try await people.aggregate(group: ["fields": ["n": ["$count": true]]])
        try await people.update(["age": 5], ["$inc": ["age": 1]], hints: ["$upsert": true])
        try await people.findAndUpdate(["age": 6], ["$inc": ["age": 1]])
        try await people.remove(["age": 7])
        try await people.remove(id: 1)
        _ = try await people.aggregate([["$match": ["age": 5]]]).all()
        #expect(await log.first("slow pipeline").metadata["pipeline"] == #"[{"$match":{"age":"?"}}]"#)
        for kind in [
            "save", "get", "count", "distinct", "aggregate", "update", "findAndModify", "remove", "begin", "commit",
            "pipeline",
        ] {
            let entry = await log.first("slow \(kind)")
            #expect(entry.message == "slow \(kind)")
        }
    }

    @Test("The calls of JSON commands are logged")
    func commands() async throws {
        let log = CapturingLog()
        let db = try database(log)
        _ = try await db.executeJSON(#"{"op": "count", "collection": "people", "query": {"name": "secret"}}"#)
        let entry = await log.first("slow count")
        #expect(entry.metadata["query"] == #"{"name":"?"}"#)
        #expect(entry.metadata["plan"] != nil)
    }

    @Test("A write transaction that waits for another one is slow to begin")
    func waiting() async throws {
        let log = CapturingLog()
        let db = try database(log, slow: .milliseconds(20))
        let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            try? db.write { _ in
                held.signal()
                release.wait()
            }
        }
        held.wait()
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.1)
            release.signal()
        }
        try await db.collection("people").save(["_id": 1])
        let entry = await log.first("slow begin")
        #expect(entry.metadata["milliseconds"].flatMap { Double($0) } ?? 0 >= 20)
    }

    @Test("A duration below a millisecond bounds what is logged, too")
    func shortBound() async throws {
        let log = CapturingLog()
        let db = try database(log, slow: .nanoseconds(1))
        try await db.collection("people").save(["_id": 1])
        #expect(await log.first("slow save").metadata["collection"] == "people")
    }

    @Test("Fast calls are not logged")
    func underTheBound() throws {
        let log = CapturingLog()
        let db = try database(log, slow: .seconds(3600))
        let people = try db.collection("people")
        try people.save(["_id": 1])
        _ = try people.find().all()
        #expect(log.text.isEmpty)
    }

    @Test("The steps of a migration are logged")
    func migrations() async throws {
        let log = CapturingLog()
        let db = try database(log, slow: .seconds(3600))
        var migrations = Database.Migrations()
        migrations.add("one") { _ in }
        try await db.migrate(migrations)
        let entry = await log.first("migration step done")
        #expect(entry.level == .info)
        #expect(entry.metadata["step"] == "one")
    }

    @Test(
        "A database closes during an explanation, and one that is released during it is freed",
        arguments: [true, false])
    func closing(closes: Bool) async throws {
        for _ in 0..<20 {
            let log = CapturingLog()
            weak var released: Database?
            do {
                let db = try database(log)
                released = db
                let people = try db.collection("people")
                try await people.save((0..<50).map { ["_id": BSONValue($0)] })
                _ = try await people.find(["a": 1]).all()
                if closes { try await db.close() }
            }
            #expect(await log.first("slow find").metadata["collection"] == "people")
            #expect(released == nil)
        }
    }

    @Test("Calls are timed and failures counted with metrics")
    func metrics() throws {
        let metrics = CountingMetrics()
        let db = try Database(.memory, options: .init(metrics: metrics))
        let people = try db.collection("people")
        try people.insert(["_id": 1])
        #expect(throws: TansuError.self) { try people.insert(["_id": 1]) }
        _ = try people.find().all()
        let cursor = try people.find().makeCursor()
        while try cursor.next() != nil {}
        cursor.close()
        try db.write { try $0.collection("people").save(["_id": 2]) }
        #expect(metrics.count("tansu.call.duration save") == 3)
        #expect(metrics.count("tansu.call.duration find") == 2)
        #expect(metrics.count("tansu.call.duration begin") == 1)
        #expect(metrics.count("tansu.call.duration commit") == 1)
        #expect(try people.get(9) == nil)
        #expect(metrics.count("tansu.call.duration get") == 1)
        #expect(metrics.count("tansu.call.failures get") == 0)
        #expect(metrics.count("tansu.call.failures save") == 1)
        #expect(metrics.count("tansu.call.failures find") == 0)
        #expect(throws: TansuError.self) { try people.find(["a": ["$nope": 1]]).all() }
        #expect(metrics.count("tansu.call.failures find") == 1)
    }

    @Test("A clone is measured with the metrics of its own options")
    func clone() async throws {
        let (own, other) = (CountingMetrics(), CountingMetrics())
        let db = try Database(.memory, options: .init(metrics: own))
        let copy = try await db.clone(to: .memory, options: .init(metrics: other))
        try await copy.collection("people").save(["_id": 1])
        #expect(own.count("tansu.call.duration save") == 0)
        #expect(other.count("tansu.call.duration save") == 1)
    }
}

/// Counts how often each timer and counter was used.
final class CountingMetrics: MetricsFactory, @unchecked Sendable {
    private let lock = NSLock()
    private var counts: [String: Int] = [:]

    private final class Handler: TimerHandler, CounterHandler, RecorderHandler {
        let note: @Sendable (Int) -> Void

        init(_ note: @escaping @Sendable (Int) -> Void) { self.note = note }
        func recordNanoseconds(_ duration: Int64) { note(1) }
        func increment(by amount: Int64) { note(Int(amount)) }
        func reset() {}
        func record(_ value: Int64) {}
        func record(_ value: Double) {}
    }

    func count(_ name: String) -> Int { lock.withLock { counts[name] ?? 0 } }

    private func handler(_ label: String, _ dimensions: [(String, String)]) -> Handler {
        let name = ([label] + dimensions.map(\.1)).joined(separator: " ")
        return Handler { amount in self.lock.withLock { self.counts[name, default: 0] += amount } }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { handler(label, dimensions) }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { handler(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        handler(label, dimensions)
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
}
