#if TansuServer
    import HTTPTypes
    import NIOCore
    import Tansu
    import TansuBSON
    import TansuSync

    extension ServerRequest {
        /// The documents of the database that the path names, with their revisions.
        func collection() throws -> ReplicatedCollection {
            // Server admins pass the router without it.
            if databaseName.hasPrefix("_") { try server.requireDatabase(databaseName) }
            return try server.collections.collection(databaseName)
        }

        /// The body as bytes.
        func bytes() async throws -> [UInt8] {
            let buffer = try await collectedBody()
            return Array(buffer.readableBytesView)
        }

        /// - Throws: ``HTTPFailure`` unless the user manages the database.
        func requireDatabaseAdmin() throws {
            try security().requireAdmin(user)
        }

        /// Whether the client takes answers of a media type. Without the header it takes everything.
        func accepts(_ type: String) -> Bool {
            guard let text = self[.accept] else { return true }
            return AcceptedTypes(text).contains(type)
        }

        /// The quoted entity tag is one that the client has already. Proxies that compress answers make tags weak.
        func hasCurrent(_ entityTag: String) -> Bool {
            self[.ifNoneMatch]?.parts(separatedBy: ",").contains { part in
                let tag = part.trimmingSpaces
                return (tag.dropping(prefix: "W/") ?? tag) == entityTag
            } ?? false
        }
    }

    /// The media types of a header `Accept`.
    struct AcceptedTypes {
        private var ranges: [(type: String, quality: Double)] = []

        init(_ text: String) {
            for part in text.parts(separatedBy: ",") {
                let fields = part.parts(separatedBy: ";").map { $0.trimmingSpaces }
                let quality = fields.dropFirst().compactMap { $0.dropping(prefix: "q=") }.first.flatMap { Double($0) }
                ranges.append((fields[0], quality ?? 1))
            }
        }

        /// Whether a range has the type: the most specific one decides.
        func contains(_ type: String) -> Bool {
            let all = type.prefixUntil("/") + "/*"
            for candidate in [type, all, "*/*"] {
                if let range = ranges.first(where: { $0.type == candidate }) { return range.quality > 0 }
            }
            return false
        }
    }
#endif
