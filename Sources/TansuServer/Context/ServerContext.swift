#if TansuServer
import HTTPTypes
import Logging
import NIOCore
import Tansu
import TansuBSON
import TansuSync

/// What all requests of a server share.
final class ServerContext: Sendable {
    let database: Database
    let options: ServerOptions
    let settings: ServerSettings
    let logger: Logger
    let feeds: Feeds
    let connections: Connections
    let metrics = ServerMetrics()
    let collections: OpenCollections
    let updates: DatabaseUpdates
    let replications = ReplicationJobs(limit: 100)
    /// What the database is as a server: 32 hex digits that stay the same.
    let uuid: String
    let authenticator: Authenticator
    /// Of the inspector of a database, which writes nothing by itself; nil for a server.
    let inspection: Inspection?

    /// - Throws: `TansuError` when the database cannot be written, and what invalid options lead to.
    init(database: Database, options: ServerOptions, inspection: Inspection? = nil) async throws {
        self.inspection = inspection
        self.database = database
        self.options = options
        settings = ServerSettings(options)
        logger = options.logger ?? Logger(label: "tansu.server") { _ in SwiftLogNoOpLogHandler() }
        feeds = Feeds(limit: options.limits.feeds)
        connections = Connections(limit: options.limits.connections)
        collections = OpenCollections(database)
        updates = try DatabaseUpdates(database)
        let identity = inspection == nil ? try await ServerIdentity(database) : .temporary
        uuid = identity.uuid
        authenticator = try await Authenticator(
            database: database, identity: identity, options: options, settings: settings)
        // Clients expect these where there are users.
        if inspection == nil, !authenticator.isOpen {
            for name in [AccountRules.collection, "_replicator"] { try await database.ensureCollection(name) }
        }
    }

    /// The names of the collections that are served: all but those of the server and of the revisions.
    func databaseNames() throws -> [String] {
        try database.collectionNames().filter { !CommandLimits.isOwned($0) }
    }

    /// - Throws: ``HTTPFailure`` with 404.
    func requireDatabase(_ name: String) throws {
        // Without a look at the list of all collections, which may be many.
        if try collections.has(name) { return }
        guard try databaseNames().contains(name) else { throw HTTPFailure.databaseDoesNotExist }
    }

    /// Who may use a database.
    func security(of name: String) throws -> SecurityObject {
        let settings = try database.collection(CommandLimits.replicationStates).get(name)
        // Without members a database would be open to everyone: that must be said.
        let stored = settings?["security"]?.documentValue ?? [:]
        return SecurityObject(stored.isEmpty ? SecurityObject.standard : stored)
    }
}

// MARK: - Short requests

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

// MARK: - ServerIdentity

/// What a database is as a server: its name for replicators, and the secret of its sessions. Both are kept in the database, so
/// that replications and sessions survive a restart.
struct ServerIdentity: Sendable {
    /// 32 hex digits.
    let uuid: String
    let secret: [UInt8]

    private static let collection = "tansu.server"

    /// That of a database, made when it has none.
    ///
    /// - Throws: `TansuError` when the database cannot be written.
    init(_ database: Database) async throws {
        self = try await database.write { transaction in
            let collection = try transaction.collection(Self.collection)
            if let document = try collection.get("identity"), let uuid = document["uuid"]?.stringValue,
                let secret = document["secret"]?.stringValue.flatMap(bytes(hex:))
            {
                return ServerIdentity(uuid: uuid, secret: secret)
            }
            let identity = ServerIdentity(uuid: randomHex(byteCount: 16), secret: randomBytes(32))
            try collection.save([
                "_id": "identity", "uuid": .string(identity.uuid), "secret": .string(hex(identity.secret)),
            ])
            return identity
        }
    }

    private init(uuid: String, secret: [UInt8]) {
        self.uuid = uuid
        self.secret = secret
    }

    /// One that is kept nowhere.
    static var temporary: Self { Self(uuid: randomHex(byteCount: 16), secret: randomBytes(32)) }
}

// MARK: - Connections

/// The open connections of a server.
final class Connections: Sendable {
    private let limit: Int
    private let channels = Locked<[ObjectIdentifier: any Channel]>([:])

    init(limit: Int) { self.limit = limit }

    /// How many are open, those that are refused included.
    var count: Int { channels.withLock { $0.count } }

    /// Counts a connection until it is closed.
    ///
    /// - Returns: Whether it is within the limit; otherwise its first request gets 503.
    func add(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let isWithinLimit = channels.withLock { channels in
            channels[id] = channel
            return channels.count <= limit
        }
        channel.closeFuture.whenComplete { [self] _ in channels.withLock { _ = $0.removeValue(forKey: id) } }
        return isWithinLimit
    }

    /// Closes them all, whatever they are doing.
    func closeAll() {
        for channel in channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
    }
}

// MARK: - OpenCollections

/// The databases that requests have used lately: looking one up takes reads of the database.
final class OpenCollections: Sendable {
    private struct Entry {
        let collection: ReplicatedCollection
        var lastUse: ContinuousClock.Instant
    }

    private let database: Database
    private let entries = Locked<[BytewiseText: Entry]>([:])

    init(_ database: Database) { self.database = database }

    /// How many there are.
    var count: Int { entries.withLock { $0.count } }

    /// The collection of a database.
    func collection(_ name: String) throws -> ReplicatedCollection {
        if let known = known(name) { return known }
        let collection = try ReplicatedCollection.existing(name, in: database)
        entries.withLock { $0[BytewiseText(name)] = Entry(collection: collection, lastUse: .now) }
        return collection
    }

    /// Whether a database is among these, and there. Others may be there as well.
    func has(_ name: String) throws -> Bool { try known(name)?.isThere ?? false }

    /// Whether a database is among these.
    func isOpen(_ name: String) -> Bool { entries.withLock { $0[BytewiseText(name)] != nil } }

    private func known(_ name: String) -> ReplicatedCollection? {
        let name = BytewiseText(name)
        return entries.withLock { entries in
            guard let entry = entries[name] else { return nil }
            if entry.collection.isDropped {
                entries[name] = nil
                return nil
            }
            entries[name]?.lastUse = .now
            return entry.collection
        }
    }

    /// Lets go of those that no request has used for some time.
    func closeUnused(for duration: Duration) {
        entries.withLock { entries in entries = entries.filter { $0.value.lastUse + duration > .now } }
    }
}
#endif
