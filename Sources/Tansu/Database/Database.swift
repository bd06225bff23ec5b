import Foundation

/// An open database: collections of documents in a folder or in memory, with ACID transactions.
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
/// A database may be used from any thread and task. Every call has a synchronous variant and an `async` overload, which
/// Swift selects in asynchronous contexts. Of these short reads run where the caller does, and everything else on
/// threads of the database: <doc:ConcurrencyAndTransactions> has the rule. They throw a `CancellationError` when the
/// task is cancelled before they begin. Queries, aggregates, updates, index builds and transactions also stop soon when
/// the task is cancelled while they run, and then roll back; all writes do while they wait for the write lock. Cancel
/// synchronous calls with ``Transaction/cancel()`` and ``Cursor/cancel()``.
///
/// A folder is open in one process at a time, or in several that only read. The database closes with the last reference
/// to it; collections, queries, cursors and transactions hold one.
public final class Database: Sendable {
    let engine: EngineDatabase
    /// What other modules keep with the database.
    let attachments = Attachments()
    /// For calls that never wait for the write lock: reads, and the inside of read transactions.
    let readers = WorkQueue("tansu read", width: max(4, ProcessInfo.processInfo.activeProcessorCount))
    /// For writes in transactions of their own, which may wait for the write lock. Several at once share a sync.
    let writers = WorkQueue("tansu write", width: 8)
    /// For the one write transaction whose closure suspends. Its thread stays: the engine detects a deadlock by the
    /// thread, and a new thread can have the identity of one that has ended.
    let transactions = WorkQueue("tansu transaction", width: 1, idleSeconds: nil)
    /// Serializes the tasks that use `transactions`.
    let writeLock: AsyncLock
    /// How long async writes wait.
    let waitLimit: WaitLimit

    /// A database that the engine has opened.
    init(_ engine: EngineDatabase) {
        self.engine = engine
        waitLimit = WaitLimit(timeout: engine.busyTimeout)
        writeLock = AsyncLock(limit: waitLimit)
    }

    /// Opens a database, creating it unless the options forbid. After a crash it is recovered here.
    ///
    /// - Parameters:
    ///   - store: Where the documents are.
    ///   - options: How to open it.
    /// - Throws: ``TansuError`` with `.locked` (open elsewhere), `.notFound` (none there, and it must exist),
    ///   `.exists` (something else is there), `.encrypted` (it has a key, and none was given), `.wrongKey`,
    ///   `.invalidArgument` (a key was given, and it is not encrypted), `.corrupt`, `.version`, `.io`, `.full` or
    ///   `.readOnly`.
    public init(_ store: Store, options: Options = Options()) throws {
        engine = try EngineDatabase(opening: store, options: options)
        waitLimit = WaitLimit(timeout: engine.busyTimeout)
        writeLock = AsyncLock(limit: waitLimit)
    }

    /// Opens the database in a folder, creating it unless the options forbid.
    ///
    /// - Parameters:
    ///   - path: The database's folder; `~` at the beginning is the user's home.
    ///   - key: The key of an encrypted database, as ``Options/key``, which counts when this is `nil`.
    ///   - options: How to open it.
    /// - Throws: As ``init(_:options:)``.
    public convenience init(path: String, key: DatabaseKey? = nil, options: Options = Options()) throws {
        try self.init(.persistent(path: path), options: options.with(key))
    }

    /// Opens a database without blocking the task's thread: recovery after a crash may take a while.
    ///
    /// - Parameters:
    ///   - store: Where the documents are.
    ///   - options: How to open it.
    /// - Throws: As ``init(_:options:)``, and `CancellationError`.
    public static func open(_ store: Store, options: Options = Options()) async throws -> Database {
        try await WorkQueue.ofOneJob("tansu open").run { _ in try Database(store, options: options) }
    }

    /// Opens the database in a folder without blocking the task's thread.
    ///
    /// - Parameters:
    ///   - path: The database's folder; `~` at the beginning is the user's home.
    ///   - key: The key of an encrypted database, as ``Options/key``, which counts when this is `nil`.
    ///   - options: How to open it.
    /// - Throws: As ``init(_:options:)``, and `CancellationError`.
    public static func open(
        path: String, key: DatabaseKey? = nil, options: Options = Options()
    ) async throws -> Database {
        try await open(.persistent(path: path), options: options.with(key))
    }

    deinit {
        stopThreads()
    }

    /// Ends the threads that have nothing to do, now that there will be no calls.
    func stopThreads() {
        for queue in [readers, writers, transactions] { queue.stop() }
        engine.recorder?.stop()
    }
}

extension Database {
    /// A value that a module on top of this one keeps with the database, one of each type; made when first asked for.
    package func attachment<Value: Sendable>(_ type: Value.Type, _ make: () -> Value) -> Value {
        attachments.value(type, make)
    }
}

/// Values of other modules, one of each type.
///
/// `@unchecked Sendable`: the values are touched under the lock only.
final class Attachments: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [ObjectIdentifier: any Sendable] = [:]

    func value<Value: Sendable>(_ type: Value.Type, _ make: () -> Value) -> Value {
        lock.withLock {
            if let value = values[ObjectIdentifier(type)] as? Value { return value }
            let value = make()
            values[ObjectIdentifier(type)] = value
            return value
        }
    }
}
