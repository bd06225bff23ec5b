#if TansuSync
    import TansuBSON

    /// The name of a blob: a digest of its stored bytes and how they are compressed.
    package struct BlobID: Sendable, Hashable {
        /// The digest.
        package let bytes: [UInt8]

        package init(bytes: [UInt8]) { self.bytes = bytes }

        var bson: BSONValue { .binary(BSONBinary(bytes)) }
    }

    /// One attachment of a document or of a revision: what is known of it, and the name of its bytes.
    package struct AttachmentFile: Sendable, Hashable {
        /// Its name.
        @BytewiseText package var name: String
        /// Its media type.
        @BytewiseText package var contentType: String
        /// `md5-` and the MD5 of the stored bytes in base64.
        @BytewiseText package var digest: String
        /// The number of bytes before they were compressed.
        package var length: Int64
        /// The generation of the revision that added it; 0 where there are no revisions.
        package var revpos: Int
        /// How the stored bytes are compressed: `gzip`, or nil.
        package var encoding: String?
        /// The number of stored bytes, if they are compressed.
        package var encodedLength: Int64?
        /// The stored bytes.
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

        /// The number of stored bytes.
        package var storedLength: Int64 { encodedLength ?? length }

        /// This, with a `revpos` that is not below a generation.
        func raised(to generation: Int) -> AttachmentFile {
            var file = self
            file.revpos = max(revpos, generation)
            return file
        }
    }

    extension AttachmentFile {
        /// The stored form.
        package var bson: BSONDocument {
            var document: BSONDocument = [
                "name": .string(name), "type": .string(contentType), "digest": .string(digest),
                "length": .int64(length),
                "revpos": .int64(Int64(revpos)), "blob": blob.bson,
            ]
            if let encoding { document["encoding"] = .string(encoding) }
            if let encodedLength { document["encodedLength"] = .int64(encodedLength) }
            return document
        }

        /// Reads the stored form.
        ///
        /// - Throws: ``AttachmentError`` of code `damaged`.
        package init(_ document: BSONDocument) throws(AttachmentError) {
            guard let name = document["name"]?.stringValue, let type = document["type"]?.stringValue,
                let digest = document["digest"]?.stringValue, let length = document["length"]?.int64Value, length >= 0,
                case .binary(let blob)? = document["blob"], let revpos = document["revpos"]?.int64Value
            else { throw AttachmentError(.damaged, "The description of an attachment is damaged") }
            self.init(
                name: name, contentType: type, digest: digest, length: length, revpos: Int(revpos),
                encoding: document["encoding"]?.stringValue, encodedLength: document["encodedLength"]?.int64Value,
                blob: BlobID(bytes: blob.bytes))
        }
    }
#endif
