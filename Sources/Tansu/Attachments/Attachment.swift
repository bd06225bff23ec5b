import TansuBSON

extension Database {
    /// What is known of an attachment of a document, without its bytes.
    public struct Attachment: Sendable, Hashable {
        let file: AttachmentFile

        package init(_ file: AttachmentFile) { self.file = file }

        /// Its name, which no other attachment of the document has.
        public var name: String { file.name }

        /// Its media type, such as `image/png`.
        public var contentType: String { file.contentType }

        /// The number of its bytes.
        public var length: Int64 { file.length }

        /// The number of bytes that are stored, which are less when it is compressed.
        public var storedLength: Int64 { file.storedLength }

        /// Whether the stored bytes are compressed, as those of text are with the package trait `TansuSync`.
        public var isCompressed: Bool { file.encoding != nil }

        /// `md5-` and the MD5 of the stored bytes in base64, as CouchDB has it.
        public var digest: String { file.digest }
    }
}

/// The collection that says which files the documents of a collection have.
///
/// The `_id` of each of its documents is that of the document with the files, and is declared as a reference with the
/// delete rule `cascade`: so files go with their document, however it is removed. The reference follows when the
/// collection is renamed, and so the collection is found by where it leads, not by its name.
package struct AttachmentRecords {
    /// The collection; nil when there is none yet.
    private let records: Database.Collection<BSONDocument>?

    /// Finds the files of the documents of a collection.
    package init(of collection: String, in session: Session) throws {
        records = try Self.name(of: collection, in: session).map { try BlobLayout.collection($0, session) }
    }

    /// The files of a document, in the order in which they were added.
    ///
    /// - Throws: ``TansuError`` with `.corrupt`.
    package func files(of id: BSONValue) throws -> [AttachmentFile] {
        guard let document = try records?.get(id) else { return [] }
        guard case .array(let list)? = document["files"] else {
            throw TansuError(attachment: .corrupt, "The list of attachments of a document is damaged")
        }
        return try list.map { try AttachmentFile($0.documentValue ?? [:]) }
    }

    /// Replaces the files of a document.
    package func set(_ files: [AttachmentFile], of id: BSONValue) throws {
        if files.isEmpty {
            try records?.remove(id: id)
        } else {
            try records?.save(["_id": id, "files": BSONValue(files.map { .document($0.bson) })])
        }
    }

    /// The name of the collection; nil when there is none yet.
    package static func name(of collection: String, in session: Session) throws -> String? {
        if let found = try leading(to: collection, session) { return found.name }
        let info = try session.collectionInfo(BlobLayout.attachments + collection)
        return info?.target == nil ? info?.name : nil
    }

    /// Creates the collection unless it exists. Not inside a savepoint.
    package static func create(for collection: String, in session: Session) throws {
        guard try leading(to: collection, session) == nil else { return }
        let name = BlobLayout.attachments + collection
        if let former = try session.collectionInfo(name)?.target {
            // The collection of its name was renamed.
            try session.renameCollection(name, to: BlobLayout.attachments + former)
        }
        try session.setReferences(
            [Database.CollectionReference("_id", to: collection, onDelete: .cascade)], of: name)
        try BlobLayout.collection(name, session).ensureIndex("blobs", on: [BlobLayout.reference: .ascending])
    }

    private static func leading(to collection: String, _ session: Session) throws -> Database.CollectionInfo? {
        try session.referrers(to: collection).first {
            $0.name.hasPrefix(BlobLayout.attachments) && $0.target == collection
        }
    }
}

extension Database.CollectionInfo {
    /// Where the `_id`s lead.
    fileprivate var target: String? { references.first { $0.path == "_id" }?.collection }
}
