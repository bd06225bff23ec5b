#if TansuServer
import Foundation
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `/_replicate` and the lists of what it has started.
enum ReplicateEndpoint {
    static let routes = [
        Route("/_replicate", allow: "POST", access: .everyone, [.post: .init(post)]),
        Route("/_scheduler/jobs", allow: "GET,HEAD", access: .serverAdmin, [.get: .init(nil, jobs)]),
        Route("/_active_tasks", allow: "GET,HEAD", access: .serverAdmin, [.get: .init(nil, tasks)]),
    ]

    private static func post(_ request: ServerRequest) async throws -> Response {
        guard request.user.name != nil || request.user.isServerAdmin else {
            throw HTTPFailure.unauthorized("You are not an authenticated user")
        }
        try request.requireJSONContentType()
        let body = try await request.jsonObject()
        if let id = try ReplicationRequest.cancelledID(body) { return try await cancel(id, request) }
        let wanted = try ReplicationRequest(body)
        let jobs = request.server.replications
        let source = try side(wanted.source, request, creates: false)
        let target = try side(wanted.target, request, creates: wanted.options.createsTarget)
        let id = try await Self.id(wanted, source, target)
        if wanted.isCancelled { return try await cancel(id, request) }
        let job: ReplicationJobs.Job
        do {
            job = try jobs.job(id) {
                ReplicationJobs.Job(
                    id: id, source: wanted.source.text, target: wanted.target.text,
                    user: request.user.name, isContinuous: wanted.mode == .continuous, startTime: Date(),
                    replication: try Replication(source, target, .push, wanted.mode, wanted.options))
            }
        } catch let error as SyncError { throw HTTPFailure.badRequest(error.description) }
        if wanted.mode == .continuous {
            return .json(.document(["ok": true, "_local_id": .string(id)]), status: .accepted)
        }
        do {
            try await job.replication.wait()
        } catch let error as SyncError {
            throw failure(error, wanted)
        }
        return .json(.document(answer(job.replication.reports[0], wanted)))
    }

    private static func cancel(_ id: String, _ request: ServerRequest) async throws -> Response {
        let jobs = request.server.replications
        guard let job = jobs.all.first(where: { $0.id == id }),
            request.user.isServerAdmin || job.user == request.user.name, jobs.remove(id) != nil
        else { throw HTTPFailure.notFound("Replication task not found") }
        await job.replication.stop()
        return .json(.document(["ok": true, "_local_id": .string(id)]))
    }

    /// CouchDB's name of a replication: the same for the same sides and options.
    private static func id(
        _ wanted: ReplicationRequest, _ source: ReplicationSide, _ target: ReplicationSide
    ) async throws -> String {
        do {
            let id = try await wanted.options.checkpointID(source, target)
            return wanted.mode == .continuous ? id + "+continuous" : id
        } catch let error as SyncError { throw HTTPFailure.badRequest(error.description) }
    }

    /// A side that is a database of this server can be used by server admins; others give the URL, and who they are.
    private static func side(
        _ side: ReplicationRequest.Side, _ request: ServerRequest, creates: Bool
    ) throws -> ReplicationSide {
        if let remote = side.remote { return remote }
        let missing = HTTPFailure(
            .internalServerError, "db_not_found", "could not open \(request.url("/\(side.text)/"))")
        guard request.user.isServerAdmin else { throw missing }
        if creates {
            try DatabaseName.check(side.text)
        } else {
            do { try request.server.requireDatabase(side.text) } catch is HTTPFailure { throw missing }
        }
        let collection = try request.server.collections.collection(side.text)
        try collection.enable()
        return .collection(collection)
    }

    private static func failure(_ error: SyncError, _ wanted: ReplicationRequest) -> HTTPFailure {
        switch error.code {
        case .noSuchDatabase:
            // The error begins with the side that is missing; the URL of one may begin with that of the other.
            let named = [wanted.target.text, wanted.source.text].filter {
                error.description.hasPrefix(String(decoding: $0.utf8.dropLast(), as: UTF8.self))
            }
            let missing = named.max { $0.utf8.count < $1.utf8.count } ?? wanted.target.text
            return HTTPFailure(.internalServerError, "db_not_found", "could not open \(missing)")
        case .unauthorized: return HTTPFailure(.internalServerError, "unauthorized", error.description)
        case .forbidden: return .forbidden(error.description)
        default: return HTTPFailure(.internalServerError, "replication_failed", error.description)
        }
    }

    private static func answer(_ report: ReplicationReport, _ wanted: ReplicationRequest) -> BSONDocument {
        var answer: BSONDocument = ["ok": true]
        guard let checkpoint = report.checkpoint ?? report.former else {
            answer["no_changes"] = true
            answer["session_id"] = .string(report.session)
            answer["source_last_seq"] = report.sequence?.json ?? 0
            answer["replication_id_version"] = 4
            answer["history"] = .array([])
            return answer
        }
        if report.checkpoint == nil { answer["no_changes"] = true }
        for (name, value) in checkpoint.fields { answer[name] = value }
        if wanted.hasDocumentIDs, let last = checkpoint.history.first {
            for name in ["start_time", "end_time", "docs_read", "docs_written", "doc_write_failures"] {
                if let value = last.fields[name] { answer[name] = value }
            }
        }
        return answer
    }

    // MARK: Lists

    @Sendable private static func jobs(_ request: ServerRequest) -> Response {
        let jobs = request.server.replications.all.map { job in
            BSONValue.document([
                "database": .null, "id": .string(job.id), "source": .string(job.source),
                "target": .string(job.target), "user": job.user.map { .string($0) } ?? .null, "doc_id": .null,
                "info": .document(info(job)), "history": .array([]),
                "start_time": .string(job.startTime.ISO8601Format()), "node": .string(NodeEndpoints.node),
            ])
        }
        return .json(
            .document(["total_rows": BSONValue(jobs.count), "offset": 0, "jobs": .array(BSONArray(jobs))]))
    }

