import Foundation
import Logging

/// Keeps what is logged, and lets tests wait for it.
final class CapturingLog: LogHandler, @unchecked Sendable {
    struct Entry: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]
    }

    // Unchecked because everything that changes is touched under the lock only.
    private let lock = NSLock()
    private var entries: [Entry] = []
    private var waiters: [(String, CheckedContinuation<Entry, Never>)] = []

    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        note(event.level, event.message, event.metadata)
    }

    private func note(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata?) {
        let entry = Entry(
            level: level, message: message.description, metadata: (metadata ?? [:]).mapValues(\.description))
        let ready = lock.withLock {
            entries.append(entry)
            defer { waiters.removeAll { $0.0 == entry.message } }
            return waiters.filter { $0.0 == entry.message }
        }
        for (_, waiter) in ready { waiter.resume(returning: entry) }
    }

    func first(_ message: String) async -> Entry {
        await withCheckedContinuation { continuation in
            let known: Entry? = lock.withLock {
                if let known = entries.first(where: { $0.message == message }) { return known }
                waiters.append((message, continuation))
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    var text: String { lock.withLock { entries.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n") } }

    /// The suggestions of the messages with a text, in their order.
    func suggestions(_ message: String) -> [String] {
        lock.withLock { entries.filter { $0.message == message }.compactMap { $0.metadata["suggestion"] } }
    }
}
