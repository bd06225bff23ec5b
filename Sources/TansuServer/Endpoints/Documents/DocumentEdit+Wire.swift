#if TansuServer
    import TansuBSON
    import TansuSync

    extension DocumentEdit {
        /// The edit that a client sent.
        ///
        /// - Throws: ``HTTPFailure`` with 409 when no document can have the revision that is edited.
        init(
            _ id: String, _ document: WireDocument, _ revision: WireRevision?, _ uploads: AttachmentUploads
        ) throws {
            self.init(
                id: id, parent: try Self.parent(revision), isDeleted: document.isDeleted, fields: document.fields,
                attachments: try EditedAttachment.all(document.attachments, uploads))
        }

        /// The edit that removes a document.
        init(removing id: String, _ revision: WireRevision?) throws {
            self.init(id: id, parent: try Self.parent(revision), isDeleted: true, fields: [:], attachments: [])
        }

        /// - Throws: ``HTTPFailure`` with 409 when no document can have the revision.
        static func parent(_ revision: WireRevision?) throws -> Revision? {
            guard let revision, !revision.isEmpty else { return nil }
            guard let parent = revision.revision else { throw HTTPFailure.conflict() }
            return parent
        }
    }

    extension PushedRevision {
        /// The revision that a replicator sent.
        ///
        /// - Throws: ``HTTPFailure`` with 400 when it does not name the revision.
        init(
            _ id: String, _ document: WireDocument, _ revision: WireRevision?, _ uploads: AttachmentUploads
        ) throws {
            guard let revision else {
                throw HTTPFailure.badRequest(
                    "When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
            }
            guard let named = revision.revision else { throw HTTPFailure.badRequest("Invalid rev format") }
            self.init(
                id: id, path: document.path ?? RevisionPath(named), isDeleted: document.isDeleted,
                fields: document.fields,
                attachments: try EditedAttachment.all(document.attachments, uploads))
        }
    }

    extension EditedAttachment {
        /// The attachments of a document; those with their bytes are stored first.
        static func all(
            _ attachments: [WireAttachment], _ uploads: AttachmentUploads
        ) throws -> [EditedAttachment] {
            var edited: [EditedAttachment] = []
            for attachment in attachments {
                switch attachment.content {
                case .inline(let bytes):
                    edited.append(.file(try uploads.store(bytes, attachment)))
                case .stub:
                    edited.append(
                        .stub(name: attachment.name, digest: attachment.digest, revpos: attachment.revpos))
                case .follows:
                    // Only a multipart request has what follows.
                    guard let file = uploads.file(attachment.name) else {
                        throw HTTPFailure(
                            .preconditionFailed, "missing_stub",
                            "The attachment \(attachment.name) does not follow the document")
                    }
                    edited.append(.file(file))
                }
            }
            return edited
        }
    }
#endif
