#if TansuSync
import Crypto
import Foundation
import Tansu
import TansuBSON

/// The documents and revisions of a replicated collection in one transaction, as CouchDB has them.
///
/// Ids are those on the wire: text, or the 24 hex digits of an ObjectId. It must not be used after the end of the
/// transaction, nor by several threads at once.
package final class RevisionStore {
    package let transaction: Database.Transaction
    /// The name of the collection.
    package let name: String
    var state: StoreState
    /// What the transaction saves at its end.
    var isStateChanged = false
    /// Whether it is known that no document has a change without a revision.
    var isSettled = false
    /// Whether a document was changed whose id cannot be on the wire.
    var sawOtherID = false
    /// Decides about conflicts that pushed revisions make.
    var resolver: ConflictResolver?
    /// Whether the collection is not replicated: its documents have no records.
    package internal(set) var isUnrecorded = false
    /// The options of the collection, once they were read.
    private var knownOptions: BSONDocument?
    /// The validator of the collection, once it was read.
    var knownValidator: DocumentValidator??
    /// What was read of design documents before.
    var definitions: FindIndexDefinitions?

    let documents: Database.Collection<BSONDocument>
    let records: Database.Collection<BSONDocument>
    let bodies: Database.Collection<BSONDocument>
    let attachments: Database.Collection<BSONDocument>
    /// The ids of documents that were changed without the layer.
    let changes: Database.Collection<BSONDocument>

    init(_ transaction: Database.Transaction, _ name: String, _ state: StoreState) throws {
        self.transaction = transaction
        self.name = name
        self.state = state
        documents = try transaction.collection(name)
        records = try transaction.collection(StoreNames.revisions(name))
        bodies = try transaction.collection(StoreNames.bodies(name))
        attachments = try transaction.collection(StoreNames.attachments(name))
        changes = try transaction.collection(StoreNames.changes(state.instance))
    }

    /// The options of the collection, which are read once.
    func options() throws -> BSONDocument {
        if let knownOptions { return knownOptions }
        let options = try transaction.session.collectionOptions(name) ?? [:]
        knownOptions = options
        return options
    }

    /// What CouchDB's information about a database has.
    package struct Info: Sendable, Hashable {
        /// How many documents are not deleted, design documents included.
        package let documents: Int64
        package let deletedDocuments: Int64
        package let updateSequence: Int64
        package let purgeSequence: Int64
        /// Another one for each replicated collection.
        package let instance: String
        package let revsLimit: Int
    }

    package func info() -> Info {
        Info(
            documents: state.documents, deletedDocuments: state.deletedDocuments, updateSequence: state.sequence,
            purgeSequence: state.purgeSequence, instance: state.instance, revsLimit: state.revsLimit)
    }

    /// How many revisions of each branch are kept.
    package var revsLimit: Int {
        get { state.revsLimit }
        set {
            state.revsLimit = newValue
            isStateChanged = true
        }
    }

    /// Who may read and write, as CouchDB's `_security`.
    package var security: BSONDocument {
        get { state.security }
        set {
            state.security = newValue
            isStateChanged = true
        }
    }

    /// Saves what the transaction changed. What the engine removed for references gets its revisions first.
    func finish() throws {
        if !isUnrecorded { try followChanges() }
        guard isStateChanged else { return }
        try transaction.collection(StoreNames.states).save(state.document(name))
        isStateChanged = false
    }

    // MARK: Ids

    /// The id on the wire; nil for one that has none: the document cannot be replicated.
    static func wireID(of id: BSONValue) -> String? {
        text(of: id).flatMap { $0.isEmpty || $0.utf8.first == UInt8(ascii: "_") ? nil : $0 }
    }

    /// The text of an id, which is that of a design document too; nil for one that is neither text nor an ObjectId.
    package static func text(of id: BSONValue) -> String? {
        switch id {
        case .string(let text): text
        case .objectID(let id): id.description
        default: nil
        }
    }
}

