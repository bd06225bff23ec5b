#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON

    /// `/_uuids`: ids for new documents.
    enum UUIDEndpoint {
        static let routes = [Route("/_uuids", allow: "GET", access: .everyone, [.get: .init(nil, answer)])]

        private static let maximum = 1_000

        @Sendable private static func answer(_ request: ServerRequest) throws -> Response {
            let count: Int
            if let text = request.query["count"] {
                guard let number = Int(text), number >= 0 else {
                    throw HTTPFailure.badRequest("count must be a positive integer")
                }
                guard number <= maximum else { throw HTTPFailure.badRequest("count parameter too large") }
                count = number
            } else {
                count = 1
            }
            let uuids = (0..<count).map { _ in BSONValue.string(randomHex(byteCount: 16)) }
            return .json(
                ["uuids": BSONValue(uuids)],
                headers: [
                    .cacheControl: "no-cache", .pragma: "no-cache", .expires: "Fri, 01 Jan 1990 00:00:00 GMT",
                    .eTag: "\"\(randomHex(byteCount: 16))\"",
                ])
        }
    }

    extension HTTPField.Name {
        /// What HTTP/1.0 caches look at.
        static let pragma = HTTPField.Name("Pragma") ?? .cacheControl
    }
#endif
