#if TansuServer
    import HTTPTypes
    import HummingbirdCore

    /// What a request needs the right for.
    package enum Access: Sendable {
        /// No right.
        case everyone
        /// To read and write documents of the database that `:db` names, which must exist.
        case member
        /// To manage the database that `:db` names, which must exist.
        case databaseAdmin
        /// To manage the server. It comes before the question whether the database exists.
        case serverAdmin
    }

    /// A path with what answers its methods.
    package struct Route: Sendable {
        package typealias Handler = @Sendable (ServerRequest) async throws -> Response

        package struct Endpoint: Sendable {
            let access: Access?
            let handler: Handler

            /// - Parameter access: That of the route when nil.
            package init(_ access: Access? = nil, _ handler: @escaping Handler) {
                self.access = access
                self.handler = handler
            }
        }

        /// Parts between slashes: text, `:name` for any part, and a `*` at the end for one or more parts.
        package let pattern: String
        /// What the header `Allow` says about other methods, in CouchDB's order.
        package let allow: String
        package let access: Access
        package let methods: [HTTPRequest.Method: Endpoint]

        /// GET answers HEAD as well, without the body.
        package init(
            _ pattern: String, allow: String, access: Access = .member, _ methods: [HTTPRequest.Method: Endpoint]
        ) {
            self.pattern = pattern
            self.allow = allow
            self.access = access
            self.methods = methods
        }
    }

    extension HTTPRequest.Method {
        /// CouchDB's method that copies a document.
        package static let copy = HTTPRequest.Method("COPY") ?? .options
    }
#endif
