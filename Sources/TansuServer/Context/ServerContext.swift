#if TansuServer
    import Logging
    import Tansu
    import TansuBSON

    /// What all requests of a server share.
    package final class ServerContext: Sendable {
        package let database: Database
        package let options: ServerOptions
        package let logger: Logger
        package let feeds: Feeds
        package let connections: Connections

        package init(database: Database, options: ServerOptions) {
            self.database = database
            self.options = options
            logger = options.logger ?? Logger(label: "tansu.server") { _ in SwiftLogNoOpLogHandler() }
            feeds = Feeds(limit: options.limits.feeds)
            connections = Connections(limit: options.limits.connections)
        }

        /// The names of the collections that are served: all but those of the server and of the revisions.
        package func databaseNames() throws -> [String] {
            try database.collectionNames().filter { !Self.isInternal($0) }
        }

        package static func isInternal(_ name: String) -> Bool { name.hasPrefix("tansu.") }

        /// - Throws: ``HTTPFailure`` with 404.
        package func requireDatabase(_ name: String) throws {
            guard try databaseNames().contains(name) else { throw HTTPFailure.databaseDoesNotExist }
        }

        /// Who may use a database.
        package func security(of name: String) throws -> SecurityObject {
            let settings = try database.collection("tansu.sync").get(name)
            return SecurityObject(settings?["security"]?.documentValue ?? SecurityObject.standard)
        }
    }
#endif
