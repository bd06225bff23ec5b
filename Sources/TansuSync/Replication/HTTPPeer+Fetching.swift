#if TansuSync
import Foundation
import TansuBSON

extension HTTPPeer {
    /// An error of whoever receives revisions, which is no reason to ask the server again.
    private struct ReceiverError: Error {
        let error: any Error
    }

    /// The statuses with which servers without `_bulk_get` answer it.
    private static let unknownEndpoint: Set = [400, 403, 404, 405, 501]

    func fetch(
        _ wanted: [DocumentRevisions], _ receive: (FetchedRevision) async throws -> Void
    ) async throws {
        var wanted = wanted
        do {
            while !wanted.isEmpty, !lacking.withLock({ $0.contains(.bulkGet) }) {
                try await database.retrying { try await fetchTogether(&wanted, receive) }
            }
            for document in wanted {
                try await database.retrying { try await fetchAlone(document, receive) }
            }
        } catch let error as ReceiverError { throw error.error }
    }

    // MARK: Many documents

    /// Asks for documents with `_bulk_get`, and removes from the list those that have come.
    private func fetchTogether(
        _ wanted: inout [DocumentRevisions], _ receive: (FetchedRevision) async throws -> Void
    ) async throws {
        var writer = WireJSONWriter(capacity: wanted.count * 96)
        writer.raw("{\"docs\":[")
        let pairs = wanted.flatMap { document in document.revisions.map { (document.id, $0) } }
        writer.list(pairs) { writer, pair in
            writer.raw("{\"id\":")
            writer.string(pair.0)
            writer.raw(",\"rev\":")
            writer.string(pair.1.description)
            writer.raw("}")
        }
        writer.raw("]}")
        let answer = try await database.send(
            "POST", "_bulk_get", query: [("revs", "true"), ("latest", "true"), ("att_encoding_info", "true")],
            body: .json(writer.finish()))
        guard 200..<300 ~= answer.status else {
            guard Self.unknownEndpoint.contains(answer.status) else {
                throw try await RemoteDatabase.failure(answer)
            }
            lacking.withLock { _ = $0.insert(.bulkGet) }
            return
        }
        var arrived: Set<BytewiseText> = []
        do {
            let documents = Dictionary(
                wanted.map { (BytewiseText($0.id), $0) }, uniquingKeysWith: { first, _ in first })
            // One document may have several results, one after the other.
            var seen: Set<Revision> = []
            var current: BytewiseText?
            _ = try await Self.elements("results", of: answer) { element in
                let result = try Self.result(element)
                guard let document = documents[BytewiseText(result.id)] else {
                    throw RemoteFailure.invalidAnswer(
                        "_bulk_get answers the document \"\(result.id)\", which was not asked for")
                }
                if current != BytewiseText(result.id) {
                    if let current { arrived.insert(current) }
                    current = BytewiseText(result.id)
                    seen = []
                }
                try await give(result, document, &seen, receive)
            }
            if let current { arrived.insert(current) }
        } catch let failure as RemoteFailure where failure.isTransient && !arrived.isEmpty {
            // What has come need not come again.
            wanted.removeAll { arrived.contains(BytewiseText($0.id)) }
            return
        }
        let silent = wanted.filter { !arrived.contains(BytewiseText($0.id)) }
        wanted = []
        do {
            for document in silent { try await receive(failure(document, nil, Self.notSent)) }
        } catch { throw ReceiverError(error: error) }
    }

    private static let notSent = "The source lists the document, but does not send it"

    private struct FetchResult {
        var id: String
        /// The documents; nil for one that cannot be read.
        var documents: [WireDocument] = []
        /// Why some are not there, with the revision where it is known.
        var failures: [(revision: Revision?, reason: String)] = []
        var isOfBulkGet = true
    }

