#if TansuServer
    import TansuBSON
    import TansuSync

    /// What a request for a document asks for.
    struct DocumentQuery: Sendable {
        /// Which revisions are read instead of one.
        enum OpenRevisions: Sendable {
            case leaves
            case named([WireRevision])
        }

        var revision: WireRevision?
        var openRevisions: OpenRevisions?
        var parts = RevisionParts()
        var takesLatest = false
        var takesDeleted = false
        /// nil: the request does not say.
        var newEdits: Bool?

        init(_ query: QueryParameters) throws {
            for (name, value) in query.items {
                switch (name, value) {
                case ("rev", _): revision = try WireRevision(value)
                case ("open_revs", "all"): openRevisions = .leaves
                case ("open_revs", _): openRevisions = .named(try Self.revisions(value))
                case ("atts_since", _): parts.attachmentsSince = try Self.revisions(value)
                case ("new_edits", "false"): newEdits = false
                case ("new_edits", "true"): newEdits = true
                case (_, "true"): read(flag: name)
                default: break
                }
            }
            // Without revisions it is no question for several.
            if case .named(let revisions) = openRevisions, revisions.isEmpty { openRevisions = nil }
        }

        private mutating func read(flag name: String) {
            switch name {
            case "attachments": parts.includesAttachments = true
            case "meta":
                parts.includesHistory = true
                parts.includesConflicts = true
                parts.includesDeletedConflicts = true
            case "revs": parts.includesPath = true
            case "local_seq": parts.includesSequence = true
            case "revs_info": parts.includesHistory = true
            case "conflicts": parts.includesConflicts = true
            case "deleted_conflicts": parts.includesDeletedConflicts = true
            case "deleted": takesDeleted = true
            case "latest": takesLatest = true
            case "att_encoding_info": parts.includesEncoding = true
            default: break
            }
        }

        private static func revisions(_ text: String) throws -> [WireRevision] {
            do {
                return try WireRevision.list(BSONValue(plainJSON: text))
            } catch is BSONError {
                throw HTTPFailure.invalidJSON
            }
        }
    }
#endif
