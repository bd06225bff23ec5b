#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `/{db}/_bulk_docs`
enum BulkDocsEndpoint {
    static let route = Route("/:db/_bulk_docs", allow: "POST", [.post: .init(post)])

    private static func post(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let batch = try WireBatch(json: try await request.bytes())
        guard batch.documents.count <= request.limits.batchDocuments else {
            throw HTTPFailure.tooLarge(
                "max_bulk_docs_count_exceeded", "A batch has at most \(request.limits.batchDocuments) documents")
        }
        let collection = try request.collection()
        return batch.newEdits == false
            ? try await push(batch, request, collection) : try await save(batch, request, collection)
    }

    /// Edits, each with its result.
    private static func save(
        _ batch: WireBatch, _ request: ServerRequest, _ collection: ReplicatedCollection
    ) async throws -> Response {
        let isAdmin = try request.security().isAdmin(request.user)
        let uploads = AttachmentUploads(request)
        defer { uploads.release() }
        var entries: [Entry] = []
        entries.reserveCapacity(batch.documents.count)
        let isUsersDatabase = request.isUsersDatabase
        for document in batch.documents {
            let id = document.id ?? NewDocumentID.make()
            guard isUsersDatabase, !id.hasPrefix("_") else {
                entries.append(try Entry(id, document, isAdmin: isAdmin, request, uploads))
                continue
            }
            let account: WireDocument
            do throws(HTTPFailure) {
                account = try await request.prepared(document, id)
            } catch {
                entries.append(Entry(id, error))
                continue
            }
            entries.append(try Entry(id, account, isAdmin: isAdmin, request, uploads))
        }
        let edits = entries.compactMap(\.edit)
        let locals = entries.compactMap(\.local)
        let results = try await collection.write { store in
            for local in locals { try local.save(in: store) }
            return edits.isEmpty ? [] : try store.save(edits)
        }
        var writer = WireJSONWriter(capacity: entries.count * 96)
        var next = results.makeIterator()
        writer.raw("[")
        writer.list(entries) { writer, entry in
            switch entry.content {
            case .edit:
                switch next.next() {
                case .success(let revision): writer.saved(entry.id, revision.description)
                case .failure(let error): writer.failed(entry.id, HTTPFailure(error, entry.id))
                case nil: break
                }
            case .local(let local): writer.saved(entry.id, local.revisionText)
            case .failure(let failure): writer.failed(entry.id, failure)
            }
        }
        writer.raw("]")
        return .json(bytes: writer.finish(), status: .created)
    }

    /// Revisions of another database, of which only what fails is answered.
    private static func push(
        _ batch: WireBatch, _ request: ServerRequest, _ collection: ReplicatedCollection
    ) async throws -> Response {
        let security = try request.security()
        let uploads = AttachmentUploads(request)
        defer { uploads.release() }
        var pushed: [PushedRevision] = []
        var locals: [LocalEdit] = []
        var failures: [(id: String, revision: String, failure: HTTPFailure)] = []
        for document in batch.documents {
            let id = document.id ?? NewDocumentID.make()
            if id.hasPrefix(DocumentName.localPrefix) {
                locals.append(try LocalEdit(id, document))
                continue
            }
            let prepared: WireDocument
            do throws(HTTPFailure) {
                prepared = try await request.prepared(document, id)
            } catch {
                guard request.isUsersDatabase else { throw error }
                failures.append((id, document.revision?.text ?? "", error))
                continue
            }
            let revision = try PushedRevision(id, prepared, document.revision, uploads)
            if id.hasPrefix(DocumentName.designPrefix), !security.isAdmin(request.user) {
                let failure = HTTPFailure.notDatabaseAdmin(request.user)
                failures.append((id, revision.path.revision.description, failure))
            } else {
                pushed.append(revision)
            }
        }
        let (revisions, edits) = (pushed, locals)
        let errors = try await collection.write { store in
            for local in edits { try local.save(in: store) }
            return revisions.isEmpty ? [] : try store.push(revisions)
        }
        for (revision, error) in zip(pushed, errors) {
            guard let error else { continue }
            failures.append((revision.id, revision.path.revision.description, HTTPFailure(error, revision.id)))
        }
        var writer = WireJSONWriter()
        writer.raw("[")
        writer.list(failures) { $0.failed($1.id, revision: $1.revision, $1.failure) }
        writer.raw("]")
        return .json(bytes: writer.finish(), status: .created)
    }

