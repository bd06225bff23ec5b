#if TansuSync
    import TansuBSON

    /// How the bytes of a blob are compressed.
    package enum BlobEncoding: Sendable, Hashable {
        /// As gzip if the media type is one of text, as CouchDB does; else not.
        case automatic
        /// The bytes are stored as they are given. They are compressed already if there is a name, such as `gzip`.
        case stored(String?)

        /// Whether CouchDB compresses attachments of a media type.
        static func compresses(_ contentType: String) -> Bool {
            let type = contentType.prefixUntil(";").trimmingSpaces.asciiLowercased
            return type.hasPrefix("text/")
                || ["application/javascript", "application/json", "application/xml"].contains(type)
        }
    }
#endif
