#if TansuSync
    public import Tansu

    extension Database.Collection {
        /// The attachments of a document.
        ///
        /// For example:
        ///
        /// ```swift
        /// let photos = people.attachments(of: "mike")
        /// try photos.add(png, name: "face.png", type: "image/png")
        /// ```
        ///
        /// In the collection of a transaction they are read and written in the transaction.
        ///
        /// - Parameter id: The document's `_id`.
        @_disfavoredOverload
        public func attachments(of id: some DocumentID) -> Database.DocumentAttachments {
            Database.DocumentAttachments(session: session, collection: name, id: stored(id))
        }
    }

    extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
        /// The attachments of a value.
        ///
        /// - Parameter id: Its id, which is stored as `_id`.
        /// - Throws: ``TansuError`` with `.invalidID`.
        public func attachments(of id: Element.ID) throws -> Database.DocumentAttachments {
            Database.DocumentAttachments(session: session, collection: name, id: try storedID(id))
        }
    }
#endif
