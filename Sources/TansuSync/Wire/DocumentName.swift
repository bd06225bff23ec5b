#if TansuSync
    import TansuBSON

    /// What CouchDB takes as the id of a document and as the name of an attachment.
    package enum DocumentName {
        /// What the ids of design documents begin with.
        package static let designPrefix = "_design/"
        /// What the ids of documents that are not replicated begin with.
        package static let localPrefix = "_local/"

        /// Whether a member that begins with `_` is one that CouchDB's replicator writes into its documents, which is kept.
        package static func isReplicatorMember(_ name: String) -> Bool {
            [
                "_replication_id", "_replication_state", "_replication_state_time", "_replication_state_reason",
                "_replication_stats",
            ].contains(name)
        }

        /// Checks an id.
        ///
        /// - Throws: ``WireError`` when CouchDB refuses it.
        package static func validate(id: String) throws(WireError) {
            guard !id.isEmpty else { throw WireError(.illegalDocumentID, "Document id must not be empty") }
            guard id.utf8.first == UInt8(ascii: "_") else { return }
            for prefix in [designPrefix, localPrefix] where id.utf8.starts(with: prefix.utf8) {
                guard id != prefix else { throw WireError(.illegalDocumentID, "Illegal document id `\(prefix)`") }
                return
            }
            throw WireError(.illegalDocumentID, "Only reserved document ids may start with underscore.")
        }

        /// Checks the name of an attachment.
        ///
        /// - Throws: ``WireError`` when it begins with `_`, or has a zero byte: names are keys in JSON.
        package static func validate(attachment name: String) throws(WireError) {
            guard name.utf8.first != UInt8(ascii: "_") else {
                throw WireError(.badRequest, "Attachment name '\(name)' starts with prohibited character '_'")
            }
            guard !name.utf8.contains(0) else {
                throw WireError(.badRequest, "Attachment name '\(name)' has a NUL character")
            }
        }
    }
#endif
