import Foundation

/// What jobs on several threads did.
///
/// `@unchecked Sendable`: everything that changes is accessed under the lock only.
final class JobLog: @unchecked Sendable {
    private let lock = NSLock()
    private var storedLines: [String] = []
    private var inside = 0
    private var mostInside = 0
    private var allEntries = 0

    var lines: [String] { lock.withLock { storedLines } }
    var highest: Int { lock.withLock { mostInside } }
    var entries: Int { lock.withLock { allEntries } }

    func append(_ line: String) {
        lock.withLock { storedLines.append(line) }
    }

    func enter() {
        lock.withLock {
            inside += 1
            allEntries += 1
            mostInside = max(mostInside, inside)
        }
    }

    func leave() {
        lock.withLock { inside -= 1 }
    }
}
