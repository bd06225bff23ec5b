#if TansuSync
import Foundation
import Tansu
import TansuBSON

/// The documents of a database on a server: CouchDB, PouchDB Server or another Tansu.
///
/// It has the calls of `Database.Collection`, each `async`, over HTTP:
///
/// ```swift
/// let people = try RemoteCollection(url: "https://example.org/people", of: Person.self)
/// try await people.save(Person(name: "mike", age: 12))
/// let cats = try await people.find { $0.pet.species == "cat" && $0.age > 10 }.all()
/// ```
///
/// Queries mean what they mean to a collection of this process. There are no transactions, and no snapshots: a result that comes in
/// several pages may show changes that were made in between.
public struct RemoteCollection<Element: Sendable>: Sendable {
    let connection: RemoteConnection
    let options: RemoteOptions
    /// An empty collection that knows the names of properties, and how documents are encoded.
    let local: Database.Collection<Element>
    /// Whether the ids of documents are ObjectIds to this side.
    let hasObjectIDs: Bool

    /// The URL of the database, without user and password.
    public var url: String { connection.database.url.text }
}

extension RemoteCollection where Element: Codable {
    /// Creates a collection of values of a Codable type. No request is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the database, with or without user and password.
    ///   - type: What documents are decoded as and encoded from.
    ///   - credentials: How this side shows the server who it is.
    ///   - options: Timeouts, certificates, pages.
    /// - Throws: ``SyncError`` of code `invalidURL` or `invalidOptions`; `TansuError`.
    public init(
        url: String, of type: Element.Type, credentials: RemoteCredentials = .none,
        options: RemoteOptions = RemoteOptions()
    ) throws {
        try self.init(url: url, of: type, credentials, options, options.transport(), .system)
    }

    init(
        url: String, of type: Element.Type, _ credentials: RemoteCredentials = .none,
        _ options: RemoteOptions = RemoteOptions(), _ transport: any HTTPTransport, _ retries: RetryPolicy
    ) throws {
        let remote = try RemoteURL(url)
        var retries = retries
        retries.attempts = options.attempts
        connection = RemoteConnection(
            database: RemoteDatabase(remote, credentials: credentials, transport: transport, retries: retries))
        self.options = options
        local = try LocalNames.database().collection("remote", of: type)
        hasObjectIDs =
            switch options.ids {
            case .automatic: RemoteIDs.areObjectIDs(of: type)
            case .text: false
            case .objectIDs: true
            }
    }

    private init(
        _ connection: RemoteConnection, _ options: RemoteOptions, _ local: Database.Collection<Element>,
        _ hasObjectIDs: Bool
    ) {
        self.connection = connection
        self.options = options
        self.local = local
        self.hasObjectIDs = hasObjectIDs
    }

    /// The same collection with values stored in another form, such as dates as text, for databases that other programs
    /// write.
    ///
    /// - Parameter strategies: How values are stored.
    public func coding(_ strategies: BSONCodingStrategies) -> Self {
        Self(connection, options, local.coding(strategies), hasObjectIDs)
    }
}

extension RemoteCollection<BSONDocument> {
    /// Creates a collection of documents. No request is sent.
    ///
    /// Documents have their revision as `_rev`, and the stubs of their attachments as `_attachments`, as on the server.
    ///
    /// - Parameters:
    ///   - url: The URL of the database, with or without user and password.
    ///   - credentials: How this side shows the server who it is.
    ///   - options: Timeouts, certificates, pages.
    /// - Throws: ``SyncError`` of code `invalidURL` or `invalidOptions`; `TansuError`.
    public init(
        url: String, credentials: RemoteCredentials = .none, options: RemoteOptions = RemoteOptions()
    ) throws {
        try self.init(url: url, of: BSONDocument.self, credentials: credentials, options: options)
    }
}

/// The database whose collections are empty, for the names of properties and for projections.
enum LocalNames {
    private static let shared = Locked<Database?>(nil)

    static func database() throws -> Database {
        try shared.withLock { shared in
            if let shared { return shared }
            let made = try Database(.memory)
            shared = made
            return made
        }
    }
}

// MARK: - Database

extension RemoteCollection {
    /// Creates the database on the server.
    ///
    /// - Returns: Whether it was created; false when it exists.
    /// - Throws: ``SyncError``; `CancellationError`.
    @discardableResult
    public func create() async throws -> Bool {
        try await connection.json("PUT", "", accepted: [412]).status != 412
    }

    /// Drops the database on the server, with all of its documents.
    ///
    /// - Returns: Whether it existed.
    /// - Throws: ``SyncError``; `CancellationError`.
    @discardableResult
    public func drop() async throws -> Bool {
        do { _ = try await connection.json("DELETE", "") } catch let error as SyncError
            where [.noSuchDatabase, .notFound].contains(error.code)
        { return false }
        return true
    }
}

// MARK: - RemoteOptions

/// What can be set of a ``RemoteCollection``.
public struct RemoteOptions: Sendable {
    /// What the ids of documents, which are text on a server, are to this side.
    public enum IDs: Sendable, Hashable {
        /// What the type of the documents declares: ObjectIds if its `id` is one, else text.
        case automatic
        /// Text.
        case text
        /// 24 hex digits are an ObjectId; other ids stay text.
        case objectIDs
    }

    /// What the ids of documents are.
    public var ids = IDs.automatic
    /// The greatest number of documents that the server is asked for at once: 1 or more.
    public var pageSize = 1_000
    /// How often a document that others change at the same time is read and saved again: 1 or more.
    public var conflictAttempts = 10
    /// Whether the paths of queries lead to single values that JSON has. Conditions are then sent without what finds
    /// elements of arrays, and numbers, that are stored in another way: CouchDB uses an index for more of them, and documents
    /// with such values may be missing from the result.
    public var assumesPlainValues = false
    /// A file of PEM certificates: only servers whose certificate goes back to one of them are trusted. The system's
    /// certificates when nil.
    public var trustedCertificates: String?
    /// The seconds without a byte after which a connection counts as broken: 1 or more.
    public var timeout = 75
    /// How often a request that fails for a reason that may pass is sent: 1 or more.
    public var attempts = 8

    /// The options that a collection has when none are given.
    public init() {}

    func transport() throws(SyncError) -> ClientTransport {
        guard pageSize > 0, conflictAttempts > 0, timeout > 0, attempts > 0 else {
            throw SyncError(
                .invalidOptions,
                "pageSize, conflictAttempts, timeout and attempts of a remote collection are 1 or more")
        }
        var options = Replication.Options()
        options.trustedCertificates = trustedCertificates
        options.timeout = timeout
        return try options.transport()
    }
}
#endif