    private static func result(_ element: [UInt8]) throws -> FetchResult {
        // Element, list, entry, document.
        guard let value = try? BSONValue(wireJSON: element, documentDepth: 4) else {
            return try unreadable(element)
        }
        guard let id = value["id"]?.stringValue, case .array(let entries)? = value["docs"] else {
            throw RemoteFailure.invalidAnswer("A result of _bulk_get has no id or no docs")
        }
        var result = FetchResult(id: id)
        for entry in entries { read(entry, into: &result) }
        if entries.isEmpty { result.failures.append((nil, notSent)) }
        return result
    }

    private static func read(_ entry: BSONValue, into result: inout FetchResult) {
        if let document = entry["ok"]?.documentValue {
            do { result.documents.append(try WireDocument(document)) } catch {
                result.failures.append((document["_rev"]?.stringValue.flatMap { Revision($0) }, "\(error)"))
            }
        } else if let error = entry["error"] {
            // A revision that was removed since its change was listed. The change that removed it follows.
            guard error["reason"]?.stringValue != "missing" else { return }
            let words = ["error", "reason"].compactMap { error[$0]?.stringValue }.joined(separator: ": ")
            result.failures.append(
                (error["rev"]?.stringValue.flatMap { Revision($0) }, "The source says: " + words))
        }
    }

    /// The result of a document of which some revision is no BSON, too deep or with a zero byte in a key: the others,
    /// and why not.
    private static func unreadable(_ element: [UInt8]) throws -> FetchResult {
        var parts = JSONElements(of: "docs", limit: RemoteDatabase.elementLimit)
        let entries = try parts.push(element)
        guard let rest = try? BSONValue(wireJSON: parts.finish(), documentDepth: 2),
            let id = rest["id"]?.stringValue
        else { throw RemoteFailure.invalidAnswer("A document in its answer is no JSON") }
        var result = FetchResult(id: id)
        for entry in entries {
            // Entry, document.
            do { read(try BSONValue(wireJSON: entry, documentDepth: 2), into: &result) } catch {
                result.failures.append((nil, "The document cannot be stored: \(error)"))
            }
        }
        return result
    }

    private func give(
        _ result: FetchResult, _ document: DocumentRevisions, _ seen: inout Set<Revision>,
        _ receive: (FetchedRevision) async throws -> Void
    ) async throws {
        do {
            for found in result.documents {
                guard let path = found.path ?? found.revision?.revision.map({ RevisionPath($0) }) else {
                    try await receive(failure(document, nil, "The source does not say which revision it is"))
                    continue
                }
                // Several revisions that are asked for can have one newest descendant.
                guard seen.insert(path.revision).inserted else { continue }
                try await receive(revision(found, of: document.id, path, isOfBulkGet: result.isOfBulkGet))
            }
            for (revision, reason) in result.failures { try await receive(failure(document, revision, reason)) }
        } catch { throw ReceiverError(error: error) }
    }

    private func failure(_ document: DocumentRevisions, _ revision: Revision?, _ reason: String) -> FetchedRevision {
        .failure(.init(id: document.id, revision: revision ?? document.revisions.first, reason: reason))
    }

    // MARK: One document

    /// Asks for the revisions of one document with `open_revs`.
    private func fetchAlone(
        _ document: DocumentRevisions, _ receive: (FetchedRevision) async throws -> Void
    ) async throws {
        var seen: Set<Revision> = []
        // A URL has room for some hundred revisions.
        for start in stride(from: 0, to: document.revisions.count, by: 50) {
            let part = document.revisions[start..<min(start + 50, document.revisions.count)]
            let list = part.map { "\"\($0)\"" }.joined(separator: ",")
            let entries = try await database.perform(
                "GET", RemoteURL.path(ofDocument: document.id),
                query: [
                    ("revs", "true"), ("latest", "true"), ("att_encoding_info", "true"), ("open_revs", "[\(list)]"),
                ], accepted: [404]
            ) { answer -> [UInt8]? in
                let bytes = try await RemoteDatabase.decoded(answer).all(limit: RemoteDatabase.elementLimit)
                return answer.status == 404 ? nil : bytes
            }
            // It was removed since its change was listed.
            guard let entries else { continue }
            var result = FetchResult(id: document.id, isOfBulkGet: false)
            if let value = try? BSONValue(wireJSON: entries, documentDepth: 3) {
                guard case .array(let list) = value else {
                    throw RemoteFailure.invalidAnswer("open_revs answers no list of revisions")
                }
                for entry in list { Self.read(entry, into: &result) }
            } else {
                result.failures.append((part.first, "The document cannot be stored"))
            }
            try await give(result, document, &seen, receive)
        }
    }

