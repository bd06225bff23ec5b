#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import Logging
    import NIOCore
    import Tansu
    import TansuBSON

    /// A request with all that an endpoint needs to answer it.
    package struct ServerRequest: Sendable {
        package let server: ServerContext
        package let head: HTTPRequest
        package let path: RequestPath
        package let query: QueryParameters
        /// The body as it arrives: reading waits for the client, and the client waits for the reader.
        package let body: RequestBody
        /// The connection.
        package let channel: any Channel
        /// The length of the body that the client has announced; nil for a chunked body.
        package let contentLength: Int?
        package var logger: Logger
        package var user = UserContext.anonymous
        /// What the route's `:name` parts stand for, decoded.
        package var parameters: [BytewiseText: String] = [:]
        /// The decoded parts that the route's `*` stands for.
        package var rest: [String] = []

        /// - Throws: ``HTTPFailure`` when path or query are not UTF-8.
        package init(server: ServerContext, request: Request, channel: any Channel, logger: Logger) throws {
            self.server = server
            self.channel = channel
            self.logger = logger
            head = request.head
            body = request.body
            method = Self.method(request.head)
            contentLength = request.head.headerFields[.contentLength].flatMap { Int($0) }
            let target = (request.head.path ?? "/").prefixUntil("#").parts(separatedBy: "?", maxSplits: 1)
            path = try RequestPath(target[0])
            query = try QueryParameters(target.count > 1 ? target[1] : "")
        }

        /// That of the request, or what a POST gives in `X-HTTP-Method-Override`, for clients that can only GET and POST.
        package let method: HTTPRequest.Method
        package var database: Database { server.database }
        package var limits: ServerLimits { server.options.limits }

        /// The address of the client, without the port.
        package var peer: String { channel.remoteAddress?.ipAddress ?? "" }

        private static let overridable: Set<BytewiseText> = [
            "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "CONNECT", "COPY",
        ]

        private static func method(_ head: HTTPRequest) -> HTTPRequest.Method {
            guard head.method == .post, let name = head.headerFields[.methodOverride],
                overridable.contains(BytewiseText(name))
            else {
                return head.method
            }
            return HTTPRequest.Method(name) ?? head.method
        }

        /// The part of the path that the route calls `:db`.
        package var databaseName: String { parameters["db"] ?? "" }

        package subscript(name: HTTPField.Name) -> String? { head.headerFields[name] }

        /// The URL of a path on this server as the client calls it, for `Location`.
        package func url(_ path: String) -> String {
            "\(head.scheme ?? "http")://\(head.authority ?? server.options.host)\(path)"
        }

        /// The header field of a session, or the one that ends it if the text is empty.
        package func sessionCookie(_ text: String) -> String {
            SessionCookie.field(
                text, lifetime: server.options.sessionLifetime, isSecure: head.scheme == "https",
                isShared: server.settings.cors?.allowsCredentials == true)
        }

        /// Who may use the database of the request.
        package func security() throws -> SecurityObject { try server.security(of: databaseName) }
    }

    extension HTTPField.Name {
        /// The method that a POST stands for.
        static let methodOverride = HTTPField.Name("X-HTTP-Method-Override") ?? .from
    }
#endif