extension AttachmentFile {
    /// Files as they are stored.
    static func document(of files: [AttachmentFile]) -> BSONDocument {
        ["files": .array(BSONArray(files.map { .document($0.bson) }))]
    }

    /// What the collection of attachments has for a document.
    static func document(of files: [AttachmentFile], id: BSONValue) -> BSONDocument {
        ["_id": id, "files": .array(BSONArray(files.map { .document($0.bson) }))]
    }

    /// The files of a stored document that has some.
    static func files(in document: BSONDocument?) throws -> [AttachmentFile] {
        guard case .array(let files)? = document?["files"] else { return [] }
        return try files.compactMap { try $0.documentValue.map { try AttachmentFile($0) } }
    }

    /// What it adds to the name of a revision.
    var digestPart: RevisionDigest.Attachment {
        RevisionDigest.Attachment(name: name, contentType: contentType, digest: digest)
    }
}

// MARK: - Leases

extension RevisionStore {
    /// Holds the bytes of an attachment for reading them after the transaction; nil when they are being removed.
    package func lease(on file: AttachmentFile) -> BlobLease? {
        BlobLeases.of(transaction.session.database).acquireToRead(file.blob.bson)
    }
}

// MARK: - StoreState

/// What is known of a replicated collection as a whole: its document of `tansu.sync`.
struct StoreState: Sendable {
    /// How many revisions of each branch are kept unless a client sets another limit, as in CouchDB.
    static let defaultRevsLimit = 1000

    /// Another one for each replicated collection: a former one of the name had other sequences.
    var instance: String
    /// The newest update sequence.
    var sequence: Int64 = 0
    /// How far the documents that were there before have got their first revisions: the last id of those that have; nil when all
    /// have.
    var enabledUpTo: BSONValue?
    var revsLimit = Self.defaultRevsLimit
    var purgeSequence: Int64 = 0
    /// How many documents are not deleted, and how many are.
    var documents: Int64 = 0
    var deletedDocuments: Int64 = 0
    /// How many bodies are stored of revisions that are no leaves.
    var staleBodies: Int64 = 0
    var security: BSONDocument = [:]

    /// A new one.
    init() {
        instance = UUID().uuidString.lowercased().replacing("-", with: "")
    }

    init(_ document: BSONDocument) throws {
        guard let instance = document["instance"]?.stringValue, let sequence = document["seq"]?.int64Value else {
            throw SyncError(.corrupt, "The document of \"\(StoreNames.states)\" lacks fields: \(document)")
        }
        self.instance = instance
        self.sequence = sequence
        enabledUpTo = document["enabledUpTo"]
        revsLimit = document["revsLimit"]?.intValue ?? Self.defaultRevsLimit
        purgeSequence = document["purgeSeq"]?.int64Value ?? 0
        documents = document["documents"]?.int64Value ?? 0
        deletedDocuments = document["deleted"]?.int64Value ?? 0
        staleBodies = document["stale"]?.int64Value ?? 0
        security = document["security"]?.documentValue ?? [:]
    }

    func document(_ name: String) -> BSONDocument {
        var document: BSONDocument = [
            "_id": .string(name), "instance": .string(instance), "seq": .int64(sequence),
            "revsLimit": .int64(Int64(revsLimit)), "purgeSeq": .int64(purgeSequence),
            "documents": .int64(documents), "deleted": .int64(deletedDocuments), "stale": .int64(staleBodies),
            "security": .document(security),
        ]
        if let enabledUpTo { document["enabledUpTo"] = enabledUpTo }
        return document
    }
}

// MARK: - DocumentError

/// Why one document was not saved; the others of its batch are.
package enum DocumentError: Error, Sendable, Hashable {
    /// The edit is not based on the newest revision of a branch.
    case conflict
    /// A stub names an attachment that the revision it is based on does not have.
    case missingStub(name: String)
    /// The document cannot be stored, such as for a unique index of the collection: what the database says.
    case refused(String)
}
#endif