    @Sendable private static func tasks(_ request: ServerRequest) -> Response {
        let tasks = request.server.replications.all.map { job -> BSONValue in
            var task: BSONDocument = [
                "type": "replication", "replication_id": .string(job.id), "source": .string(job.source),
                "target": .string(job.target), "continuous": .bool(job.isContinuous),
                "user": job.user.map { .string($0) } ?? .null, "node": .string(NodeEndpoints.node),
                "started_on": .int64(Int64(job.startTime.timeIntervalSince1970)),
            ]
            for (name, value) in info(job) { task[name] = value }
            return .document(task)
        }
        return .json(BSONValue.array(BSONArray(tasks)))
    }

    private static func info(_ job: ReplicationJobs.Job) -> BSONDocument {
        let progress = job.replication.status.progress
        return [
            "docs_read": BSONValue(progress.documentsRead), "docs_written": BSONValue(progress.documentsWritten),
            "doc_write_failures": BSONValue(progress.failedDocuments),
            "changes_pending": progress.remainingChanges.map { BSONValue($0) } ?? .null,
        ]
    }
}

/// The body of a `_replicate` request.
struct ReplicationRequest {
    /// What a side is: a URL, or the name of a database of this server.
    struct Side {
        /// What errors and lists show: without a password.
        let text: String
        let remote: ReplicationSide?

        init(_ value: BSONValue?) throws {
            switch value {
            case .string(let text): try self.init(text, .none)
            case .document(let fields):
                guard let url = fields["url"]?.stringValue else {
                    throw HTTPFailure.badRequest("`url` of a replication's source or target must be a string.")
                }
                try self.init(url, Self.credentials(fields))
            case nil: throw HTTPFailure.badRequest("A replication needs a `source` and a `target`.")
            case let other?: try self.init(other.wireJSON, .none)
            }
        }

        private init(_ text: String, _ credentials: RemoteCredentials) throws {
            guard text.parts(separatedBy: ":").dropFirst().contains(where: { $0.hasPrefix("//") }) else {
                self.text = text
                remote = nil
                return
            }
            do {
                let url = try RemoteURL(text)
                self.text = url.text + "/"
                remote = .remote(url, credentials)
            } catch { throw HTTPFailure.badRequest(error.description) }
        }

        private static func credentials(_ fields: BSONDocument) -> RemoteCredentials {
            let basic = fields["auth"]?.documentValue?["basic"]?.documentValue
            if let name = basic?["username"]?.stringValue, let password = basic?["password"]?.stringValue {
                return .basic(name, password: password)
            }
            guard let headers = fields["headers"]?.documentValue else { return .none }
            let pairs = headers.compactMap { name, value in value.stringValue.map { (name, $0) } }
            // Other headers say nothing about who somebody is, and beside them the URL's user counts.
            let hasAuthorization = pairs.contains { ["authorization", "cookie"].contains($0.0.asciiLowercased) }
            return hasAuthorization ? .headers(Dictionary(pairs, uniquingKeysWith: { $1 })) : .none
        }
    }

    let source: Side
    let target: Side
    let mode: Replication.Mode
    let isCancelled: Bool
    let options: Replication.Options
    /// Whether the answer says at its top what was done.
    let hasDocumentIDs: Bool

    init(_ body: BSONDocument) throws {
        for name in ["filter", "query_params"] where body[name] != nil {
            throw HTTPFailure.notImplemented("There is no JavaScript here: use `selector` or `doc_ids`")
        }
        for name in ["winning_revs_only", "source_proxy", "target_proxy", "proxy"] where body[name] != nil {
            if body[name] == .bool(false) { continue }
            throw HTTPFailure.notImplemented("`\(name)` of a replication is not supported")
        }
        source = try Side(body["source"])
        target = try Side(body["target"])
        mode = try Self.flag("continuous", body) ? .continuous : .once
        isCancelled = try Self.flag("cancel", body)
        var options = Replication.Options()
        options.createsTarget = try Self.flag("create_target", body)
        if let size = body["worker_batch_size"]?.int64Value { options.batchSize = Int(min(max(size, 1), 5_000)) }
        hasDocumentIDs = body["doc_ids"] != nil
        guard !hasDocumentIDs || body["selector"] == nil else {
            throw HTTPFailure.badRequest("`doc_ids`,`filter`,`selector` are mutually exclusive options")
        }
        if let list = body["doc_ids"] {
            guard case .array(let values) = list else {
                throw HTTPFailure.badRequest("`doc_ids` must be an array.")
            }
            options.filter = .ids(
                try values.map { value in
                    guard let id = value.stringValue else {
                        throw HTTPFailure.badRequest("`doc_ids` must be an array of strings.")
                    }
                    return id
                })
        } else if let selector = body["selector"] {
            guard let fields = selector.documentValue else {
                throw HTTPFailure.badRequest("`selector` must be a JSON object")
            }
            options.filter = .selector(fields)
        }
        self.options = options
    }

    /// The id of the replication that a request cancels without naming its sides again, by one of CouchDB's three names for it.
    static func cancelledID(_ body: BSONDocument) throws -> String? {
        guard try flag("cancel", body) else { return nil }
        return ["_local_id", "replication_id", "id"].lazy.compactMap { body[$0]?.stringValue }.first
    }

    private static func flag(_ name: String, _ body: BSONDocument) throws -> Bool {
        switch body[name] {
        case nil: return false
        case .bool(let flag): return flag
        default: throw HTTPFailure.badRequest("`\(name)` must be a boolean.")
        }
    }
}
#endif