    /// A document of the batch.
    private struct Entry: Sendable {
        enum Content: Sendable {
            case edit(DocumentEdit)
            case local(LocalEdit)
            case failure(HTTPFailure)
        }

        let id: String
        let content: Content

        init(_ id: String, _ failure: HTTPFailure) {
            self.id = id
            content = .failure(failure)
        }

        init(
            _ id: String, _ document: WireDocument, isAdmin: Bool, _ request: ServerRequest,
            _ uploads: AttachmentUploads
        ) throws {
            self.id = id
            if id.hasPrefix(DocumentName.localPrefix) {
                content = .local(try LocalEdit(id, document))
            } else if id.hasPrefix(DocumentName.designPrefix), !isAdmin {
                content = .failure(.notDatabaseAdmin(request.user))
            } else if let revision = document.revision, revision.revision == nil, !revision.isEmpty {
                content = .failure(.conflict())
            } else {
                do throws(HTTPFailure) {
                    content = .edit(try Self.edit(id, document, request, uploads))
                } catch {
                    content = .failure(error)
                }
            }
        }

        private static func edit(
            _ id: String, _ document: WireDocument, _ request: ServerRequest, _ uploads: AttachmentUploads
        ) throws(HTTPFailure) -> DocumentEdit {
            try request.check(document, id)
            do {
                var edit = try DocumentEdit(id, document, document.revision, uploads)
                // Unlike PUT, a batch takes a revision of a document that does not exist.
                edit.allowsUnknownParent = true
                return edit
            } catch let failure as HTTPFailure {
                throw failure
            } catch {
                throw HTTPFailure(
                    .internalServerError, "internal_server_error", "The attachments could not be stored")
            }
        }

        var edit: DocumentEdit? {
            if case .edit(let edit) = content { return edit }
            return nil
        }

        var local: LocalEdit? {
            if case .local(let local) = content { return local }
            return nil
        }
    }
}

/// A `_local` document of a batch.
struct LocalEdit: Sendable {
    let id: String
    private let fields: BSONDocument
    private let revision: Int64
    private let isDeleted: Bool

    init(_ id: String, _ document: WireDocument) throws {
        self.id = id
        fields = document.localFields
        isDeleted = document.isDeleted
        revision = try LocalDocumentEndpoint.nextRevision(
            after: document.revision?.text, isDeleted: document.isDeleted)
    }

    var revisionText: String { "0-\(revision)" }

    func save(in store: RevisionStore) throws {
        if isDeleted {
            _ = try store.removeLocal(id)
        } else {
            try store.saveLocal(id, former: revision - 1, fields)
        }
    }
}

extension WireJSONWriter {
    fileprivate mutating func saved(_ id: String, _ revision: String) {
        raw("{\"ok\":true,\"id\":")
        string(id)
        raw(",\"rev\":")
        string(revision)
        raw("}")
    }

    fileprivate mutating func failed(_ id: String, revision: String? = nil, _ failure: HTTPFailure) {
        raw("{\"id\":")
        string(id)
        if let revision {
            raw(",\"rev\":")
            string(revision)
        }
        raw(",\"error\":")
        string(failure.error)
        raw(",\"reason\":")
        string(failure.reason)
        raw("}")
    }
}

extension HTTPFailure {
    /// Somebody who does not manage the database wants to change a design document.
    static func notDatabaseAdmin(_ user: UserContext) -> HTTPFailure {
        let reason = "You are not a db or server admin."
        return user.name == nil ? .unauthorized(reason) : .forbidden(reason)
    }
}

/// Ids of documents that come without one.
enum NewDocumentID {
    /// 32 random hex digits.
    static func make() -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: (0..<32).map { _ in digits[Int.random(in: 0..<16)] }, as: UTF8.self)
    }
}
#endif
