#if TansuServer
    import TansuBSON
    import TansuSync

    /// What an answer shows of a revision in addition to its fields.
    struct RevisionParts: Sendable {
        /// `_revisions`
        var includesPath = false
        /// `_revs_info`
        var includesHistory = false
        /// `_conflicts`
        var includesConflicts = false
        /// `_deleted_conflicts`
        var includesDeletedConflicts = false
        /// `_local_seq`
        var includesSequence = false
        /// Whether attachments are sent with their bytes.
        var includesAttachments = false
        /// Attachments that these revisions have are not sent; nil: no such rule.
        var attachmentsSince: [WireRevision]?
        /// Whether stubs say how their bytes are compressed.
        var includesEncoding = false

        /// Whether some attachments may be sent with their bytes.
        var mayIncludeAttachments: Bool { includesAttachments || attachmentsSince?.isEmpty == false }
    }
#endif
