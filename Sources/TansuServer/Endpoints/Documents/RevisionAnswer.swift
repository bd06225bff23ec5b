#if TansuServer
    import TansuBSON
    import TansuSync

    /// A stored revision of which an answer is made.
    struct RevisionAnswer: Sendable {
        /// How the bytes of attachments travel.
        enum Form: Sendable {
            /// In the JSON text (``AnswerText``).
            case json
            /// In parts of their own.
            case multipart
        }

        var text: WireRevisionText
        /// The attachments whose bytes are sent.
        var sent: [AttachmentFile]
        /// Keep the bytes of these while they are sent.
        private(set) var leases: [BlobLease]
        /// Whether it shows what changes without an edit of the document, so that it has no entity tag.
        var hasMeta: Bool

        /// Reads a revision; nil when it is not stored (any more).
        init?(
            _ record: DocumentRecord, _ revision: Revision, _ parts: RevisionParts, _ form: Form,
            in store: RevisionStore, isWinner: Bool
        ) throws {
            guard let body = try store.body(of: record, revision) else { return nil }
            text = WireRevisionText(
                id: record.id, revision: revision, isDeleted: body.isDeleted, fields: body.fields)
            text.showsEncoding = parts.includesEncoding
            if parts.includesPath { text.path = record.tree.path(of: revision, limit: store.revsLimit) }
            hasMeta = false
            sent = []
            leases = []
            // Only of the document as a whole, and not of a deleted one.
            if isWinner, !record.isDeleted { addMeta(record, parts) }

            let kept = Self.generationOfKnown(record, revision, parts)
            for file in body.files {
                let isSent = parts.mayIncludeAttachments && file.revpos > kept
                if isSent {
                    // What is being removed belongs to a revision that has gone meanwhile.
                    guard let lease = store.lease(on: file) else { return nil }
                    leases.append(lease)
                    sent.append(file)
                }
                text.attachments.append(.init(file, !isSent ? .stub : form == .json ? .inline : .follows))
            }
        }

        private mutating func addMeta(_ record: DocumentRecord, _ parts: RevisionParts) {
            if parts.includesHistory {
                text.history = record.tree.history(of: record.winner).map { ($0.revision, "\($0.status)") }
                hasMeta = true
            }
            if parts.includesConflicts { text.conflicts = record.tree.conflicts }
            if parts.includesDeletedConflicts { text.deletedConflicts = record.tree.deletedConflicts }
            if parts.includesSequence {
                text.localSequence = record.sequence
                hasMeta = true
            }
            if !text.conflicts.isEmpty || !text.deletedConflicts.isEmpty { hasMeta = true }
        }

        /// The newest generation of the revision's ancestors, itself included, whose attachments the client has.
        private static func generationOfKnown(
            _ record: DocumentRecord, _ revision: Revision, _ parts: RevisionParts
        ) -> Int {
            guard let since = parts.attachmentsSince, !since.isEmpty else { return -1 }
            let known = Set(since.compactMap(\.revision))
            return record.tree.history(of: revision).first { known.contains($0.revision) }?.revision.generation ?? -1
        }
    }

    extension RevisionAnswer {
        /// The document as it is, or a revision of it.
        ///
        /// - Throws: ``HTTPFailure`` with 404.
        static func find(
            _ id: String, _ query: DocumentQuery, _ form: Form, in store: RevisionStore
        ) throws -> RevisionAnswer {
            guard let record = try store.document(id) else { throw HTTPFailure.notFound() }
            if let revision = query.revision, !query.takesLatest {
                guard let revision = revision.revision,
                    let answer = try RevisionAnswer(record, revision, query.parts, form, in: store, isWinner: false)
                else { throw HTTPFailure.notFound() }
                return answer
            }
            if record.isDeleted, !query.takesDeleted { throw HTTPFailure.deleted }
            guard let answer = try RevisionAnswer(record, record.winner, query.parts, form, in: store, isWinner: true)
            else { throw HTTPFailure.notFound() }
            return answer
        }
    }
#endif
