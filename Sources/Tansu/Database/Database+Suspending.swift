import Foundation

extension Database {
    /// Closes the database's files and lets go of its lock until `resume()`, so that another process can open it.
    ///
    /// For example, an app whose database is in a container that it shares with an extension: the system ends an app (with
    /// the code `0xdead10cc`) that it suspends in the background while the app holds a lock there.
    ///
    /// ```swift
    /// func sceneDidEnterBackground(_ scene: UIScene) {
    ///     let task = UIApplication.shared.beginBackgroundTask()
    ///     Task {
    ///         try? await database.suspend(timeout: .seconds(3))
    ///         UIApplication.shared.endBackgroundTask(task)
    ///     }
    /// }
    ///
    /// func sceneWillEnterForeground(_ scene: UIScene) {
    ///     Task { try await database.resume() }
    /// }
    /// ```
    ///
    /// It waits for running calls, as `close()` does. The commits so far are durable then, whatever the durability.
    /// While the database is suspended, calls throw ``TansuError`` with `.invalidState`. Loops over changes, observed
    /// queries and observed values wait, and go on after `resume()`. Collections and queries can be used again then; an
    /// editing context keeps its objects.
    ///
    /// It takes as long as closing: a checkpoint, and up to two seconds of compaction, if that is due. Nothing is done to
    /// a database that is suspended or closed, is in memory or temporary, or was opened with ``Options/allowWriter``, which takes no
    /// lock.
    ///
    /// - Parameter timeout: How long it waits for what you keep open: a `write` or `read` whose closure runs, a cursor, and
    ///   a loop over the documents of a query. Calls can be made meanwhile.
    /// - Throws: ``TansuError`` with `.busy` (such a thing is still open, or this is inside a call: nothing was done), `.io`,
    ///   `.full` or `.moved` (the database is suspended and commits are durable, but resuming takes longer).
    public func suspend(timeout: Duration = .zero) throws {
        try engine.suspend(until: Date(timeIntervalSinceNow: Double(timeout.engineMilliseconds) / 1000))
    }

    /// Opens a suspended database again, with all that other processes have committed meanwhile. Does nothing to one that is
    /// not suspended.
    ///
    /// - Throws: ``TansuError`` with `.locked` (another process has it open; ``Options/lockTimeout`` is how long this
    ///   waits for it), `.notFound`, `.moved` (another database is there now), `.wrongKey` (another process has replaced its
    ///   key: close it, and open it with the new one), `.corrupt`, `.io`, `.full`: it stays suspended, and this can be
    ///   called again. `.closed`.
    public func resume() throws {
        try engine.resume()
    }

    /// Closes the database's files and lets go of its lock until `resume()`, so that another process can open it: as the
    /// synchronous variant does.
    ///
    /// - Parameter timeout: How long it waits for open transactions and cursors.
    /// - Throws: ``TansuError`` with `.busy` or `.memory` (nothing was done), `.io`, `.full` or `.moved`; `CancellationError`.
    public func suspend(timeout: Duration = .zero) async throws {
        // On a thread of its own: all others may be waiting for what keeps the database from being suspended.
        try await WorkQueue.ofOneJob("tansu suspend").run { _ in try self.suspend(timeout: timeout) }
    }

    /// Opens a suspended database again, as the synchronous variant does.
    ///
    /// - Throws: ``TansuError`` as the synchronous variant, or with `.memory`; `CancellationError`.
    public func resume() async throws {
        try await WorkQueue.ofOneJob("tansu resume").run { _ in try self.resume() }
    }
}
