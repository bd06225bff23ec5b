import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Tansu

/// A JSON service for a list of tasks.
///
///     POST   /tasks              creates a task
///     GET    /tasks              a page of tasks: ?done=false&size=20&after=TOKEN
///     GET    /tasks/events       the open tasks as server-sent events, again after each change
///     GET    /tasks/ID           a task, with its entity tag
///     PATCH  /tasks/ID           changes a task; with If-Match, only the version that the client has seen
///     DELETE /tasks/ID           removes a task, with If-Match as well
public struct TaskService: Sendable {
    private let database: Database
    private let tasks: Database.Collection<TaskItem>

    /// Creates the service, with the collection, its schema and its indexes.
    public init(_ database: Database) async throws {
        self.database = database
        // The pages and the events are sorted by it, and so read no more than they return.
        tasks = try await database.collection(
            "tasks", of: TaskItem.self, indexes: [Database.Index(on: \.isDone, \.priority)])
        try await database.setSchema(DocumentSchema(TaskItem.schema), for: "tasks")
    }

    /// The application: routes, the middleware that measures and traces requests, and the end of the database.
    public static func application(
        _ database: Database, configuration: ApplicationConfiguration = ApplicationConfiguration(), logger: Logger
    ) async throws -> some ApplicationProtocol {
        let router = Router()
        // From the outside to the inside: what is measured and traced includes what is logged and answered.
        router.addMiddleware {
            MetricsMiddleware()
            TracingMiddleware()
            LogRequestsMiddleware(.info)
            DatabaseErrors()
        }
        try await TaskService(database).addRoutes(to: router.group("tasks"))
        var app = Application(router: router, configuration: configuration, logger: logger)
        app.addServices(DatabaseService(database: database))
        return app
    }

    private func addRoutes(to group: RouterGroup<BasicRequestContext>) {
        group.post(use: create)
        group.get(use: list)
        group.get("events", use: events)
        group.get(":id", use: read)
        group.patch(":id", use: change)
        group.delete(":id", use: remove)
    }
}

// MARK: - Routes

extension TaskService {
    @Sendable private func create(
        _ request: Request, _ context: BasicRequestContext
    ) async throws -> EditedResponse<TaskItem> {
        let edit = try await request.decode(as: TaskEdit.self, context: context)
        var task = TaskItem(id: UUID(), title: "", priority: 0, isDone: false, version: 1)
        edit.apply(to: &task)
        try await tasks.insert(task)
        return EditedResponse(
            status: .created, headers: [.location: "/tasks/\(task.id)", .eTag: task.etag], response: task)
    }

    @Sendable private func list(_ request: Request, _ context: BasicRequestContext) async throws -> TaskPage {
        let parameters = request.uri.queryParameters
        let size = parameters.get("size", as: Int.self) ?? 20
        guard (1...100).contains(size) else { throw HTTPError(.badRequest, message: "size is 1 to 100") }
        var query = tasks.find()
        if let isDone = parameters.get("done", as: Bool.self) { query = try query.and { $0.isDone == isDone } }
        let after = parameters.get("after").map { Database.PageToken(rawValue: $0) }
        let page = try await query.sorted(by: \.priority, .descending).page(after: after, size: size)
        return TaskPage(tasks: page.elements, next: page.next?.rawValue)
    }

    @Sendable private func read(
        _ request: Request, _ context: BasicRequestContext
    ) async throws -> EditedResponse<TaskItem> {
        guard let task = try await tasks.get(try id(context)) else { throw HTTPError(.notFound) }
        if let known = request.headers[.ifNoneMatch], Self.matches(known, task) {
            throw HTTPError(.notModified, headers: [.eTag: task.etag])
        }
        return EditedResponse(headers: [.eTag: task.etag], response: task)
    }

    /// The condition and the change are one transaction: of two clients that have seen the same version, one succeeds.
    @Sendable private func change(
        _ request: Request, _ context: BasicRequestContext
    ) async throws -> EditedResponse<TaskItem> {
        let edit = try await request.decode(as: TaskEdit.self, context: context)
        let expected = request.headers[.ifMatch]
        let changed = try await tasks.update(id: try id(context)) { task in
            try Self.check(expected, task)
            edit.apply(to: &task)
            task.version += 1
        }
        guard let changed else { throw HTTPError(.notFound) }
        return EditedResponse(headers: [.eTag: changed.etag], response: changed)
    }

    @Sendable private func remove(
        _ request: Request, _ context: BasicRequestContext
    ) async throws -> HTTPResponse.Status {
        let (id, expected) = (try id(context), request.headers[.ifMatch])
        return try await database.write { transaction in
            let tasks = try transaction.collection("tasks", of: TaskItem.self)
            guard let task = try await tasks.get(id) else { throw HTTPError(.notFound) }
            try Self.check(expected, task)
            try await tasks.remove(id: id)
            return .noContent
        }
    }

    /// The open tasks at once, and again after each commit that changes them. It ends when the client leaves, and when the
    /// server stops.
    @Sendable private func events(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let open = try tasks.find { $0.isDone == false }.sorted(by: \.priority, .descending).limit(50)
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    for try await list in open.observe().cancelOnGracefulShutdown() {
                        let json = try JSONEncoder().encode(list)
                        try await writer.write(ByteBuffer(string: "event: tasks\ndata: "))
                        try await writer.write(ByteBuffer(bytes: json + Data("\n\n".utf8)))
                    }
                }
                try await writer.finish(nil)
            })
    }

    private func id(_ context: BasicRequestContext) throws -> UUID {
        try context.parameters.require("id", as: UUID.self)
    }

    private static func check(_ expected: String?, _ task: TaskItem) throws {
        guard let expected, !matches(expected, task) else { return }
        throw HTTPError(
            .preconditionFailed, headers: [.eTag: task.etag], message: "The task has changed; read it again")
    }

    /// Whether a list of entity tags, or `*`, has that of a task.
    private static func matches(_ tags: String, _ task: TaskItem) -> Bool {
        tags == "*" || tags.split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces) == task.etag }
    }
}

// MARK: - Errors and the end

/// Answers the errors of the database that are about the request; others are 500, and in the log.
struct DatabaseErrors: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as TansuError {
            switch error.code {
            case .invalidQuery: throw HTTPError(.badRequest, message: error.message)
            case .invalidDocument: throw HTTPError(.unprocessableContent, message: "\(error.context): \(error.message)")
            case .exists, .notUnique: throw HTTPError(.conflict, message: error.message)
            case .busy: throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "1"])
            case .full: throw HTTPError(HTTPResponse.Status(code: 507))
            default:
                context.logger.error("A request has failed", metadata: ["error": "\(error)"])
                throw HTTPError(.internalServerError)
            }
        }
    }
}

/// Closes the database once the server has answered its last request: services end in the reverse order of their start.
struct DatabaseService: Service {
    let database: Database

    func run() async throws {
        try? await gracefulShutdown()
        try await database.close()
    }
}
