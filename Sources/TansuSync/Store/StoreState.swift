#if TansuSync
    import Foundation
    import Tansu
    import TansuBSON

    /// What is known of a replicated collection as a whole: its document of `tansu.sync`.
    struct StoreState: Sendable {
        /// How many revisions of each branch are kept unless a client sets another limit, as in CouchDB.
        static let defaultRevsLimit = 1000

        /// Another one for each replicated collection: a former one of the name had other sequences.
        var instance: String
        /// The newest update sequence.
        var sequence: Int64 = 0
        /// The commit up to which the change stream was followed.
        var followed: Int = 0
        var revsLimit = Self.defaultRevsLimit
        var purgeSequence: Int64 = 0
        /// How many documents are not deleted, and how many are.
        var documents: Int64 = 0
        var deletedDocuments: Int64 = 0
        /// How many bodies are stored of revisions that are no leaves.
        var staleBodies: Int64 = 0
        var security: BSONDocument = [:]
        /// Whether no attachment has a `revpos` below the revision that brought its bytes; what earlier versions stored is
        /// corrected first.
        var hasExactRevpos = false

        /// A new one.
        init() {
            instance = UUID().uuidString.lowercased().replacing("-", with: "")
            hasExactRevpos = true
        }

        init(_ document: BSONDocument) throws {
            guard let instance = document["instance"]?.stringValue, let sequence = document["seq"]?.int64Value else {
                throw ReplicationError(.corrupt, "The document of \"\(StoreNames.states)\" lacks fields: \(document)")
            }
            self.instance = instance
            self.sequence = sequence
            followed = document["followed"]?.intValue ?? 0
            revsLimit = document["revsLimit"]?.intValue ?? Self.defaultRevsLimit
            purgeSequence = document["purgeSeq"]?.int64Value ?? 0
            documents = document["documents"]?.int64Value ?? 0
            deletedDocuments = document["deleted"]?.int64Value ?? 0
            staleBodies = document["stale"]?.int64Value ?? 0
            security = document["security"]?.documentValue ?? [:]
            hasExactRevpos = document["exactRevpos"] == true
        }

        func document(_ name: String) -> BSONDocument {
            [
                "_id": .string(name), "instance": .string(instance), "seq": .int64(sequence),
                "followed": .int64(Int64(followed)), "revsLimit": .int64(Int64(revsLimit)),
                "purgeSeq": .int64(purgeSequence),
                "documents": .int64(documents), "deleted": .int64(deletedDocuments), "stale": .int64(staleBodies),
                "security": .document(security), "exactRevpos": .bool(hasExactRevpos),
            ]
        }
    }
#endif
