import AsyncHTTPClient
import Foundation
import Hummingbird
import HummingbirdTesting
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import NIOCore
import Tansu
import TaskService
import Testing
import Tracing

/// The service over HTTP, on a port of its own.
@Suite("The task service")
struct TaskServiceTests {
    /// Each process may choose these once.
    private static let telemetry: (metrics: TestMetrics, tracer: InMemoryTracer) = {
        let (metrics, tracer) = (TestMetrics(), InMemoryTracer())
        MetricsSystem.bootstrap(metrics)
        InstrumentationSystem.bootstrap(tracer)
        return (metrics, tracer)
    }()

    private let database: Database
    private let app: any ApplicationProtocol

    init() async throws {
        database = try Database(.memory, options: .init(metrics: Self.telemetry.metrics))
        app = try await TaskService.application(
            database, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
    }

    private struct Page: Decodable {
        var tasks: [TaskItem]
        var next: String?
    }

    private func create(_ json: String, _ client: any TestClientProtocol) async throws -> TaskItem {
        try await client.execute(uri: "/tasks", method: .post, body: ByteBuffer(string: json)) { response in
            #expect(response.status == .created)
            let task = try JSONDecoder().decode(TaskItem.self, from: response.body)
            #expect(response.headers[.location] == "/tasks/\(task.id)" && response.headers[.eTag] == "\"1\"")
            return task
        }
    }

    private func status(
        _ client: any TestClientProtocol, _ method: HTTPRequest.Method, _ uri: String, _ headers: HTTPFields = [:],
        _ json: String? = nil
    ) async throws -> Int {
        try await client.execute(uri: uri, method: method, headers: headers, body: json.map { ByteBuffer(string: $0) })
        {
            $0.status.code
        }
    }

    @Test("A task is created, read, changed and removed")
    func life() async throws {
        try await app.test(.live) { client in
            let task = try await create(#"{"title": "Water the plants", "priority": 3}"#, client)
            let uri = "/tasks/\(task.id)"
            try await client.execute(uri: uri, method: .get) { response throws in
                #expect(try JSONDecoder().decode(TaskItem.self, from: response.body) == task)
            }
            #expect(try await status(client, .get, uri, [.ifNoneMatch: "\"1\""]) == 304)
            #expect(try await status(client, .patch, uri, [:], #"{"isDone": true}"#) == 200)
            try await client.execute(uri: uri, method: .get, headers: [.ifNoneMatch: "\"1\""]) { response throws in
                let changed = try JSONDecoder().decode(TaskItem.self, from: response.body)
                #expect(changed.isDone && changed.title == task.title && response.headers[.eTag] == "\"2\"")
            }
            #expect(try await status(client, .delete, uri) == 204)
            #expect(try await status(client, .get, uri) == 404)
            #expect(try await status(client, .delete, uri) == 404)
        }
    }

    @Test("Of the changes to one version one succeeds")
    func conditions() async throws {
        try await app.test(.live) { client in
            let uri = "/tasks/\(try await create(#"{"title": "a"}"#, client).id)"
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for n in 0..<8 {
                    group.addTask {
                        try await status(client, .patch, uri, [.ifMatch: "\"1\""], #"{"title": "by \#(n)"}"#)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + [Int](repeating: 412, count: 7))
            #expect(try await status(client, .delete, uri, [.ifMatch: "\"1\""]) == 412)
            #expect(try await status(client, .delete, uri, [.ifMatch: "\"1\", \"2\""]) == 204)
        }
    }

    @Test("What is not valid is an error of the client, and changes nothing")
    func refusals() async throws {
        try await app.test(.live) { client in
            #expect(try await status(client, .post, "/tasks", [:], "{") == 400)
            #expect(try await status(client, .post, "/tasks", [:], #"{"title": ""}"#) == 422)
            #expect(try await status(client, .post, "/tasks", [:], #"{"title": "a", "priority": 10}"#) == 422)
            #expect(try await status(client, .get, "/tasks/5") == 400)
            #expect(try await status(client, .get, "/tasks?size=0") == 400)
            #expect(try await status(client, .get, "/tasks?after=nonsense") == 400)
            let count = try await database.collection("tasks").count()
            #expect(count == 0)
        }
    }

    @Test("Pages have every task once, the most important first")
    func pages() async throws {
        try await app.test(.live) { client in
            for n in 0..<25 {
                _ = try await create(#"{"title": "\#(n)", "priority": \#(n % 5), "isDone": \#(n % 6 == 0)}"#, client)
            }
            var (found, after, pages): ([TaskItem], String?, Int) = ([], nil, 0)
            repeat {
                let uri = "/tasks?done=false&size=6" + (after.map { "&after=\($0)" } ?? "")
                let page = try await client.execute(uri: uri, method: .get) {
                    try JSONDecoder().decode(Page.self, from: $0.body)
                }
                found += page.tasks
                after = page.next
                pages += 1
            } while after != nil
            #expect(pages == 4 && found.count == 20 && Set(found.map(\.id)).count == 20)
            #expect(found.map(\.priority) == found.map(\.priority).sorted(by: >) && !found.contains { $0.isDone })
        }
    }

    @Test("Events show each change, and end with the server, which closes the database last")
    func events() async throws {
        let reader = try await app.test(.live) { client in
            let port = try #require(client.port)
            let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/tasks/events")
            let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
            #expect(answer.headers.first(name: "content-type") == "text/event-stream")
            let events = Events(answer.body.makeAsyncIterator())
            #expect(try await events.next() == [])
            let task = try await create(#"{"title": "first"}"#, client)
            #expect(try await events.next() == ["first"])
            #expect(try await status(client, .patch, "/tasks/\(task.id)", [:], #"{"isDone": true}"#) == 200)
            #expect(try await events.next() == [])
            return Task { try await events.next() }
        }
        #expect(try await reader.value == nil)
        await #expect { try await database.collection("tasks").count() } throws: {
            ($0 as? TansuError)?.code == .closed
        }
    }

    @Test("Requests and calls of the database are measured, and requests are traced")
    func telemetry() async throws {
        try await app.test(.live) { client in
            _ = try await create(#"{"title": "measured"}"#, client)
        }
        let metrics = Self.telemetry.metrics
        #expect(metrics.timers.contains { $0.label == "http.server.request.duration" })
        #expect(metrics.timers.contains { $0.label == "tansu.call.duration" })
        #expect(Self.telemetry.tracer.finishedSpans.contains { $0.operationName == "/tasks" })
    }
}

/// The titles in the events of a body.
///
/// `@unchecked Sendable`: it has one reader at a time.
private final class Events: @unchecked Sendable {
    private var body: HTTPClientResponse.Body.AsyncIterator
    private var text = ""

    init(_ body: HTTPClientResponse.Body.AsyncIterator) { self.body = body }

    /// Those of the next event; `nil` at the end.
    func next() async throws -> [String]? {
        while true {
            if let end = text.range(of: "\n\n") {
                let event = text[..<end.lowerBound]
                text.removeSubrange(..<end.upperBound)
                let data = try #require(event.split(separator: "\n").first { $0.hasPrefix("data: ") })
                return try JSONDecoder().decode([TaskItem].self, from: Data(data.dropFirst(6).utf8)).map(\.title)
            }
            guard let part = try await body.next() else { return nil }
            text += String(buffer: part)
        }
    }
}
