import Foundation
#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

/// Wakes the tasks that wait for commits, with one thread for all of a database.
///
/// The thread runs while feeds are open, and waits inside the engine. Without waiters a commit costs nothing.
///
/// `@unchecked Sendable`: everything that changes is touched under `condition` only.
final class CommitSignal: @unchecked Sendable {
    /// A feed that a thread of its own waits on.
    private final class Waiting: @unchecked Sendable {
        let feed: OpaquePointer

        init(_ feed: OpaquePointer) {
            self.feed = feed
        }
    }

    private let startThread: WorkQueue.ThreadStart
    private let condition = NSCondition()
    private var users = 0
    private var waiting: Waiting?
    /// Threads that have not closed their feed yet.
    private var threads = 0
    /// How often the waiters were woken, by a commit or by the end of the thread.
    private var wakes: UInt64 = 0
    private var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var cancelledTickets: Set<UInt64> = []
    private var lastTicket: UInt64 = 0

    /// - Parameter startThread: Starts the thread.
    init(startThread: @escaping WorkQueue.ThreadStart = WorkerThread.start) {
        self.startThread = startThread
    }

    /// Counts one more feed.
    func retain() {
        condition.withLock { users += 1 }
    }

    /// Counts one feed less; the thread ends with the last.
    func release() {
        condition.withLock {
            users -= 1
            if users == 0 { endWaiting() }
        }
    }

    /// Ends the thread, waits until it has ended, and wakes all waiters.
    func stop() {
        condition.lock()
        endWaiting()
        while threads > 0 { condition.wait() }
        condition.unlock()
        wake()
    }

    /// A mark for `wait(after:)`, which every later commit ends, and resuming the database where it is suspended.
    func mark(_ engine: EngineDatabase) throws -> UInt64 {
        try condition.withLock {
            if waiting == nil { try beginWaiting(engine) }
            return wakes
        }
    }

    /// Suspends the task until there was a commit after the mark, or the task is cancelled.
    func wait(after mark: UInt64) async {
        let ticket = condition.withLock {
            lastTicket += 1
            return lastTicket
        }
        defer { condition.withLock { _ = cancelledTickets.remove(ticket) } }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = condition.withLock {
                    if wakes != mark || cancelledTickets.contains(ticket) { return true }
                    waiters[ticket] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = condition.withLock {
                cancelledTickets.insert(ticket)
                return waiters.removeValue(forKey: ticket)
            }
            waiter?.resume()
        }
    }

    /// How many tasks wait.
    var waitingTasks: Int { condition.withLock { waiters.count } }

    /// Whether a thread or its feed is left.
    var isIdle: Bool { condition.withLock { threads == 0 } }

    /// Wakes all waiters.
    func wake() {
        let woken = condition.withLock {
            wakes += 1
            defer { waiters.removeAll() }
            return waiters.values.map { $0 }
        }
        for waiter in woken { waiter.resume() }
    }

    /// Under the lock. Nothing is done while the database is suspended.
    private func beginWaiting(_ engine: EngineDatabase) throws {
        var feed: OpaquePointer?
        try engine.callUnlessSuspended { database in
            _ = try engineCall { tansu_feed_open(database, UInt64.max, tansu_document(), &feed, $0) }
            // Within the call, so that closing the database waits for the thread.
            threads += 1
        }
        guard let feed else { return }
        let waiting = Waiting(feed)
        do {
            try startThread("tansu commits") { [self] in
                while tansu_feed_skip(waiting.feed, -1, nil, nil) == TANSU_OK { wake() }
                end(waiting)
            }
        } catch {
            tansu_feed_close(feed)
            threads -= 1
            throw error
        }
        self.waiting = waiting
    }

    /// Under the lock.
    private func endWaiting() {
        if let waiting { tansu_feed_cancel(waiting.feed) }
        waiting = nil
    }

    private func end(_ waiting: Waiting) {
        condition.withLock {
            if self.waiting === waiting { self.waiting = nil }
            tansu_feed_close(waiting.feed)
            threads -= 1
            condition.broadcast()
        }
        wake()
    }
}
