#if TansuServer
    import TansuBSON
    import TansuSync

    /// What the parts of a path after the database name: a document or an attachment of it.
    struct DocumentTarget: Sendable {
        let id: String
        /// nil: the document itself.
        let attachment: String?

        /// - Throws: ``HTTPFailure`` when a `_local` document has no name, or an attachment.
        init(_ parts: [String]) throws {
            let hasPrefix = parts[0] == "_design" || parts[0] == "_local"
            if parts[0] == "_local" || parts[0] == "_local/" {
                guard parts.count > 1 else { throw HTTPFailure.badRequest("Invalid _local document id.") }
                guard parts.count == 2 else {
                    throw HTTPFailure.badRequest("_local documents do not accept attachments.")
                }
            }
            let count = hasPrefix ? min(2, parts.count) : 1
            id = parts.prefix(count).joined(separator: "/")
            attachment = parts.count > count ? parts.dropFirst(count).joined(separator: "/") : nil
        }

        var isLocal: Bool { id.hasPrefix(DocumentName.localPrefix) }
        var isDesign: Bool { id.hasPrefix(DocumentName.designPrefix) }
    }
#endif
