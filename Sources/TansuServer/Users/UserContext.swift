#if TansuServer
    import TansuBSON

    /// Who makes a request.
    package struct UserContext: Sendable, Hashable {
        /// How somebody has proved who they are; CouchDB's names.
        package enum Authentication: String, Sendable {
            case password = "default"
            case cookie
            case bearer = "jwt"
        }

        /// Nil for somebody unknown.
        package var name: String?
        package var roles: [String]
        package var authentication: Authentication?

        package init(name: String?, roles: [String], authentication: Authentication? = nil) {
            self.name = name
            self.roles = roles
            self.authentication = authentication
        }

        package static func == (a: Self, b: Self) -> Bool {
            a.name == b.name && a.roles == b.roles && a.authentication == b.authentication
        }

        /// Somebody unknown, who may do what everyone may.
        package static let anonymous = UserContext(name: nil, roles: [])

        /// Whether it is an admin of the server.
        package var isServerAdmin: Bool { roles.contains("_admin") }
    }
#endif
