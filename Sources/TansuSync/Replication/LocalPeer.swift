#if TansuSync
import Tansu
import TansuBSON

/// A collection of this process as a side of a replication.
struct LocalPeer: ReplicationPeer {
    /// The greatest number of records that one transaction looks at for a filter.
    private static let scanLimit = 5_000
    /// The greatest number of documents that one transaction reads, and the bytes of them from which on it reads no more.
    private static let fetchLimit = 64
    private static let fetchBytes = 256 << 10

    private let collection: ReplicatedCollection

    init(_ collection: ReplicatedCollection) { self.collection = collection }

    var identity: String {
        get async throws { try await collection.read { $0.info().instance } }
    }

    // MARK: Checkpoints

    func checkpoint(_ id: String) async throws -> ReplicationCheckpoint? {
        try await collection.read { try $0.local("_local/" + id).flatMap { ReplicationCheckpoint($0.fields) } }
    }

    func save(_ checkpoint: ReplicationCheckpoint, as id: String) async throws {
        try await collection.write { store in
            let former = try store.local("_local/" + id)?.revision
            try store.saveLocal("_local/" + id, former: former, checkpoint.fields)
        }
    }

    // MARK: Changes

    func changes(
        after sequence: PeerSequence?, filter: ReplicationFilter, limit: Int
    ) async throws -> PeerChanges {
        let start = Self.position(sequence)
        return try await collection.read { store in
            let records = try store.changes(after: start, limit: Self.scanLimit)
            defer { records.close() }
            var documents: [DocumentRevisions] = []
            var last = start
            var scanned = 0
            while documents.count < limit, let record = try records.read() {
                scanned += 1
                last = record.sequence
                guard try store.includes(record, filter) else { continue }
                documents.append(DocumentRevisions(id: record.id, revisions: record.tree.leaves.map(\.revision)))
            }
            return PeerChanges(
                documents: documents, last: PeerSequence(.int64(last)),
                isComplete: documents.count < limit && scanned < Self.scanLimit,
                pending: Int(max(0, store.info().updateSequence - last)))
        }
    }

    func waitForChange(after sequence: PeerSequence?, filter: ReplicationFilter) async throws {
        try await collection.waitForChange(after: Self.position(sequence))
    }

    /// The other side may record what is no sequence of a collection: then all changes are looked at.
    private static func position(_ sequence: PeerSequence?) -> Int64 {
        guard case .int64(let number)? = sequence?.json else { return 0 }
        return number
    }

    // MARK: Revisions

    func missing(_ revisions: [DocumentRevisions]) async throws -> [MissingRevisions] {
        try await collection.read { store in
            let records = try store.documents(revisions.map(\.id))
            return revisions.compactMap { document in
                let tree = records[BytewiseText(document.id)]?.tree ?? RevisionTree()
                let missing = tree.missing(of: document.revisions)
                return missing.isEmpty ? nil : MissingRevisions(id: document.id, revisions: missing)
            }
        }
    }

    func fetch(
        _ wanted: [DocumentRevisions], _ receive: (FetchedRevision) async throws -> Void
    ) async throws {
        var position = 0
        while position < wanted.count {
            let some = wanted[position..<min(position + Self.fetchLimit, wanted.count)]
            let page = try await collection.read { store in
                // A document that is damaged here ends the replication: no replica gets it.
                try store.transaction.checkDocuments()
                let records = try store.documents(some.map(\.id))
                var page: [(id: String, revisions: [(RevisionPath, RevisionBody)])] = []
                var size = 0
                for document in some {
                    guard size < Self.fetchBytes else { break }
                    let revisions = try store.newest(document, in: records[BytewiseText(document.id)])
                    for (_, body) in revisions { size += body.fields.bytes.count }
                    page.append((document.id, revisions))
                }
                return page
            }
            position += page.count
            for (id, revisions) in page {
                for (path, body) in revisions {
                    try await receive(
                        .revision(
                            PeerRevision(
                                id: id, path: path, isDeleted: body.isDeleted, fields: body.fields,
                                attachments: body.files.map { attachment($0) })))
                }
            }
        }
    }

    private func attachment(_ file: AttachmentFile) -> PeerAttachment {
        let database = collection.database
        return PeerAttachment(
            name: file.name, contentType: file.contentType, digest: file.digest, length: file.length,
            revpos: file.revpos, encoding: file.encoding, encodedLength: file.encodedLength
        ) {
            let pieces = Pieces(try AttachmentBytes(database, file, decoded: false))
            return PeerBytes(encoding: file.encoding, stream: ByteStream { try await pieces.next() })
        }
    }

    /// `@unchecked Sendable`: a stream has one reader.
    private final class Pieces: @unchecked Sendable {
        private var iterator: AttachmentBytes.Iterator

        init(_ bytes: AttachmentBytes) { iterator = bytes.makeAsyncIterator() }

        func next() async throws -> [UInt8]? { try await iterator.next() }
    }

    // MARK: Writing

