#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Replication: what happens to it while it runs")
struct ReplicationLifeTests {
    private typealias People = Database.Collection<BSONDocument>

    private static func eventually(_ condition: @Sendable () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    private static func documents(_ count: Int) -> [BSONDocument] {
        (0..<count).map { ["_id": .string("\($0)"), "n": .int32(Int32($0))] }
    }

    @available(macOS 14, *)
    @Test("Extreme options are valid or refused, and nothing overflows", .timeLimit(.minutes(20)))
    func options() async throws {
        try await RemoteReplica.run { replica in
            try await replica.near.save(Self.documents(3))
            for value in [Int.min, -1, 0] {
                for path in [
                    \Replication.Options.batchSize, \.batchBytes, \.timeout, \.attempts,
                ] as [WritableKeyPath<Replication.Options, Int> & Sendable] {
                    var options = Replication.Options()
                    options[keyPath: path] = value
                    let wrong = options
                    let error = await #expect(throws: SyncError.self) {
                        _ = try await replica.near.replicate(with: replica.url, options: wrong)
                    }
                    #expect(error?.code == .invalidOptions)
                }
            }
            var options = Replication.Options()
            (options.batchSize, options.batchBytes, options.timeout, options.attempts) = (.max, .max, .max, .max)
            let progress = try await replica.near.replicate(with: replica.url, options: options).wait()
            #expect(progress.documentsWritten == 3)
            let copy = try Database(.memory).collection("copy")
            #expect(try await replica.near.replicate(with: copy, options: options).wait().documentsWritten == 3)

            // A server that is away, asked without an end.
            let waits = Locked(0)
            let retries = RetryPolicy(
                sleep: { _ in
                    if waits.withLock({ waits in
                        waits += 1
                        return waits > 100
                    }) {
                        throw CancellationError()
                    }
                }, random: { 0 })
            let dead = FaultyTransport(ClientTransport(timeout: 20)) { _, _ in .noAnswer }
            let near = ReplicationSide.collection(try await replica.near.enableReplication())
            let live = try Replication(
                near, .url(replica.url), .push, .continuous, options, transport: dead, retries: retries)
            await #expect(throws: CancellationError.self) { _ = try await live.wait() }
            #expect(waits.withLock { $0 } == 101)
            #expect(retries.delay(after: .max) <= 300)
        }
    }

    @available(macOS 14, *)
    @Test("It can be stopped after any request, and another one goes on", .timeLimit(.minutes(20)))
    func stops() async throws {
        try await RemoteReplica.run { replica in
            try await RemoteReplica.fill(replica.near, "near")
            try await RemoteReplica.fill(replica.far, "far")
            let near = ReplicationSide.collection(try await replica.near.enableReplication())
            var steps = 0
            while true {
                let running = Locked<Replication?>(nil)
                let (stops, stop) = AsyncStream.makeStream(of: Void.self)
                let step = steps
                let transport = FaultyTransport(ClientTransport(timeout: 20)) { _, number in
                    if number == step + 1 { stop.yield() }
                    return nil
                }
                var options = Replication.Options()
                options.batchSize = 3
                let replication = try Replication(
                    near, .url(replica.url), .both, .once, options, transport: transport)
                running.withLock { $0 = replication }
                let stopping = Task {
                    for await _ in stops {
                        await running.withLock { $0 }?.stop()
                        return true
                    }
                    return false
                }
                _ = try? await replication.wait()
                stop.finish()
                let isStopped = await stopping.value
                #expect(replication.status.isEnd)
                if case .failed(let error, _) = replication.status { Issue.record("step \(step): \(error)") }
                steps += 1
                if !isStopped { break }
            }
            #expect(steps > 10)
            let leaves = try await replica.leaves()
            #expect(leaves.near == leaves.far && leaves.near.count == 14)
        }
    }

    @available(macOS 14, *)
    @Test("Releasing it ends it", .timeLimit(.minutes(20)))
    func released() async throws {
        let a = try Database(.memory).collection("a")
        let b = try Database(.memory).collection("b")
        var replication: Replication? = try await a.replicate(with: b, .both, .continuous)
        let statuses = try #require(replication?.statuses())
        try await a.save(["_id": "x"])
        try await Self.eventually { try await b.get("x") != nil }
        replication = nil
        var last: Replication.Status?
        for await status in statuses { last = status }
        #expect(last?.isEnd == true)
        try await a.save(["_id": "y"])
        #expect(try await b.get("y") == nil)
    }

    enum Interruption: CaseIterable, Sendable {
        case drop, rename, disable, close, recreate
    }

