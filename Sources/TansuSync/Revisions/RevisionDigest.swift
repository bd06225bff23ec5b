#if TansuSync
    import TansuBSON

    /// Names the revision that an edit makes: equal edits of one revision have equal names on every replica.
    ///
    /// The hash is the first half of a SHA-256 over the parent, whether the edit removes the document, its body and its
    /// attachments. CouchDB takes an MD5 over the form of its own memory, so that equal edits there have other names.
    public enum RevisionDigest {
        /// What an attachment adds to the revision that names it.
        public struct Attachment: Sendable, Hashable {
            /// Its name.
            public let name: String
            /// Its media type.
            public let contentType: String
            /// The digest of its bytes, such as `md5-iMaiC8wqiFlD2NjLTemvCQ==`.
            public let digest: String

            /// Creates the description of an attachment.
            public init(name: String, contentType: String, digest: String) {
                self.name = name
                self.contentType = contentType
                self.digest = digest
            }

            /// Whether both are the same, text byte by byte.
            public static func == (a: Self, b: Self) -> Bool {
                a.name == b.name && a.contentType == b.contentType && a.digest == b.digest
            }
        }

        /// The revision that an edit makes.
        ///
        /// - Parameters:
        ///   - parent: The revision that was edited; nil for the first one of a document.
        ///   - isDeleted: Whether the edit removes the document.
        ///   - body: The fields. Those at the top whose name begins with `_` do not count, `_id` among them.
        ///   - attachments: What the revision names, in any order.
        /// - Throws: ``RevisionError`` when the parent has the greatest generation, or the body is nested too deep.
        public static func revision(
            after parent: Revision?, isDeleted: Bool = false, body: BSONDocument, attachments: [Attachment] = []
        ) throws(RevisionError) -> Revision {
            let generation = (parent?.generation ?? 0) + 1
            try Revision.validate(generation)
            var form = CanonicalForm()
            form.append(version: 1)
            form.append(text: parent?.description ?? "")
            form.append(flag: isDeleted)
            try form.append(fieldsOf: body)
            form.append(count: attachments.count)
            for attachment in attachments.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
                form.append(text: attachment.name)
                form.append(text: attachment.contentType)
                form.append(text: attachment.digest)
            }
            return Revision(generation: generation, hash: .bytes16(of: form.digest()))
        }
    }
#endif