    // MARK: Attachments

    private func revision(
        _ found: WireDocument, of id: String, _ path: RevisionPath, isOfBulkGet: Bool
    ) -> FetchedRevision {
        var revision = PeerRevision(
            id: id, path: path, isDeleted: found.isDeleted, fields: found.fields,
            attachments: found.attachments.map { attachment($0, of: id, path.revision) })
        if isOfBulkGet { revision.bulkGet = found.attachments.isEmpty ? .everything : .fields }
        return .revision(revision)
    }

    private func attachment(_ found: WireAttachment, of id: String, _ revision: Revision) -> PeerAttachment {
        let path = RemoteURL.path(ofDocument: id) + "/" + RemoteURL.encoded(found.name)
        let database = database
        let encoding = found.encoding
        return PeerAttachment(
            name: found.name, contentType: found.contentType, digest: found.digest ?? "",
            length: found.length ?? 0, revpos: found.revpos ?? 0, encoding: encoding,
            encodedLength: found.encodedLength
        ) {
            let reader = AttachmentDownload(database, path, revision, acceptsGzip: encoding != nil)
            let received = try await reader.begin()
            // The digest is that of the bytes as they are sent, compressed or not.
            guard received == nil || received == "gzip" else {
                throw SyncError(
                    .invalidEncoding,
                    "The source sends attachment \"\(found.name)\" compressed in another way than it said")
            }
            return PeerBytes(encoding: received, stream: ByteStream { try await reader.next() })
        }
    }
}

/// Reads the stored bytes of an attachment from a server. When the connection breaks it goes on where it was.
///
/// `@unchecked Sendable`: a stream has one reader.
final class AttachmentDownload: @unchecked Sendable {
    private let database: RemoteDatabase
    private let path: String
    private let revision: Revision
    private let headers: [HTTPField]
    private var stream: ByteStream?
    /// The bytes that were given to the reader.
    private var received: Int64 = 0
    /// The bytes that come once more, because the server does not begin in the middle.
    private var skipped: Int64 = 0

    init(_ database: RemoteDatabase, _ path: String, _ revision: Revision, acceptsGzip: Bool) {
        self.database = database
        self.path = path
        self.revision = revision
        headers = [
            HTTPField("accept", "*/*"), HTTPField("accept-encoding", acceptsGzip ? "gzip" : "identity"),
        ]
    }

    /// Waits for the beginning.
    ///
    /// - Returns: How the bytes are compressed; nil when they are not.
    func begin() async throws -> String? {
        try await database.retrying { try await request() }
    }

    private func request() async throws -> String? {
        var headers = headers
        if received > 0 { headers.append(HTTPField("range", "bytes=\(received)-")) }
        let answer = try await database.send(
            "GET", path, query: [("rev", revision.description)], headers: headers)
        guard answer.status == 200 || answer.status == 206 else { throw try await RemoteDatabase.failure(answer) }
        skipped = answer.status == 206 ? 0 : received
        stream = answer.body
        let encoding = answer["content-encoding"]?.asciiLowercased
        return encoding == "identity" ? nil : encoding
    }

    func next() async throws -> [UInt8]? {
        try await database.retrying {
            do {
                if stream == nil { _ = try await request() }
                return try await piece()
            } catch {
                stream = nil
                throw error
            }
        }
    }

    private func piece() async throws -> [UInt8]? {
        while let bytes = try await stream?.next() {
            guard skipped < bytes.count else {
                skipped -= Int64(bytes.count)
                continue
            }
            let rest = skipped == 0 ? bytes : Array(bytes[Int(skipped)...])
            skipped = 0
            received += Int64(rest.count)
            return rest
        }
        return nil
    }
}
#endif
