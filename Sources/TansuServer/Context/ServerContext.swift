#if TansuServer
    import Logging
    import Tansu
    import TansuBSON
    import TansuSync

    /// What all requests of a server share.
    package final class ServerContext: Sendable {
        package let database: Database
        package let options: ServerOptions
        package let settings: ServerSettings
        package let logger: Logger
        package let feeds: Feeds
        package let connections: Connections
        package let metrics = ServerMetrics()
        package let collections: OpenCollections
        package let updates: DatabaseUpdates
        package let replications = ReplicationJobs(limit: 100)
        /// What the database is as a server: 32 hex digits that stay the same.
        package let uuid: String
        let authenticator: Authenticator

        /// - Throws: `TansuError` when the database cannot be written, and what invalid options lead to.
        package init(database: Database, options: ServerOptions) async throws {
            self.database = database
            self.options = options
            settings = ServerSettings(options)
            logger = options.logger ?? Logger(label: "tansu.server") { _ in SwiftLogNoOpLogHandler() }
            feeds = Feeds(limit: options.limits.feeds)
            connections = Connections(limit: options.limits.connections)
            collections = OpenCollections(database)
            updates = try DatabaseUpdates(database)
            let identity = try await ServerIdentity(database)
            uuid = identity.uuid
            authenticator = try await Authenticator(
                database: database, identity: identity, options: options, settings: settings)
            // Clients expect these where there are users.
            if !authenticator.isOpen {
                for name in [AccountRules.collection, "_replicator"] { try await database.ensureCollection(name) }
            }
        }

        /// The names of the collections that are served: all but those of the server and of the revisions.
        package func databaseNames() throws -> [String] {
            try database.collectionNames().filter { !Self.isInternal($0) }
        }

        package static func isInternal(_ name: String) -> Bool { name.hasPrefix("tansu.") }

        /// - Throws: ``HTTPFailure`` with 404.
        package func requireDatabase(_ name: String) throws {
            // Without a look at the list of all collections, which may be many.
            if try collections.has(name) { return }
            guard try databaseNames().contains(name) else { throw HTTPFailure.databaseDoesNotExist }
        }

        /// Who may use a database.
        package func security(of name: String) throws -> SecurityObject {
            let settings = try database.collection("tansu.sync").get(name)
            // Without members a database would be open to everyone: that must be said.
            let stored = settings?["security"]?.documentValue ?? [:]
            return SecurityObject(stored.isEmpty ? SecurityObject.standard : stored)
        }
    }
#endif
