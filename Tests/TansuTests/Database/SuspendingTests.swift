import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

@Suite("Suspending", .timeLimit(.minutes(20)))
struct SuspendingTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.tansu")
    }

    private static func code<Result>(_ body: () throws -> Result) -> TansuError.Code? {
        do {
            _ = try body()
            return nil
        } catch { return (error as? TansuError)?.code }
    }

    /// What another process does.
    private func elsewhere(_ body: (Database) throws -> Void) throws {
        let other = try Database(path: path, options: .init(mustExist: true))
        try body(other)
        try other.close()
    }

    @Test("The folder is free while the database is suspended, and what was written there is seen after that")
    func handover() throws {
        let db = try Database(path: path)
        let people = try db.collection("people")
        try people.save(["_id": 1])
        let query = people.find(["_id": ["$gt": 0]]).sorted(by: "_id")
        #expect(Self.code { try elsewhere { _ in } } == .locked)
        for round in 1..<5 {
            try db.suspend()
            try db.suspend()
            #expect(!db.engine.isClosed)
            for call in [{ _ = try query.count() }, { try people.save(["_id": 0]) }, { _ = try db.stats() }, db.sync] {
                #expect(Self.code(call) == .invalidState)
            }
            try elsewhere { other in
                try other.collection("people").save(["_id": BSONValue(2 * round)])
                if round == 3 { try other.compact() }
            }
            try db.resume()
            try db.resume()
            #expect(try query.all().compactMap { $0["_id"]?.intValue } == Array(1...2 * round))
            try people.save(["_id": BSONValue(2 * round + 1)])
        }
        #expect(try db.verify().problems.isEmpty)
        try db.suspend()
        try db.close()
        try db.close()
        #expect(Self.code(db.resume) == .closed)
        #expect(Self.code { try people.count() } == .closed)
        try elsewhere { other in
            let count = try other.collection("people").count()
            #expect(count == 9)
        }
    }

    @Test("Commits are durable when the database is suspended, whatever the durability")
    func durability() throws {
        let db = try Database(path: path, options: .init(durability: .process))
        try db.collection("people").save(["_id": 1])
        try db.suspend()
        let copy = folder.path("copy")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        #expect(try Database(path: copy).collection("people").count() == 1)
    }

    @Test(
        "What the user keeps open makes suspending busy, and nothing is changed; with a time-out it waits for its end")
    func openHandles() async throws {
        let db = try Database(path: path)
        let people = try db.collection("people")
        try await people.save((0..<500).map { ["_id": BSONValue($0)] })
        let cursor = try people.find().makeCursor()
        await #expect { try await db.suspend() } throws: { ($0 as? TansuError)?.code == .busy }
        await #expect { try await db.suspend(timeout: .milliseconds(20)) } throws: {
            ($0 as? TansuError)?.code == .busy
        }
        #expect(try await people.count() == 500)
        let isOver = Locked(false)
        let suspension = Task {
            try await db.suspend(timeout: .seconds(200))
            #expect(isOver.withLock { $0 })
        }
        for _ in 0..<5 {
            try await people.save(["_id": 1000])
            try await Task.sleep(for: .milliseconds(5))
        }
        var read = 0
        while try cursor.next() != nil { read += 1 }
        #expect(read == 500)
        isOver.withLock { $0 = true }
        cursor.close()
        try await suspension.value
        await #expect { try await people.count() } throws: { ($0 as? TansuError)?.code == .invalidState }
        try await db.resume()
        #expect(try await people.count() == 501)
    }

    @Test("Suspending inside a call, and with a transaction of a JSON command, is busy")
    func insideCalls() throws {
        let db = try Database(path: path)
        let people = try db.collection("people")
        try people.save(["_id": 1])
        #expect(Self.code { try db.read { _ in try db.suspend() } } == .busy)
        try people.update(id: 1) { _ in #expect(Self.code { try db.suspend() } == .busy) }
        #expect(try db.executeJSON(#"{"op": "begin", "mode": "read"}"#).contains("transaction"))
        #expect(Self.code { try db.suspend() } == .busy)
        #expect(try people.count() == 1)
    }

    @Test("A write whose closure runs ends first, with a time-out")
    func write() async throws {
        let db = try Database(path: path)
        let begun = Signal()
        let writing = Task {
            try await db.write { tx in
                await begun.give()
                try await Task.sleep(for: .milliseconds(30))
                try await tx.collection("people").save(["_id": 1])
            }
        }
        await begun.wait()
        try await db.suspend(timeout: .seconds(200))
        try await writing.value
        try elsewhere { other in
            let count = try other.collection("people").count()
            #expect(count == 1)
        }
        try await db.resume()
    }

    @Test("A commit that a change stream has delivered in part is delivered again from its beginning")
    func partCommit() async throws {
        let db = try Database(path: path)
        var events = db.changes().makeAsyncIterator()
        let ids = Array(0..<500)
        try await db.collection("people").save(ids.map { ["_id": BSONValue($0)] })
        #expect(try await events.next()?.kind == .collectionCreated)
        #expect(try await events.next()?.id == 0)
        try await db.suspend()
        try await db.resume()
        var seen: [Int] = []
        while seen.last != 499 {
            if let id = try await events.next()?.id?.intValue { seen.append(id) }
        }
        #expect(Array(seen.suffix(500)) == ids)
        #expect(Array(seen.dropLast(500)) == Array(1...seen.count - 500))
    }

    @Test("A change stream whose events are lost says so, also when the database was suspended again")
    func lost() async throws {
        let db = try Database(path: path)
        let people = try db.collection("people")
        try await people.save((0..<100).map { ["_id": BSONValue($0)] })
        var events = db.changes().makeAsyncIterator()
        try await people.save(["_id": 1000])
        try await db.suspend()
        try elsewhere { other in
            for id in 0..<50 { try other.collection("people").remove(id: BSONValue(id)) }
            try other.compact()
            try other.collection("people").save(["_id": 1001])
        }
        for _ in 0..<2 {
            try await db.resume()
            try await db.suspend()
        }
        try await db.resume()
        await #expect { _ = try await events.next() } throws: { ($0 as? TansuError)?.code == .notFound }
    }

    @Test("Loops over changes and observations wait, and go on")
    func observers() async throws {
        let db = try Database(path: path)
        let people = try db.collection("people")
        try await people.save(["_id": 0])
        let (seen, counts, values) = (Locked<[Int]>([]), Locked<[Int]>([]), Locked<[Int]>([]))
        let changes = db.changes(since: 0, collections: ["people"])
        let loops = [
            Task {
                for try await change in changes {
                    if let id = change.id?.intValue { seen.withLock { $0.append(id) } }
                }
            },
            Task { for try await list in people.find().observe() { counts.withLock { $0.append(list.count) } } },
            Task {
                for try await value in db.observe({ try $0.collection("people").count() }) {
                    values.withLock { $0.append(value) }
                }
            },
        ]
        var count = 1
        for round in 0..<12 {
            try await people.save(["_id": BSONValue(count)])
            count += 1
            if round % 3 == 0 {
                while counts.withLock({ $0.last }) != count || values.withLock({ $0.last }) != count
                    || seen.withLock({ $0.last }) != count - 1
                { await Task.yield() }
            }
            try await db.suspend()
            if round % 2 == 0 {
                try elsewhere { try $0.collection("people").save(["_id": BSONValue(count)]) }
                count += 1
            }
            if round % 4 == 1 { try await Task.sleep(for: .milliseconds(10)) }
            try await db.resume()
            if round % 2 == 0 {
                while counts.withLock({ $0.last }) != count || values.withLock({ $0.last }) != count {
                    await Task.yield()
                }
            }
        }
        while seen.withLock({ $0.count }) < count { await Task.yield() }
        #expect(seen.withLock { $0 } == Array(0..<count))
        try await db.suspend()
        try await db.close()
        for loop in loops { await #expect { try await loop.value } throws: { ($0 as? TansuError)?.code == .closed } }
    }

    @Test("Suspending and resuming beside calls of many tasks loses nothing")
    func beside() async throws {
        let db = try Database(path: path, options: .init(durability: .process))
        let people = try db.collection("people")
        let isOver = Locked(false)
        let writers = (0..<4).map { writer in
            Task {
                var saved = 0
                while !isOver.withLock({ $0 }) {
                    do {
                        try await people.save(["_id": BSONValue(1_000_000 * writer + saved)])
                        saved += 1
                    } catch let error as TansuError where error.code == .invalidState { await Task.yield() }
                }
                return saved
            }
        }
        for _ in 0..<25 {
            try await db.suspend(timeout: .seconds(100))
            try elsewhere { try $0.collection("people").save(["a": 1]) }
            try await db.resume()
            try await Task.sleep(for: .milliseconds(2))
        }
        isOver.withLock { $0 = true }
        var saved = 0
        for writer in writers { saved += try await writer.value }
        #expect(try await people.count() == saved + 25)
        #expect(try await db.verify().problems.isEmpty)
    }

    @Test("A database that cannot be resumed stays suspended, and says why")
    func refused() throws {
        let db = try Database(path: path)
        try db.collection("people").save(["_id": 1])
        try db.suspend()
        let other = try Database(path: path)
        #expect(Self.code(db.resume) == .locked)
        try other.close()
        try db.resume()
        #expect(try db.collection("people").count() == 1)
        try db.suspend()
        let aside = folder.path("aside")
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        #expect(Self.code(db.resume) == .notFound)
        #expect(!FileManager.default.fileExists(atPath: path))
        try Database(path: path).close()
        #expect(Self.code(db.resume) == .moved)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: aside, toPath: path)
        #expect(Self.code { try db.collection("people").count() } == .invalidState)
        try db.resume()
        #expect(try db.collection("people").count() == 1)
    }

    @Test("What takes no lock is not suspended", arguments: ["memory", "temporary", "reader"])
    func lockless(kind: String) throws {
        try Database(path: path).close()
        let db =
            switch kind {
            case "memory": try Database(.memory)
            case "temporary": try Database(.temporary(in: folder.path("")))
            default: try Database(path: path, options: .init(allowWriter: true))
            }
        if kind != "reader" { try db.collection("people").save(["_id": 1]) }
        let cursor = try db.collection("people").find().makeCursor()
        defer { cursor.close() }
        try db.suspend()
        #expect(try db.collections().count == (kind == "reader" ? 0 : 1))
        try db.resume()
    }

    @Test("A reader that keeps writers out lets them in")
    func reader() throws {
        try Database(path: path).close()
        let db = try Database(path: path, options: .init(readOnly: true))
        #expect(Self.code { try elsewhere { _ in } } == .locked)
        try db.suspend()
        try elsewhere { try $0.collection("people").save(["_id": 1]) }
        try db.resume()
        #expect(try db.collection("people").count() == 1)
        #expect(Self.code { try elsewhere { _ in } } == .locked)
    }
}

#if os(Linux)
/// An app that the system stops in the background: a process that runs this program again.
@Suite("Suspended process", .timeLimit(.minutes(20)))
struct SuspendedProcessTests {
    private static let variable = "TANSU_SUSPENDED_PROCESS"

    /// What the app does, in the folder that the variable names. It stays in the background until the file "foreground" is there.
    @Test("The app", .enabled(if: ProcessInfo.processInfo.environment[variable] != nil))
    func app() async throws {
        let folder = try #require(ProcessInfo.processInfo.environment[Self.variable])
        let db = try Database(path: folder + "/app.tansu")
        let people = try db.collection("people")
        try await people.save(["_id": 1])
        if !FileManager.default.fileExists(atPath: folder + "/careless") { try await db.suspend() }
        try Data().write(to: URL(fileURLWithPath: folder + "/background"))
        while !FileManager.default.fileExists(atPath: folder + "/foreground") {
            try await Task.sleep(for: .milliseconds(5))
        }
        try await db.resume()
        try await people.save(["_id": 3])
        let documents = try await people.find().sorted(by: "_id").all()
        guard documents == [["_id": 1], ["_id": 2], ["_id": 3]] else { return }
        try Data().write(to: URL(fileURLWithPath: folder + "/passed"))
    }

    @Test("A stopped process keeps no lock of a suspended database", arguments: [true, false])
    func stopped(suspends: Bool) throws {
        let folder = try TemporaryFolder()
        if !suspends { try Data().write(to: URL(fileURLWithPath: folder.path("careless"))) }
        let app = Process()
        app.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        app.arguments = ["--testing-library", "swift-testing", "--filter", "SuspendedProcessTests.app"]
        app.environment = ProcessInfo.processInfo.environment.merging([Self.variable: folder.path("")]) { $1 }
        app.standardOutput = FileHandle.nullDevice
        app.standardError = FileHandle.nullDevice
        try app.run()
        defer { if app.isRunning { kill(app.processIdentifier, SIGKILL) } }
        while !FileManager.default.fileExists(atPath: folder.path("background")) {
            try #require(app.isRunning, "the app ended before it was in the background")
            usleep(2000)
        }
        kill(app.processIdentifier, SIGSTOP)
        let open = { try Database(path: folder.path("app.tansu")) }
        if suspends {
            let db = try open()
            try db.collection("people").save(["_id": 2])
            try db.compact()
            try db.close()
        } else {
            #expect { try open() } throws: { ($0 as? TansuError)?.code == .locked }
        }
        try Data().write(to: URL(fileURLWithPath: folder.path("foreground")))
        kill(app.processIdentifier, SIGCONT)
        app.waitUntilExit()
        #expect(FileManager.default.fileExists(atPath: folder.path("passed")) == suspends)
    }
}
#endif