    func write(_ revisions: [PeerRevision]) async throws -> [String?] {
        let refusals = revisions.map { refusal(of: $0) }
        // Most attachments came with a former revision: their bytes are read only where they did not.
        var (reasons, rest) = try await collection.write { store in
            var pushed: [PushedRevision] = []
            var (indices, rest): ([Int], [Int]) = ([], [])
            var reasons = refusals
            for (index, revision) in revisions.enumerated() where refusals[index] == nil {
                if let files = try store.knownFiles(of: revision) {
                    pushed.append(revision.pushed(files))
                    indices.append(index)
                } else {
                    rest.append(index)
                }
            }
            for (index, error) in zip(indices, try store.push(pushed)) { reasons[index] = error?.reason }
            return (reasons, rest)
        }
        for index in rest {
            // Damaged at the source, or removed there meanwhile, and then a newer revision follows.
            do {
                reasons[index] = try await writeWithBytes(revisions[index])
            } catch let error where error.isOfAttachment {
                reasons[index] = error.localizedDescription
            } catch let failure as RemoteFailure where !failure.isTransient {
                reasons[index] = failure.reason
            }
        }
        return reasons
    }

    /// Why a revision is not taken whatever the collection has.
    private func refusal(of revision: PeerRevision) -> String? {
        guard !revision.isDeleted, AccountRules.apply(to: revision.id, in: collection.name) else { return nil }
        return AccountRules.refusal(ofPushed: revision.fields, id: revision.id).map { "forbidden: " + $0 }
    }

    private func writeWithBytes(_ revision: PeerRevision) async throws -> String? {
        var files: [EditedAttachment] = []
        // They hold the bytes until the revision names them.
        var writers: [BlobWriter] = []
        defer { for writer in writers { writer.release() } }
        for attachment in revision.attachments {
            let (writer, file) = try await copy(attachment)
            writers.append(writer)
            guard file.digest == attachment.digest else {
                return "The bytes of attachment \"\(attachment.name)\" do not have the digest \(attachment.digest)"
            }
            files.append(.file(file))
        }
        let pushed = revision.pushed(files)
        return try await collection.write { try $0.push([pushed])[0]?.reason }
    }

    private func copy(_ attachment: PeerAttachment) async throws -> (BlobWriter, AttachmentFile) {
        let database = collection.database
        let bytes = try await attachment.open()
        let writer = try BlobWriter(
            database, contentType: attachment.contentType, encoding: .stored(bytes.encoding),
            decodedLimit: attachment.length)
        while let piece = try await bytes.stream.next() {
            try await database.runWriting { _ in try writer.write(piece) }
        }
        let file = try await database.runWriting { _ in
            try writer.finish(
                name: attachment.name, revpos: attachment.revpos,
                length: bytes.encoding == nil ? nil : attachment.length)
        }
        return (writer, file)
    }

    func ensureCommit() async throws { try await collection.database.sync() }
}

extension RevisionStore {
    /// Whether a filter lets a document pass.
    fileprivate func includes(_ record: DocumentRecord, _ filter: ReplicationFilter) throws -> Bool {
        switch filter {
        case .all: return true
        case .ids(let ids): return ids.contains(BytewiseText(record.id))
        case .selector(let selector):
            if let document = try wholeDocument(record) { return try selector.matches(document) }
            guard record.isDeleted, let body = try body(of: record, record.winner) else { return false }
            var document: BSONDocument = [
                "_id": .string(record.id), "_rev": .string(record.winner.description), "_deleted": true,
            ]
            for (key, value) in body.fields { document[key] = value }
            return try selector.matches(document)
        }
    }

    /// The wanted revisions of a document; instead of one whose body is not stored any more, the leaves after it.
    fileprivate func newest(
        _ wanted: DocumentRevisions, in record: DocumentRecord?
    ) throws -> [(RevisionPath, RevisionBody)] {
        guard let record else { return [] }
        var seen: Set<Revision> = []
        var found: [(RevisionPath, RevisionBody)] = []
        for revision in wanted.revisions {
            for leaf in record.tree.latest(of: revision) where seen.insert(leaf.revision).inserted {
                guard let body = try body(of: record, leaf.revision),
                    let path = record.tree.path(of: leaf.revision, limit: revsLimit)
                else { continue }
                found.append((path, body))
            }
        }
        return found
    }

    /// The attachments of a revision, as those of the revision that it is based on; nil when one is not among these.
    fileprivate func knownFiles(of revision: PeerRevision) throws -> [EditedAttachment]? {
        if revision.attachments.isEmpty { return [] }
        guard let record = try document(revision.id),
            let parent = revision.path.revisions.first(where: { record.tree.status(of: $0)?.isStored == true }),
            let files = try body(of: record, parent)?.files
        else { return nil }
        var known: [EditedAttachment] = []
        for attachment in revision.attachments {
            guard var file = files.first(where: { attachment.isStored(as: $0) }) else { return nil }
            if attachment.revpos > 0 { file.revpos = attachment.revpos }
            known.append(.file(file))
        }
        return known
    }
}

extension PeerAttachment {
    fileprivate func isStored(as file: AttachmentFile) -> Bool {
        BytewiseText(file.name) == BytewiseText(name) && file.digest == digest && file.contentType == contentType
            && file.encoding == encoding && file.length == length
    }
}

extension PeerRevision {
    fileprivate func pushed(_ attachments: [EditedAttachment]) -> PushedRevision {
        PushedRevision(id: id, path: path, isDeleted: isDeleted, fields: fields, attachments: attachments)
    }
}

extension DocumentError {
    fileprivate var reason: String {
        switch self {
        case .conflict: "The document has another revision"
        case .missingStub(let name): "Attachment \"\(name)\" is missing"
        case .refused(let reason): reason
        }
    }
}
#endif
