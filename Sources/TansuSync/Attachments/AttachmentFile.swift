#if TansuSync
    /// The name of a blob.
    package struct BlobID: Sendable, Hashable {
        /// A digest of the stored bytes and their encoding.
        package let bytes: [UInt8]

        package init(bytes: [UInt8]) { self.bytes = bytes }
    }

    /// One attachment of a revision.
    package struct AttachmentFile: Sendable, Hashable {
        package var name: String
        package var contentType: String
        package var digest: String
        package var length: Int64
        package var revpos: Int
        package var encoding: String?
        package var encodedLength: Int64?
        package var blob: BlobID

        package init(
            name: String, contentType: String, digest: String, length: Int64, revpos: Int, encoding: String? = nil,
            encodedLength: Int64? = nil, blob: BlobID
        ) {
            self.name = name
            self.contentType = contentType
            self.digest = digest
            self.length = length
            self.revpos = revpos
            self.encoding = encoding
            self.encodedLength = encodedLength
            self.blob = blob
        }
    }
#endif
