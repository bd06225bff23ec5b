#if TansuServer
    import HTTPTypes
    import TansuBSON

    extension ServerContext {
        /// The longest body of a request that counts as short.
        private static let shortBody = 16 << 10

        /// Whether a request is about one document, or a query, of a database that is open: what runs on the event loop for it takes
        /// tens of microseconds.
        func isShort(_ head: HTTPRequest) -> Bool {
            guard let target = head.path else { return false }
            let parts = target.prefixUntil("?").prefixUntil("#").parts(separatedBy: "/")
            guard parts.count == 3, parts[0].isEmpty, collections.isOpen(parts[1]) else { return false }
            switch head.method {
            case .get, .head, .delete: return !parts[2].hasPrefix("_")
            case .put: return !parts[2].hasPrefix("_") && hasShortBody(head)
            case .post: return parts[2] == "_find" && hasShortBody(head)
            default: return false
            }
        }

        private func hasShortBody(_ head: HTTPRequest) -> Bool {
            guard let length = head.headerFields[.contentLength].flatMap({ Int($0) }) else { return false }
            return length <= Self.shortBody && head.headerFields[.contentEncoding] == nil
        }
    }
#endif
