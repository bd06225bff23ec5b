#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Remote: servers that fail, or are hostile")
struct RemoteFailureTests {
    /// A collection whose server gives the answers of a closure.
    @available(macOS 14, *)
    private static func people(
        _ answer: @escaping @Sendable (HTTPCall, Int) -> FaultyTransport.Fault?
    ) throws -> RemoteCollection<BSONDocument> {
        try RemoteHost.people(
            "http://127.0.0.1:1/people", of: BSONDocument.self,
            through: FaultyTransport(ClientTransport(timeout: 1), answer))
    }

    @available(macOS 14, *)
    @Test(
        "Answers that are none are errors",
        arguments: [
            "", "no", "[]", "{}", "5", "{\"docs\":5}", "{\"docs\":{}}", "{\"docs\":[5],\"bookmark\":\"a\"}",
            "{\"docs\":[{\"_id\":5}],\"bookmark\":\"a\"}", "{\"docs\":[{\"n\":1}],\"bookmark\":\"a\"}",
            "{\"docs\":[{\"_id\":\"a\"}", "{\"docs\":[{\"_id\":\"a\\u0000\",\"b\\u0000\":1}]}",
            "{\"rows\":[]}", "{\"rows\":[{\"key\":\"y\"}]}", "{\"_id\":\"y\",\"_rev\":\"1-a\"}", "{\"_id\":\"x\"}",
            "{\"id\":\"x\",\"rev\":5}", "{\"rev\":\"junk\"}", "{\"indexes\":5}", "{\"ok\":true}",
            String(repeating: "[", count: 100_000),
        ])
    func invalidAnswers(text: String) async throws {
        let people = try Self.people { _, _ in .answer(200, [], text) }
        for call in [
            { try await people.find(["n": 1]).all().count }, { try await people.get("x") == nil ? 0 : 1 },
            { try await people.get(ids: ["x"]).count }, { try await people.save(["_id": "x"]).revision.generation },
            { try await people.save([["_id": "x"]]).count },
            { try await people.revision(of: "x")?.generation ?? 0 },
            { try await people.indexes().count }, { try await people.remove(id: "x") ? 1 : 0 },
            { try await people.remove(["n": 1]) },
        ] as [() async throws -> Int] {
            let error = await #expect(throws: SyncError.self) { try await call() }
            // An answer that ends in the middle is asked for again.
            #expect([.invalidAnswer, .unreachable].contains(error?.code))
        }
    }

