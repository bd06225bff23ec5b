#if TansuSync
import TansuBSON

/// One side of a replication: what the replicator asks of a database, wherever it is.
protocol ReplicationPeer: Sendable {
    /// What distinguishes the database from others.
    var identity: String { get async throws }

    /// A checkpoint; nil when there is none.
    func checkpoint(_ id: String) async throws -> ReplicationCheckpoint?
    func save(_ checkpoint: ReplicationCheckpoint, as id: String) async throws

    /// Some of the documents that changed after a sequence, each once, in the order of their sequences.
    ///
    /// - Parameters:
    ///   - sequence: Where to begin; nil for the beginning.
    ///   - limit: The greatest number of documents.
    func changes(
        after sequence: PeerSequence?, filter: ReplicationFilter, limit: Int
    ) async throws -> PeerChanges
    /// Ends when something that a filter lets pass changed after a sequence; it may end sooner.
    func waitForChange(after sequence: PeerSequence?, filter: ReplicationFilter) async throws

    /// Those of the revisions that the peer does not have.
    func missing(_ revisions: [DocumentRevisions]) async throws -> [MissingRevisions]
    /// Reads revisions, and gives each to the closure before it reads the next. Where a revision is not stored any
    /// more, those that descend from it come instead.
    func fetch(
        _ wanted: [DocumentRevisions], _ receive: (FetchedRevision) async throws -> Void
    ) async throws
    /// Stores revisions.
    ///
    /// - Returns: For each, in their order, why it was refused; nil when it is stored.
    func write(_ revisions: [PeerRevision]) async throws -> [String?]
    /// Makes durable what was written.
    func ensureCommit() async throws
}

/// Which documents are replicated.
enum ReplicationFilter: Sendable {
    case all
    case ids(Set<BytewiseText>)
    case selector(Mango.Selector)

    /// What distinguishes it from other filters.
    var identity: String {
        switch self {
        case .all: "all"
        case .ids(let ids):
            "ids "
                + ids.map(\.text).sorted { TermOrder.order($0, $1) == .before }
                .map { "\($0.utf8.count):\($0)" }.joined()
        case .selector(let selector): "selector \(selector.json)"
        }
    }
}

/// A document with some of its revisions.
struct DocumentRevisions: Sendable, Hashable {
    @BytewiseText package private(set) var id: String
    let revisions: [Revision]

    init(id: String, revisions: [Revision]) {
        self.id = id
        self.revisions = revisions
    }
}

/// Revisions of a document that a peer does not have.
struct MissingRevisions: Sendable, Hashable {
    @BytewiseText package private(set) var id: String
    let revisions: [Revision]
    /// Revisions that the peer has and that may be ancestors of those that it lacks.
    let ancestors: [Revision]

    init(id: String, revisions: [Revision], ancestors: [Revision] = []) {
        self.id = id
        self.revisions = revisions
        self.ancestors = ancestors
    }
}

/// What a peer has of a revision that it was asked for.
enum FetchedRevision: Sendable {
    case revision(PeerRevision)
    /// It has something that cannot be used; the others are not concerned.
    case failure(ReplicationReport.Failure)
}

/// A page of a peer's changes.
struct PeerChanges: Sendable {
    /// The changed documents with their leaves.
    let documents: [DocumentRevisions]
    /// The sequence up to which all changes were looked at.
    let last: PeerSequence?
    /// Whether there were no more changes.
    let isComplete: Bool
    /// About how many changes follow, where the peer says it.
    let pending: Int?

    init(documents: [DocumentRevisions], last: PeerSequence?, isComplete: Bool, pending: Int? = nil) {
        self.documents = documents
        self.last = last
        self.isComplete = isComplete
        self.pending = pending
    }
}

/// A revision on its way from one peer to another.
struct PeerRevision: Sendable {
    let id: String
    let path: RevisionPath
    let isDeleted: Bool
    let fields: BSONDocument
    let attachments: [PeerAttachment]
    /// Revisions that the receiver said to have of the document.
    var ancestors: [Revision] = []
    /// What of it came with `_bulk_get`, for the numbers of CouchDB's checkpoints.
    var bulkGet = BulkGet.nothing

    enum BulkGet: Sendable {
        case nothing
        /// All but the bytes of attachments.
        case fields
        case everything
    }

    init(
        id: String, path: RevisionPath, isDeleted: Bool, fields: BSONDocument, attachments: [PeerAttachment] = []
    ) {
        self.id = id
        self.path = path
        self.isDeleted = isDeleted
        self.fields = fields
        self.attachments = attachments
    }

    /// About how many bytes it has in memory.
    var size: Int { fields.bytes.count + path.count * 48 + attachments.count * 256 }
}

/// An attachment of a revision on its way. Its bytes are read when they are wanted.
struct PeerAttachment: Sendable {
    let name: String
    let contentType: String
    /// `md5-` and the MD5 of the stored bytes in base64.
    let digest: String
    /// The number of bytes before they were compressed.
    let length: Int64
    let revpos: Int
    /// How the bytes are compressed: `gzip`, or nil.
    let encoding: String?
    /// The number of stored bytes, if they are compressed.
    let encodedLength: Int64?
    /// Begins to read the stored bytes.
    let open: @Sendable () async throws -> PeerBytes

    init(
        name: String, contentType: String, digest: String, length: Int64, revpos: Int, encoding: String? = nil,
        encodedLength: Int64? = nil, open: @escaping @Sendable () async throws -> PeerBytes
    ) {
        self.name = name
        self.contentType = contentType
        self.digest = digest
        self.length = length
        self.revpos = revpos
        self.encoding = encoding
        self.encodedLength = encodedLength
        self.open = open
    }
}

/// The bytes of an attachment on their way.
struct PeerBytes: Sendable {
    /// How they are compressed, which a peer may say only now.
    let encoding: String?
    let stream: ByteStream

    init(encoding: String?, stream: ByteStream) {
        self.encoding = encoding
        self.stream = stream
    }
}

/// An update sequence of a peer, which only that peer understands: a number, a text or an array.
package struct PeerSequence: Sendable, Hashable {
    package let json: BSONValue

    /// Integers of any width are equal when their values are.
    init(_ json: BSONValue) { self.json = json.int64Value.map { .int64($0) } ?? json }

    /// The number in it by which two sequences of one peer can be compared: itself, or what a text or an array
    /// begins with.
    var number: Int64? {
        switch json {
        case .int64(let number): number
        case .string(let text): Int64(text.prefix { $0.isASCII && $0.isNumber })
        case .array(let array): array.first?.int64Value
        default: nil
        }
    }
}
#endif
