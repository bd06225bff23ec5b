#if TansuSync
import Tansu
import TansuBSON

/// What the layer knows of one document: its revisions, and where their bodies are.
package struct DocumentRecord: Sendable {
    /// The id on the wire.
    package let id: String
    /// The update sequence of its last change.
    package internal(set) var sequence: Int64
    /// Its revisions.
    package internal(set) var tree: RevisionTree
    /// Whether the collection has the document, or had, under an ObjectId.
    var isObjectID: Bool
    /// Its id in a collection that is not replicated, if it is neither text nor an ObjectId.
    var otherID: BSONValue?
    /// Whether the winner has attachments.
    var hasFiles = false
    /// Whether there is a record stored.
    var isStored = false

    /// The revision that is the document.
    package var winner: Revision { leaf.revision }
    /// Whether the winner is a tombstone.
    package var isDeleted: Bool { leaf.isDeleted }
    private var leaf: RevisionTree.Leaf

    /// A document without revisions.
    init(id: String, isObjectID: Bool) {
        self.id = id
        self.isObjectID = isObjectID
        sequence = 0
        tree = RevisionTree()
        leaf = RevisionTree.Leaf(
            revision: Revision(generation: 1, hash: .bytes16(of: [UInt8](repeating: 0, count: 16))), isDeleted: true
        )
    }

    init(_ document: BSONDocument) throws {
        // In the order in which document() writes them.
        (id, sequence, tree, isObjectID, hasFiles) = try document.withOrderedFields { fields in
            guard let id = fields.value("_id")?.stringValue, let sequence = fields.value("seq")?.int64Value else {
                throw SyncError(.corrupt, "A record of revisions lacks fields: \(document)")
            }
            let tree = try RevisionTree(version: fields.value("v"), nodes: fields.value("nodes"))
            _ = fields.value("deleted")
            _ = fields.value("conflicts")
            let isObjectID = fields.value("objectID")?.boolValue ?? false
            let hasFiles = fields.value("files")?.boolValue ?? false
            return (id, sequence, tree, isObjectID, hasFiles)
        }
        guard let leaf = tree.winner else {
            throw SyncError(.corrupt, "The record of document \"\(id)\" has no revisions")
        }
        self.leaf = leaf
        isStored = true
    }

    /// Takes the winner from the tree, after a change of it.
    mutating func updateWinner() { if let leaf = tree.winner { self.leaf = leaf } }

    func document() throws -> BSONDocument {
        var fields: [(String, BSONValue)] = [("_id", .string(id)), ("seq", .int64(sequence))]
        fields.reserveCapacity(8)
        fields += try tree.storedFields()
        fields.append(("deleted", .bool(isDeleted)))
        if tree.leafCount > 1 {
            let conflicts = tree.conflicts.count
            if conflicts > 0, !isDeleted { fields.append(("conflicts", BSONValue(conflicts))) }
        }
        if isObjectID { fields.append(("objectID", true)) }
        if hasFiles { fields.append(("files", true)) }
        return BSONDocument(distinct: fields)
    }

    /// Whether its bodies never are in the collection: it is a design document.
    var isDesignDocument: Bool { id.utf8.starts(with: "_design/".utf8) }

    /// The id of the document in the collection.
    var storedID: BSONValue {
        if let otherID { return otherID }
        if isObjectID, let id = ObjectID(id) { return .objectID(id) }
        return .string(id)
    }
}

/// What is stored of one revision.
package struct RevisionBody: Sendable {
    package let revision: Revision
    package let isDeleted: Bool
    /// The fields without `_id` and other names that begin with `_`.
    package let fields: BSONDocument
    package let files: [AttachmentFile]
}

/// An edit of a document by a client: `new_edits` true.
package struct DocumentEdit: Sendable {
    package var id: String
    /// The revision that was edited; nil for a new document, or one that was deleted.
    package var parent: Revision?
    package var isDeleted: Bool
    /// The fields without `_id` and other names that begin with `_`.
    package var fields: BSONDocument
    package var attachments: [EditedAttachment]
    /// Whether a document that does not exist may have a parent, as in `_bulk_docs`.
    package var allowsUnknownParent: Bool
    /// Whether the collection's timestamps are set.
    package var isDated = true

    package init(
        id: String, parent: Revision? = nil, isDeleted: Bool = false, fields: BSONDocument = [:],
        attachments: [EditedAttachment] = [], allowsUnknownParent: Bool = false
    ) {
        self.id = id
        self.parent = parent
        self.isDeleted = isDeleted
        self.fields = fields
        self.attachments = attachments
        self.allowsUnknownParent = allowsUnknownParent
    }
}

/// An attachment of an edited document.
package enum EditedAttachment: Sendable {
    /// A new one, whose bytes are stored. Its `revpos` counts in a pushed revision only, and there unless it is 0.
    case file(AttachmentFile)
    /// The one of the parent.
    case stub(name: String, digest: String?, revpos: Int?)
}

/// A revision that another replica made: `new_edits` false.
package struct PushedRevision: Sendable {
    package var id: String
    package var path: RevisionPath
    package var isDeleted: Bool
    package var fields: BSONDocument
    package var attachments: [EditedAttachment]

    package init(
        id: String, path: RevisionPath, isDeleted: Bool = false, fields: BSONDocument = [:],
        attachments: [EditedAttachment] = []
    ) {
        self.id = id
        self.path = path
        self.isDeleted = isDeleted
        self.fields = fields
        self.attachments = attachments
    }
}
#endif
