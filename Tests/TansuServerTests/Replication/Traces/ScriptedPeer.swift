#if TansuServer
import Foundation
import TansuBSON

@testable import TansuSync

/// A database that answers as one of CouchDB answered another replicator. What was not asked then is noted as a surprise.
final class ScriptedPeer: HTTPTransport {
    struct State {
        var requests: [HTTPCall] = []
        /// How often the changes after a sequence were asked for.
        var asked: [String: Int] = [:]
        var checkpoints: [String: JSON] = [:]
        /// What it was given.
        var received = RecordedDocuments()
        var surprises: [String] = []
    }

    let state = Locked(State())
    private let recorded: [RecordedRequest]
    private let documents: RecordedDocuments
    /// Answers of `_changes`, in their order, by the sequence after which they were asked for.
    private let changes: [String: [[UInt8]]]
    /// Revisions that the recorded target lacked.
    private let missing: Set<RecordedDocuments.Key>
    /// All revisions that it was asked about.
    private let known: Set<RecordedDocuments.Key>

    init(_ recorded: [RecordedRequest]) {
        self.recorded = recorded
        documents = RecordedDocuments(answeredIn: recorded)
        var changes: [String: [[UInt8]]] = [:]
        var missing: Set<RecordedDocuments.Key> = []
        var known: Set<RecordedDocuments.Key> = []
        for request in recorded where request.status == 200 {
            if request.endpoint == "_changes", let since = request.query["since"],
                JSON(request.answer)?["results"] != nil
            {
                changes[since, default: []].append(request.answer)
            } else if request.endpoint == "_revs_diff" {
                known.formUnion(Self.keys(JSON(request.body)) { $0 })
                missing.formUnion(Self.keys(JSON(request.answer)) { $0["missing"] })
            }
        }
        self.changes = changes
        self.missing = missing
        self.known = known
    }

    private static func keys(_ value: JSON?, _ list: (JSON) -> JSON?) -> [RecordedDocuments.Key] {
        (value?.members ?? []).flatMap { member in
            (list(member.value)?.elements ?? []).compactMap { revision in
                revision.text.map { .init(id: member.name, revision: $0) }
            }
        }
    }

    /// The leaves of each document that the recorded source had in the end.
    var leaves: [String: Set<String>] {
        var leaves: [String: Set<String>] = [:]
        for request in recorded where request.endpoint == "_changes" {
            for row in JSON(request.answer)?["results"]?.elements ?? [] {
                guard let id = row["id"]?.text else { continue }
                leaves[id] = Set((row["changes"]?.elements ?? []).compactMap { $0["rev"]?.text })
            }
        }
        return leaves
    }

    /// The documents that the recorded source had.
    var source: RecordedDocuments { documents }

    func send(_ call: HTTPCall) async throws -> TansuSync.HTTPAnswer {
        let body: [UInt8]
        var type = "application/json"
        switch call.body {
        case .none: body = []
        case .json(let bytes): body = bytes
        case .stream(let streamed, _, let make):
            type = streamed
            body = try await make().all(limit: 1 << 24)
        }
        return state.withLock { state in
            state.requests.append(call)
            return answer(call, body, type, &state)
        }
    }

    private func answer(
        _ call: HTTPCall, _ body: [UInt8], _ type: String, _ state: inout State
    ) -> TansuSync.HTTPAnswer {
        let query = Dictionary(
            (URLComponents(string: call.url)?.queryItems ?? []).map { ($0.name, $0.value ?? "") },
            uniquingKeysWith: { $1 })
        let endpoint = call.endpoint.removingPercentEncoding ?? ""
        switch (call.method, endpoint) {
        case ("GET", ""): return recordedAnswer("GET", "")
        case ("GET", "_changes"), ("POST", "_changes"):
            let since = query["since"] ?? "0"
            let answers = changes[since] ?? []
            let count = state.asked[since, default: 0]
            state.asked[since] = count + 1
            // The last one says what there was in the end.
            guard count < answers.count else { return laterChanges(after: since) }
            return Self.json(200, String(decoding: answers[count], as: UTF8.self))
        case ("POST", "_bulk_get"): return bulkGet(JSON(body), &state)
        case ("POST", "_revs_diff"): return revisionsDifference(JSON(body), &state)
        case ("POST", "_bulk_docs"):
            for document in JSON(body)?["docs"]?.elements ?? [] { state.received.add(document) }
            return Self.json(201, "[]")
        case ("POST", "_ensure_full_commit"): return Self.json(201, "{\"ok\":true,\"instance_start_time\":\"0\"}")
        case ("GET", let name) where name.hasPrefix("_local/"):
            return state.checkpoints[name].map { Self.json(200, "\($0)") }
                ?? Self.json(404, "{\"error\":\"not_found\",\"reason\":\"missing\"}")
        case ("PUT", let name) where name.hasPrefix("_local/"):
            state.checkpoints[name] = JSON(body)
            return Self.json(201, "{\"ok\":true,\"id\":\(JSON.string(name)),\"rev\":\"0-1\"}")
        case ("PUT", let id) where query["new_edits"] == "false":
            state.received.add(body, type: type)
            return Self.json(201, "{\"ok\":true,\"id\":\(JSON.string(id))}")
        case ("GET", let path):
            if let revision = query["rev"], let slash = path.lastIndex(of: "/") {
                let key = RecordedDocuments.Key(id: String(path[..<slash]), revision: revision)
                let name = String(path[path.index(after: slash)...])
                if let found = documents.attachments[.init(document: key, name: name)] {
                    var headers = [HTTPField("content-type", found.type)]
                    if let encoding = found.encoding { headers.append(HTTPField("content-encoding", encoding)) }
                    return Self.answer(200, headers, found.bytes)
                }
            }
            fallthrough
        default:
            state.surprises.append("\(call.method) \(endpoint) \(query)")
            return Self.json(404, "{\"error\":\"not_found\",\"reason\":\"missing\"}")
        }
    }

