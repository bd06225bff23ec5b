#if TansuSync
    import TansuBSON

    /// One side of a replication: what the replicator asks of a database, wherever it is.
    package protocol ReplicationPeer: Sendable {
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
        /// Ends when something changed after a sequence.
        func waitForChange(after sequence: PeerSequence?) async throws

        /// Those of the revisions that the peer does not have.
        func missing(_ revisions: [DocumentRevisions]) async throws -> [DocumentRevisions]
        /// Reads revisions, and gives each to the closure before it reads the next. Where a revision is not stored any
        /// more, those that descend from it come instead.
        func fetch(
            _ wanted: [DocumentRevisions], _ receive: (PeerRevision) async throws -> Void
        ) async throws
        /// Stores revisions.
        ///
        /// - Returns: For each, in their order, why it was refused; nil when it is stored.
        func write(_ revisions: [PeerRevision]) async throws -> [String?]
        /// Makes durable what was written.
        func ensureCommit() async throws
    }

    /// Which documents are replicated.
    package enum ReplicationFilter: Sendable {
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
    package struct DocumentRevisions: Sendable, Hashable {
        package let id: String
        package let revisions: [Revision]

        package init(id: String, revisions: [Revision]) {
            self.id = id
            self.revisions = revisions
        }
    }

    /// A page of a peer's changes.
    package struct PeerChanges: Sendable {
        /// The changed documents with their leaves.
        package let documents: [DocumentRevisions]
        /// The sequence up to which all changes were looked at.
        package let last: PeerSequence?
        /// Whether there were no more changes.
        package let isComplete: Bool

        package init(documents: [DocumentRevisions], last: PeerSequence?, isComplete: Bool) {
            self.documents = documents
            self.last = last
            self.isComplete = isComplete
        }
    }

    /// A revision on its way from one peer to another.
    package struct PeerRevision: Sendable {
        package let id: String
        package let path: RevisionPath
        package let isDeleted: Bool
        package let fields: BSONDocument
        package let attachments: [PeerAttachment]

        package init(
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
    package struct PeerAttachment: Sendable {
        package typealias Receiver = @Sendable ([UInt8]) async throws -> Void

        package let name: String
        package let contentType: String
        /// `md5-` and the MD5 of the stored bytes in base64.
        package let digest: String
        /// The number of bytes before they were compressed.
        package let length: Int64
        package let revpos: Int
        /// How the bytes are compressed: `gzip`, or nil.
        package let encoding: String?
        /// Reads the stored bytes piece by piece.
        package let read: @Sendable (Receiver) async throws -> Void

        package init(
            name: String, contentType: String, digest: String, length: Int64, revpos: Int, encoding: String?,
            read: @escaping @Sendable (Receiver) async throws -> Void
        ) {
            self.name = name
            self.contentType = contentType
            self.digest = digest
            self.length = length
            self.revpos = revpos
            self.encoding = encoding
            self.read = read
        }
    }
#endif