    @available(macOS 14, *)
    @Test(
        "Bookmarks that lead in a circle end with an error, of whatever length it is", arguments: [1, 2, 3, 10, 37])
    func circles(length: Int) async throws {
        let people = try Self.people { call, number in
            guard case .json(let body) = call.body,
                let limit = try? BSONValue(wireJSON: body, documentDepth: 100)["limit"]?.intValue
            else { return .answer(500) }
            let docs = (0..<limit).map { "{\"_id\":\"\($0)\"}" }.joined(separator: ",")
            return .answer(200, [], "{\"docs\":[\(docs)],\"bookmark\":\"b\(number % length)\"}")
        }
        let error = await #expect(throws: SyncError.self) {
            var count = 0
            for try await _ in people.find() { count += 1 }
            Issue.record("The result ends after \(count) documents")
        }
        #expect(error?.code == .invalidAnswer && error?.description.contains("bookmark") == true)
    }

    @available(macOS 14, *)
    @Test("More documents than were asked for are refused; a server without bookmarks is asked with skip")
    func pages() async throws {
        let greedy = try Self.people { _, _ in
            let docs = (0..<5_000).map { "{\"_id\":\"\($0)\"}" }.joined(separator: ",")
            return .answer(200, [], "{\"docs\":[\(docs)]}")
        }
        let error = await #expect(throws: SyncError.self) { try await greedy.find().all() }
        #expect(error?.code == .invalidAnswer)
        let plain = try Self.people { call, _ in
            guard case .json(let body) = call.body,
                let query = try? BSONValue(wireJSON: body, documentDepth: 100).documentValue,
                let limit = query["limit"]?.intValue
            else { return .answer(500) }
            let start = query["skip"]?.intValue ?? 0
            let docs = (start..<min(start + limit, 1_234)).map { "{\"_id\":\"\($0)\"}" }.joined(separator: ",")
            return .answer(200, [], "{\"docs\":[\(docs)],\"bookmark\":\"nil\"}")
        }
        #expect(try await plain.count() == 1_234)
        #expect(try await Set(sortedIDs(plain.find().all())).count == 1_234)
    }

    @available(macOS 14, *)
    @Test("Statuses are typed errors; passing ones are tried again, so often as the options say")
    func statuses() async throws {
        let codes: [(Int, SyncError.Code)] = [
            (400, .refused), (401, .unauthorized), (403, .forbidden), (404, .notFound), (413, .tooLarge),
            (409, .conflict), (500, .unreachable), (503, .unreachable), (429, .unreachable),
        ]
        for (status, code) in codes {
            let calls = Locked(0)
            let transport = FaultyTransport(ClientTransport(timeout: 1)) { _, number in
                calls.withLock { $0 = number }
                return .answer(status)
            }
            let people = try RemoteHost.people(
                "http://127.0.0.1:1/people", of: BSONDocument.self, through: transport
            ) { $0.attempts = 3 }
            let error = await #expect(throws: SyncError.self) { try await people.find().all() }
            #expect(error?.code == code, "\(status)")
            #expect(calls.withLock { $0 } == (code == .unreachable ? 3 : 1))
        }
        try await RemoteHost.run { host in
            try await host.far.save(["_id": "x"])
            let transport = FaultyTransport(ClientTransport(timeout: 20)) { _, number in
                [.answer(503), .noAnswer, .cut(9), nil][number % 4]
            }
            let people: RemoteCollection<BSONDocument> = try host.people(through: transport)
            #expect(try await sortedIDs(people.find().all()) == ["x"])
            #expect(try await people.get(ids: ["x"]).count == 1)
        }
    }

    @available(macOS 14, *)
    @Test("Credentials and options that are wrong")
    func wrongOptions() async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["anna": "secret"]
        options.lockout.delay = .zero
        try await RemoteHost.run(options: options) { host in
            let stranger: RemoteCollection<BSONDocument> = try host.people()
            let error = await #expect(throws: SyncError.self) { try await stranger.save(["_id": "x"]) }
            #expect(error?.code == .unauthorized)
            let anna: RemoteCollection<BSONDocument> = try host.people(
                credentials: .session("anna", password: "secret"))
            try await anna.save(["_id": "x"])
            #expect(try await anna.count() == 1)
        }
        for url in ["people", "ftp://example.org/people", "https://example.org"] {
            let error = #expect(throws: SyncError.self) { try RemoteCollection(url: url) }
            #expect(error?.code == .invalidURL)
        }
        var wrong = RemoteOptions()
        wrong.pageSize = 0
        let options2 = wrong
        let error = #expect(throws: SyncError.self) {
            try RemoteCollection(url: "https://example.org/people", options: options2)
        }
        #expect(error?.code == .invalidOptions)
    }

    private struct Hanging: HTTPTransport {
        func send(_ call: HTTPCall) async throws -> TansuSync.HTTPAnswer {
            try await Task.sleep(for: .seconds(3_600))
            throw RemoteFailure.noAnswer("The test never answers")
        }
    }

    @available(macOS 14, *)
    @Test("A task that is cancelled ends")
    func cancellation() async throws {
        let people = try RemoteHost.people(
            "http://127.0.0.1:1/people", of: BSONDocument.self, through: Hanging())
        let task = Task { try await people.find().all() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let save = Task { try await people.save([["_id": "x"]]) }
        save.cancel()
        await #expect(throws: CancellationError.self) { try await save.value }
    }
}
#endif
