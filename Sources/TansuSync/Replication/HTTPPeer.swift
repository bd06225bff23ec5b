#if TansuSync
import Foundation
import Tansu
import TansuBSON

/// A database on a server as a side of a replication: CouchDB, PouchDB Server, or another Tansu.
struct HTTPPeer: ReplicationPeer {
    /// The greatest number of rows of `_changes` that are held, from a server that ignores the limit, or without a
    /// sequence to go on from.
    private static let rowLimit = 10_000

    let database: RemoteDatabase
    /// How types that JSON lacks are written.
    let form: WireJSONForm
    /// The milliseconds after which a server that has no change says that it is still there.
    private let heartbeat: Int
    /// What the server was found not to have.
    let lacking: Locked<Set<Feature>>
    /// The sequence after which changes were waited for last, and how often in a row.
    private let polled: Locked<(sequence: PeerSequence?, count: Int)?>

    /// What a server may not have, and what is done without.
    enum Feature: Hashable {
        /// Documents are read one by one.
        case bulkGet
        /// Each run begins at the first change.
        case checkpoints
    }

    /// - Parameters:
    ///   - form: How types that JSON lacks are written.
    ///   - timeout: The seconds without a byte after which the connection counts as broken.
    init(_ database: RemoteDatabase, form: WireJSONForm = .extended, timeout: Int = 75) {
        self.database = database
        self.form = form
        heartbeat = min(75, timeout) * 1_000 / 3
        lacking = Locked([])
        polled = Locked(nil)
    }

    var identity: String { database.url.text }

    // MARK: Checkpoints

    /// Servers that refuse `_local` documents are replicated with from the first change on.
    private static let refusals: Set = [400, 403, 405, 501]

    func checkpoint(_ id: String) async throws -> ReplicationCheckpoint? {
        try await localDocument(id).flatMap { ReplicationCheckpoint($0) }
    }

    private func localDocument(_ id: String) async throws -> BSONDocument? {
        let (status, value) = try await database.json(
            "GET", Self.path(id), accepted: Self.refusals.union([404]))
        switch status {
        case 404:
            // The same status for a database that is not there.
            guard !["Database does not exist.", "no_db_file"].contains(value["reason"]?.stringValue) else {
                var failure = RemoteFailure(.status(404), "Database does not exist.", word: "not_found")
                failure.location = database.url.text
                throw failure
            }
            return nil
        case 200: return value.documentValue
        default:
            lacking.withLock { _ = $0.insert(.checkpoints) }
            return nil
        }
    }

    func save(_ checkpoint: ReplicationCheckpoint, as id: String) async throws {
        guard !lacking.withLock({ $0.contains(.checkpoints) }) else { return }
        // A conflict comes from a request that was repeated because its answer was lost, or from another run.
        for isLast in [false, true] {
            var fields = checkpoint.fields
            if let revision = try await localDocument(id)?["_rev"] { fields["_rev"] = revision }
            var writer = WireJSONWriter()
            writer.value(.document(fields))
            let (status, _) = try await database.json(
                "PUT", Self.path(id), body: writer.finish(), accepted: Self.refusals.union(isLast ? [] : [409]))
            if Self.refusals.contains(status) { lacking.withLock { _ = $0.insert(.checkpoints) } }
            if status != 409 { return }
        }
    }

    private static func path(_ id: String) -> String { RemoteURL.path(ofDocument: "_local/" + id) }

    // MARK: Changes

    func changes(
        after sequence: PeerSequence?, filter: ReplicationFilter, limit: Int
    ) async throws -> PeerChanges {
        try await changes([("limit", String(limit)), ("seq_interval", String(limit))], sequence, filter, limit)
    }

    func waitForChange(after sequence: PeerSequence?, filter: ReplicationFilter) async throws {
        while true {
            try await pause(before: sequence)
            let page = try await changes(
                [("feed", "longpoll"), ("limit", "1"), ("heartbeat", String(heartbeat))], sequence, filter, 1)
            if !page.documents.isEmpty { return }
            try Task.checkCancellation()
        }
    }

    /// Waits longer each time when the server answers although nothing has come since the same sequence. Some seconds
    /// are the most, for it may be one that ends each request after a minute.
    private func pause(before sequence: PeerSequence?) async throws {
        let count = polled.withLock { polled in
            let count = polled.map { $0.sequence == sequence ? $0.count + 1 : 0 } ?? 0
            polled = (sequence, count)
            return count
        }
        if count > 0 { try await database.pause(after: min(count, 6)) }
    }

