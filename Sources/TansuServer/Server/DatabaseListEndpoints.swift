#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import Tansu
    import TansuBSON

    /// `/_all_dbs`: which databases there are.
    enum DatabaseListEndpoints {
        static let routes = [
            Route("/_all_dbs", allow: "GET,HEAD", access: .serverAdmin, [.get: .init(nil, names)])
        ]

        @Sendable private static func names(_ request: ServerRequest) throws -> Response {
            let names = try selected(request.server.databaseNames(), request.query)
            let text = BSONValue(names.map { .string($0) }).extendedJSON() + "\n"
            let tag = "\"\(hex(hmac(text, key: [])).prefix(25))\""
            let headers = HTTPFields.json.merging([.eTag: tag])
            if request.hasCurrent(tag) { return Response(status: .notModified, headers: headers) }
            return .streamed(headers: headers) { stream in try await stream.write(text) }
        }

        /// The names that a query asks for: `startkey` to `endkey`, both included, of the sorted ones.
        static func selected(_ names: [String], _ query: QueryParameters) throws -> [String] {
            let isDescending = try query.bool("descending") ?? false
            func key(_ names: [String]) throws -> BSONValue? {
                guard let name = names.first(where: query.contains) else { return nil }
                return try query.json(name)
            }
            // A key that is no text comes before every name.
            let first = try key(["startkey", "start_key", "key"]).map { $0.stringValue ?? "" }
            let last = try key(["endkey", "end_key", "key"]).map { $0.stringValue ?? "" }
            let includesLast = try query.bool("inclusive_end") ?? true
            let limit = try query.positiveInteger("limit")
            let skip = try query.positiveInteger("skip") ?? 0
            func isBefore(_ a: String, _ b: String) -> Bool {
                isDescending ? b.utf8.lexicographicallyPrecedes(a.utf8) : a.utf8.lexicographicallyPrecedes(b.utf8)
            }
            let found = names.sorted(by: isBefore).filter { name in
                if let first, isBefore(name, first) { return false }
                if let last { return isBefore(name, last) || (includesLast && name == last) }
                return true
            }
            return Array(found.dropFirst(skip).prefix(limit ?? .max))
        }
    }
#endif