    @available(macOS 14, *)
    @Test(
        "The collection is dropped, renamed or switched off, or the database closed, while a replication runs",
        .timeLimit(.minutes(20)), arguments: Interruption.allCases, [true, false])
    func interrupted(_ interruption: Interruption, isNear: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try Database(path: folder.path)
        let victim = try database.collection("victim")
        let other = try Database(.memory).collection("other")
        let (near, far) = isNear ? (victim, other) : (other, victim)
        try await near.save(Self.documents(700))
        let replication = try await near.replicate(with: far, .both, .continuous)
        for await status in replication.statuses() where status.progress.documentsWritten > 0 { break }
        switch interruption {
        case .drop: try await database.dropCollection("victim")
        case .rename: try await database.renameCollection("victim", to: "renamed")
        case .disable: try victim.disableReplication()
        case .close:
            // A batch that is being stored is an open transaction.
            try await Self.eventually {
                do { try await database.close() } catch let error as TansuError where error.code == .busy {
                    return false
                }
                return true
            }
        case .recreate:
            try await database.dropCollection("victim")
            try await database.collection("victim").save(["_id": "new"])
        }
        // It ends, or goes on without harm; whatever it says is an error of this library.
        try await Task.sleep(for: .milliseconds(50))
        _ = try? await other.save(["_id": "later"])
        await replication.stop()
        switch replication.status {
        case .failed(let error, _):
            #expect(error is SyncError || error is TansuError, "\(error)")
            #expect("\(error)".isEmpty == false)
        case .stopped: break
        case let status: Issue.record("After stop it is \(status)")
        }
        #expect(try await other.count() >= 1)
        if interruption == .rename {
            #expect(try await database.collection("renamed").count() > 0)
            // The old name does not come back.
            #expect(try await database.collectionNames().contains("victim") == false)
        }
        if interruption == .disable { #expect(try await victim.count() > 0) }
        if interruption == .drop { #expect(try await database.collectionNames().contains("victim") == false) }
        if interruption == .recreate { #expect(try await victim.get("new") != nil) }
    }

    @available(macOS 14, *)
    @Test("Two of the same pair at once, and a circle of three, come to the same", .timeLimit(.minutes(20)))
    func together() async throws {
        var replicas: [People] = []
        for index in 0..<3 {
            let people = try Database(.memory).collection("people")
            try await people.save(
                (0..<100).map { ["_id": .string("\(index) \($0)"), "n": .int32(Int32(index))] })
            try await people.save(["_id": "all", "n": .int32(Int32(index))])
            replicas.append(people)
        }
        var running: [Replication] = []
        for index in 0..<3 {
            for _ in 0..<2 {
                running.append(
                    try await replicas[index].replicate(with: replicas[(index + 1) % 3], .both, .continuous))
            }
        }
        let all = replicas
        try await Self.eventually {
            for people in all { if try await people.count() != 301 { return false } }
            return true
        }
        try await all[0].save(["_id": "all", "n": 7])
        try await Self.eventually {
            for people in all where try await people.revision(of: "all")?.generation != 2 { return false }
            return true
        }
        try await Self.eventually {
            let conflicts = try await all[0].conflicts(of: "all").map(\.revision)
            for people in all {
                let others = try await people.conflicts(of: "all").map(\.revision)
                if conflicts.count != 2 || conflicts != others { return false }
            }
            return true
        }
        // None of them sends anything without an end.
        for replication in running {
            for await status in replication.statuses() { if case .idle = status { break } }
        }
        for replication in running {
            await replication.stop()
            guard case .stopped(let progress) = replication.status else {
                Issue.record("\(replication.status)")
                continue
            }
            #expect(progress.failedDocuments == 0 && progress.documentsWritten <= 2 * 1_000)
        }
    }

    @available(macOS 14, *)
    @Test("An observed query sees whole batches", .timeLimit(.minutes(20)))
    func batches() async throws {
        let source = try Database(.memory).collection("source")
        let target = try Database(.memory).collection("target")
        try await source.save(Self.documents(400))
        _ = try await target.enableReplication()
        var options = Replication.Options()
        options.batchSize = 100
        let counts = Locked<[Int]>([])
        let observation = Task {
            for try await found in target.find([:] as BSONDocument).observe() {
                counts.withLock { $0.append(found.count) }
                if found.count == 400 { return }
            }
        }
        let progress = try await source.replicate(with: target, .push, options: options).wait()
        try await observation.value
        #expect(progress.documentsWritten == 400)
        #expect(counts.withLock { $0 }.allSatisfy { $0 % 100 == 0 }, "\(counts.withLock { $0 })")
    }

    @available(macOS 14, *)
    @Test("Every reader of the statuses sees the last one, however slow or late it is", .timeLimit(.minutes(20)))
    func statuses() async throws {
        let source = try Database(.memory).collection("source")
        let target = try Database(.memory).collection("target")
        try await source.save(Self.documents(550))
        // One in five is refused by the target.
        try await target.save((0..<110).map { ["_id": .string("own \($0)"), "n": .int32($0 * 5)] })
        try await target.ensureIndex("n", on: ["n": .ascending], unique: true)
        var options = Replication.Options()
        options.batchSize = 50
        let replication = try await source.replicate(with: target, .push, options: options)
        let streams = (0..<20).map { _ in replication.statuses() }
        let ends = await withTaskGroup(of: [Replication.Status].self) { group in
            for (index, stream) in streams.enumerated() {
                group.addTask {
                    var seen: [Replication.Status] = []
                    for await status in stream {
                        seen.append(status)
                        if index % 2 == 0 { try? await Task.sleep(for: .milliseconds(index)) }
                    }
                    return seen
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for seen in ends {
            #expect(seen.last?.isEnd == true && seen.filter(\.isEnd).count == 1)
            let counts = seen.map(\.progress.documentsWritten)
            #expect(counts == counts.sorted())
            let progress = try #require(seen.last?.progress)
            #expect(progress.documentsRead == 550 && progress.documentsWritten == 440)
            #expect(progress.failedDocuments == 110 && progress.failures.count == 100)
            #expect(progress.failures.allSatisfy { !$0.reason.isEmpty && $0.revision != nil })
        }
        #expect(try await target.count() == 550)
    }

    @available(macOS 14, *)
    @Test("Of two directions that come to rest at once the last status is idle", .timeLimit(.minutes(20)))
    func idle() async throws {
        for _ in 0..<20 {
            let a = try Database(.memory).collection("a")
            let b = try Database(.memory).collection("b")
            let replication = try await a.replicate(with: b, .both, .continuous)
            for await status in replication.statuses() { if case .idle = status { break } }
            await replication.stop()
        }
    }

    @available(macOS 14, *)
    @Test("It is busy from the moment that it begins to copy a change", .timeLimit(.minutes(20)))
    func busy() async throws {
        let isWriting = Locked(false)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let far = AnsweringPeer { call in
            guard call.endpoint == "_bulk_docs" else { return nil }
            isWriting.withLock { $0 = true }
            for await _ in gate { break }
            return nil
        }
        let people = try Database(.memory).collection("people")
        let replication = try Replication(
            .collection(try await people.enableReplication()), .url("http://127.0.0.1/people"), .push, .continuous,
            transport: far)
        for await status in replication.statuses() { if case .idle = status { break } }
        try await people.save(["_id": "x"])
        try await Self.eventually { isWriting.withLock { $0 } }
        guard case .busy = replication.status else {
            Issue.record("While it writes it is \(replication.status)")
            return
        }
        open.finish()
        for await status in replication.statuses() {
            if case .idle(let progress) = status {
                #expect(progress.documentsWritten == 1)
                break
            }
        }
        await replication.stop()
    }

    @available(macOS 14, *)
    @Test("Each filter has its own checkpoint, and what does not match any more stays", .timeLimit(.minutes(20)))
    func filters() async throws {
        let source = try Database(.memory).collection("source")
        let target = try Database(.memory).collection("target")
        try await source.save(Self.documents(10))
        func replicate(_ filter: Replication.Filter) async throws -> Int {
            var options = Replication.Options()
            options.filter = filter
            return try await source.replicate(with: target, .push, options: options).wait().documentsWritten
        }
        #expect(try await replicate(.selector(["n": ["$lt": 3]])) == 3)
        #expect(try await replicate(.selector(["n": ["$lt": 3]])) == 0)
        #expect(try await replicate(.ids(["5", "6", "none"])) == 2)
        #expect(try await replicate(.ids(["6", "5", "none"])) == 0)
        #expect(try await replicate(.selector(["n": ["$lt": 5]])) == 2)
        try await source.save(["_id": "1", "n": 100])
        _ = try await source.remove(id: "2")
        #expect(try await replicate(.selector(["n": ["$lt": 3]])) == 0)
        #expect(try await target.get("1")?["n"] == 1)
        #expect(try await target.get("2") != nil)
        #expect(try await replicate(.ids([])) == 0)
        #expect(try await replicate(.all) == 5)
        #expect(try await target.get("1")?["n"] == 100)
        #expect(try await target.get("2") == nil)
    }
}
#endif
