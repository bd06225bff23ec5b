import CTansu
import Foundation

/// An open database: a folder, or memory, with collections of documents.
///
/// For example:
///
/// ```swift
/// let db = try Database(path: "people.tansu")
/// let people = try db.collection("people", of: Person.self)
/// try people.save(Person(name: "mike", age: 12))
/// let children = try people.find(["age": ["$lt": 18]]).sorted(by: "name").all()
/// ```
///
/// A database may be used from any thread and task. Every call has a form that answers at once and an `async`
/// twin that Swift picks where `await` is possible; the twins work on threads of the database's own, never hold
/// up the cooperative pool, and throw a `CancellationError` if the task is cancelled before they begin. A query, an
/// aggregate, an update, the building of an index and a transaction stop soon also when the task is cancelled while
/// they run, and then keep nothing; updates and transactions also while they wait for another writer. What is not
/// async stops by ``Transaction/cancel()`` and ``Cursor/cancel()``.
///
/// A folder is open in one process at a time, or in several that only read. The database closes when the last
/// reference to it goes: collections, queries, cursors and transactions hold one.
public final class Database: Sendable {
    /// The types whose objects collections of objects find; see ``objects(_:types:)``.
    public let types = BSONTypeRegistry()

    let engine: EngineDatabase
    /// Whether writes have schemas to look for.
    let schemas = SchemaWatch()
    /// For calls that never wait for another writer: reads, and the inside of read transactions.
    let readers = WorkLane("tansu read", width: max(4, ProcessInfo.processInfo.activeProcessorCount))
    /// For writes of their own, which may wait for the transaction under way. Several at once share a sync.
    let writers = WorkLane("tansu write", width: 8)
    /// For the one write transaction whose closure suspends. Its thread stays: the engine tells by the thread
    /// whether somebody waits for himself, and another thread could come to have the identity of one that left.
    let transactions = WorkLane("tansu transaction", width: 1, idleSeconds: nil)
    /// Who may use `transactions`.
    let transactionGate = AsyncGate()

    /// The database that the engine has opened already.
    init(_ engine: EngineDatabase) {
        self.engine = engine
    }

    /// Opens a database, creating it unless the options forbid. Work that a crash left undone is done here.
    ///
    /// - Parameters:
    ///   - store: Where the documents are.
    ///   - options: How to open it.
    /// - Throws: ``TansuError`` with `.locked` (open elsewhere), `.notFound` (none there, and it must exist),
    ///   `.exists` (something else is there), `.corrupt`, `.version`, `.io`, `.full` or `.readOnly`.
    public init(_ store: Store, options: Options = Options()) throws {
        engine = try EngineDatabase(opening: store, options: options)
    }

    /// Opens the database in a folder, creating it unless the options forbid.
    ///
    /// - Parameters:
    ///   - path: The database's folder.
    ///   - options: How to open it.
    /// - Throws: As ``init(_:options:)``.
    public convenience init(path: String, options: Options = Options()) throws {
        try self.init(.persistent(path: path), options: options)
    }

    /// Opens a database without holding up the task's thread: after a crash, opening may take a while.
    ///
    /// - Parameters:
    ///   - store: Where the documents are.
    ///   - options: How to open it.
    /// - Throws: As ``init(_:options:)``, and `CancellationError`.
    public static func open(_ store: Store, options: Options = Options()) async throws -> Database {
        try await WorkLane("tansu open", width: 1).run { _ in try Database(store, options: options) }
    }

    deinit {
        transactions.stop()
    }

    /// The version of the engine that is linked, such as "0.1.0".
    public static var engineVersion: String { String(cString: tansu_version()) }
}
