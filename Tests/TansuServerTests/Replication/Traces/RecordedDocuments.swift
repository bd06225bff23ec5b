#if TansuServer
import Foundation

@testable import TansuSync

/// The documents and attachments in the answers of a recording.
struct RecordedDocuments: Sendable {
    struct Key: Hashable, Sendable, CustomStringConvertible {
        let id: String
        let revision: String
        var description: String { "\(id) \(revision)" }
    }

    struct AttachmentKey: Hashable, Sendable {
        let document: Key
        let name: String
    }

    struct Attachment: Sendable {
        let type: String
        let encoding: String?
        /// As they were sent, so maybe compressed.
        let bytes: [UInt8]
    }

    /// Documents as `_bulk_get` has them: attachments are stubs.
    private(set) var documents: [Key: JSON] = [:]
    private(set) var attachments: [AttachmentKey: Attachment] = [:]

    /// Collects what a recorded source answered.
    init(answeredIn requests: [RecordedRequest]) {
        for request in requests where request.status == 200 {
            guard let endpoint = request.endpoint?.removingPercentEncoding else { continue }
            if endpoint == "_bulk_get" {
                for result in JSON(request.answer)?["results"]?.elements ?? [] {
                    for entry in result["docs"]?.elements ?? [] { if let document = entry["ok"] { add(document) } }
                }
            } else if request.query["open_revs"] != nil {
                for part in Self.parts(request.answer, request.answerHeaders["content-type"]) {
                    add(part.body, type: part.headers.first { $0.name == "content-type" }?.value ?? "")
                }
            } else if let revision = request.query["rev"], let slash = endpoint.lastIndex(of: "/") {
                let key = Key(id: String(endpoint[..<slash]), revision: revision)
                let name = String(endpoint[endpoint.index(after: slash)...])
                attachments[.init(document: key, name: name)] = Attachment(
                    type: request.answerHeaders["content-type"] ?? "",
                    encoding: request.answerHeaders["content-encoding"], bytes: request.answer)
            }
        }
    }

    /// Collects what a recorded replicator sent.
    init(sentIn requests: [RecordedRequest]) {
        for request in requests where request.status == 201 {
            if request.endpoint == "_bulk_docs" {
                for document in JSON(request.body)?["docs"]?.elements ?? [] { add(document) }
            } else if request.query["new_edits"] == "false" {
                add(request.body, type: request.contentType ?? "")
            }
        }
    }

    init() {}

    /// Adds a document, alone or with its attachments after it.
    mutating func add(_ body: [UInt8], type: String) {
        guard type.hasPrefix("multipart/related") else {
            if let document = JSON(body) { add(document) }
            return
        }
        let parts = Self.parts(body, type)
        guard let first = parts.first, let document = JSON(first.body) else { return }
        let key = add(document)
        let sent = (document["_attachments"]?.members ?? []).filter { $0.value["follows"] == .bool(true) }
        for (member, part) in zip(sent, parts.dropFirst()) {
            attachments[.init(document: key, name: member.name)] = Attachment(
                type: member.value["content_type"]?.text ?? "",
                encoding: part.headers.first { $0.name == "content-encoding" }?.value, bytes: part.body)
        }
    }

    @discardableResult
    mutating func add(_ document: JSON) -> Key {
        let key = Key(id: document["_id"]?.text ?? "", revision: document["_rev"]?.text ?? "")
        documents[key] = document.withStubs
        return key
    }

    static func parts(_ body: [UInt8], _ type: String?) -> [Part] {
        type.flatMap { Part.parts(of: body, contentType: $0) } ?? []
    }
}

extension JSON {
    /// A document whose attachments are stubs.
    fileprivate var withStubs: JSON {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { member in
                guard member.name == "_attachments" else { return member }
                let stubs = member.value.members.map { attachment in
                    let rest = attachment.value.members.filter { $0.name != "follows" && $0.name != "data" }
                    let isStub = rest.contains { $0.name == "stub" }
                    let stub = isStub ? [] : [Member(name: "stub", value: .bool(true))]
                    return Member(name: attachment.name, value: .object(rest + stub))
                }
                return Member(name: member.name, value: .object(stubs))
            })
    }
}
#endif
