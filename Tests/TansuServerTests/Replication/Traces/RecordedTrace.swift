#if TansuServer
import Foundation
import TansuTestSupport

/// A request of a replicator of CouchDB or PouchDB, and what CouchDB answered.
struct RecordedRequest: Sendable {
    let number: Int
    /// The side of the replication that was asked: `source`, `target` or `remote`.
    let side: String
    let method: String
    /// Percent-encoded.
    let target: String
    let contentType: String?
    let body: [UInt8]
    let status: Int
    /// With names in lower case.
    let answerHeaders: [String: String]
    let answer: [UInt8]

    /// The path without the query, percent-encoded.
    var path: String { String(target.prefix { $0 != "?" }) }
    /// The part of the path after the database; nil when there is no database in it.
    var endpoint: String? {
        let parts = path.split(separator: "/", maxSplits: 1)
        guard let database = parts.first, !database.hasPrefix("_") else { return nil }
        return parts.count == 2 ? String(parts[1]) : ""
    }
    var query: [String: String] {
        let items = URLComponents(string: target)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
    }
}

/// Recorded replications; see the README of the resources.
enum RecordedTrace {
    /// The requests of a recording, in the order in which they were begun.
    static func requests(of name: String) -> [RecordedRequest] { all[name] ?? [] }

    private static let all: [String: [RecordedRequest]] = {
        // Not `resourceURL`, because Foundation takes a folder named Resources as that of an application.
        let file = Bundle.module.bundleURL.appendingPathComponent("Resources/replication-traces.ndjson.gz")
        guard let data = try? Data(contentsOf: file), let bytes = try? gunzip(Array(data)) else { return [:] }
        var all: [String: [RecordedRequest]] = [:]
        var name = ""
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let value = JSON(line) else { return [:] }
            if let next = value["trace"]?.text { name = next } else { all[name, default: []].append(.init(value)) }
        }
        return all
    }()
}

extension RecordedRequest {
    fileprivate init(_ line: JSON) {
        number = line["i"]?.int ?? 0
        side = line["side"]?.text ?? ""
        method = line["m"]?.text ?? ""
        target = line["p"]?.text ?? ""
        contentType = line["h"]?["content-type"]?.text
        body = Self.bytes(line["b"])
        status = line["s"]?.int ?? 0
        answerHeaders = Dictionary(
            (line["rh"]?.members ?? []).map { ($0.name.lowercased(), $0.value.text ?? "") },
            uniquingKeysWith: { $1 })
        answer = Self.bytes(line["rb"])
    }

    private static func bytes(_ value: JSON?) -> [UInt8] {
        switch value {
        case nil, .null: []
        case let value?:
            if let text = value["$text"]?.text {
                Array(text.utf8)
            } else if let text = value["$b64"]?.text {
                Array(Data(base64Encoded: text) ?? Data())
            } else {
                Array("\(value)".utf8)
            }
        }
    }
}
#endif