    /// What follows a sequence after which nobody asked, or not once more.
    private func laterChanges(after since: String) -> TansuSync.HTTPAnswer {
        let rows = changes.values.joined().flatMap { JSON($0)?["results"]?.elements ?? [] }
            .filter { Self.number($0["seq"]?.text ?? "") > Self.number(since) }
            .sorted { Self.number($0["seq"]?.text ?? "") < Self.number($1["seq"]?.text ?? "") }
        let last = rows.last?["seq"]?.text ?? since
        let list = rows.map { "\($0)" }.joined(separator: ",")
        return Self.json(200, "{\"results\":[\(list)],\"last_seq\":\(JSON.string(last)),\"pending\":0}")
    }

    /// The number with which a sequence of CouchDB begins.
    private static func number(_ sequence: String) -> Int { Int(sequence.prefix { $0.isNumber }) ?? 0 }

    private func bulkGet(_ body: JSON?, _ state: inout State) -> TansuSync.HTTPAnswer {
        var results: [String] = []
        for wanted in body?["docs"]?.elements ?? [] {
            let key = RecordedDocuments.Key(
                id: wanted["id"]?.text ?? "", revision: wanted["rev"]?.text ?? "")
            if let document = documents.documents[key] {
                results.append("{\"id\":\(JSON.string(key.id)),\"docs\":[{\"ok\":\(document)}]}")
            } else {
                state.surprises.append("_bulk_get \(key)")
            }
        }
        return Self.json(200, "{\"results\":[\(results.joined(separator: ","))]}")
    }

    private func revisionsDifference(_ body: JSON?, _ state: inout State) -> TansuSync.HTTPAnswer {
        var members: [JSON.Member] = []
        for member in body?.members ?? [] {
            var lacking: [JSON] = []
            for revision in member.value.elements.compactMap(\.text) {
                let key = RecordedDocuments.Key(id: member.name, revision: revision)
                if !known.contains(key) { state.surprises.append("_revs_diff \(key)") }
                if missing.contains(key), state.received.documents[key] == nil { lacking.append(.string(revision)) }
            }
            if !lacking.isEmpty {
                let value = JSON.object([.init(name: "missing", value: .array(lacking))])
                members.append(.init(name: member.name, value: value))
            }
        }
        return Self.json(200, "\(JSON.object(members))")
    }

    private func recordedAnswer(_ method: String, _ endpoint: String) -> TansuSync.HTTPAnswer {
        let found = recorded.last { $0.method == method && $0.endpoint == endpoint && $0.status == 200 }
        guard let found else { return Self.json(404, "{\"error\":\"not_found\",\"reason\":\"missing\"}") }
        return Self.answer(found.status, [HTTPField("content-type", "application/json")], found.answer)
    }

    private static func json(_ status: Int, _ text: String) -> TansuSync.HTTPAnswer {
        answer(status, [HTTPField("content-type", "application/json")], Array(text.utf8))
    }

    private static func answer(
        _ status: Int, _ headers: [HTTPField], _ bytes: [UInt8]
    ) -> TansuSync.HTTPAnswer {
        let rest = Locked(bytes.isEmpty ? [] : [bytes])
        return TansuSync.HTTPAnswer(
            status: status, headers: headers, body: ByteStream { rest.withLock { $0.popLast() } })
    }
}
#endif