    private func changes(
        _ query: [(String, String)], _ sequence: PeerSequence?, _ filter: ReplicationFilter, _ limit: Int
    ) async throws -> PeerChanges {
        var query = [("style", "all_docs"), ("since", sequence.map { Self.text($0.json) } ?? "0")] + query
        var method = "GET"
        var body = HTTPCall.Body.none
        if let (name, fields) = filter.request {
            query.append(("filter", name))
            method = "POST"
            var writer = WireJSONWriter()
            writer.value(.document(fields))
            body = .json(writer.finish())
        }
        return try await database.perform(method, "_changes", query: query, body: body) { answer in
            var documents: [DocumentRevisions] = []
            var last: PeerSequence?
            var rows = 0
            func read(_ element: [UInt8]) throws {
                let row = try RemoteDatabase.value(element)
                rows += 1
                if let sequence = row["seq"], sequence != .null { last = PeerSequence(sequence) }
                guard let id = row["id"]?.stringValue, case .array(let list)? = row["changes"] else {
                    throw RemoteFailure.invalidAnswer("A row of _changes has no id or no changes")
                }
                let revisions = list.compactMap { $0["rev"]?.stringValue.flatMap { Revision($0) } }
                documents.append(DocumentRevisions(id: id, revisions: revisions))
                guard rows >= Self.rowLimit else { return }
                guard last != nil, last != sequence else {
                    throw RemoteFailure.invalidAnswer("_changes answers \(rows) changes without a new sequence")
                }
                throw EnoughRows()
            }
            let rest: [UInt8]
            do {
                rest = try await Self.elements("results", of: answer) { try read($0) }
            } catch is EnoughRows { return PeerChanges(documents: documents, last: last, isComplete: false) }
            let summary = try RemoteDatabase.value(rest)
            if let sequence = summary["last_seq"], sequence != .null { last = PeerSequence(sequence) }
            let pending = summary["pending"]?.int64Value
            let isComplete = rows == 0 || pending.map { $0 <= 0 } ?? (rows < limit)
            guard isComplete || last != sequence else {
                throw RemoteFailure.invalidAnswer("_changes answers changes without a sequence after the last one")
            }
            return PeerChanges(
                documents: documents, last: last, isComplete: isComplete, pending: pending.map { Int($0) })
        }
    }

    private struct EnoughRows: Error {}

    /// A sequence in a query: text as it is, else its JSON.
    private static func text(_ value: BSONValue) -> String {
        if case .string(let text) = value { return text }
        var writer = WireJSONWriter()
        writer.value(value)
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    // MARK: Revisions

    func missing(_ revisions: [DocumentRevisions]) async throws -> [MissingRevisions] {
        var writer = WireJSONWriter(capacity: revisions.count * 64)
        writer.raw("{")
        writer.list(revisions) { writer, document in
            writer.string(document.id)
            writer.raw(":[")
            writer.list(document.revisions) { $0.string($1.description) }
            writer.raw("]")
        }
        writer.raw("}")
        let answers = try await database.perform("POST", "_revs_diff", body: .json(writer.finish())) { answer in
            let bytes = try await RemoteDatabase.decoded(answer).all(limit: RemoteDatabase.elementLimit)
            guard let members = try? WireObject.members(json: bytes) else {
                throw RemoteFailure.invalidAnswer("_revs_diff answers no object")
            }
            return members
        }
        let byID = Dictionary(
            answers.map { (BytewiseText($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        return try revisions.compactMap { document -> MissingRevisions? in
            guard let answer = byID[BytewiseText(document.id)] else { return nil }
            let missing = try Self.revisions(answer["missing"])
            guard !missing.isEmpty else { return nil }
            return MissingRevisions(
                id: document.id, revisions: missing, ancestors: try Self.revisions(answer["possible_ancestors"]))
        }
    }

    private static func revisions(_ value: BSONValue?) throws -> [Revision] {
        guard let value else { return [] }
        guard case .array(let list) = value else {
            throw RemoteFailure.invalidAnswer("_revs_diff answers no list of revisions")
        }
        return try list.map { element in
            guard let revision = element.stringValue.flatMap({ Revision($0) }) else {
                throw RemoteFailure.invalidAnswer("_revs_diff answers the revision \(element)")
            }
            return revision
        }
    }

    func ensureCommit() async throws {
        // CouchDB syncs each commit since version 3, and others have no such endpoint.
        _ = try await database.json(
            "POST", "_ensure_full_commit", body: Array("{}".utf8), accepted: [400, 403, 404, 405, 501])
    }

    /// Gives each element of an array in an answer to a closure as soon as it has come.
    ///
    /// - Returns: The answer without these elements.
    static func elements(
        _ name: StaticString, of answer: HTTPAnswer, _ receive: ([UInt8]) async throws -> Void
    ) async throws -> [UInt8] {
        var elements = JSONElements(of: name, limit: RemoteDatabase.elementLimit)
        let stream = try RemoteDatabase.decoded(answer)
        while let piece = try await stream.next() {
            for element in try elements.push(piece) { try await receive(element) }
        }
        let rest = try elements.finish()
        guard elements.isFound else { throw RemoteFailure.invalidAnswer("Its answer has no list \"\(name)\"") }
        return rest
    }
}

extension ReplicationFilter {
    /// What a request for changes says: the name of CouchDB's filter, and the body.
    fileprivate var request: (String, BSONDocument)? {
        switch self {
        case .all: nil
        case .ids(let ids): ("_doc_ids", ["doc_ids": .array(BSONArray(ids.map { .string($0.text) }))])
        case .selector(let selector): ("_selector", ["selector": .document(selector.json)])
        }
    }
}
#endif
