import Foundation

/// A value that is protected by a lock.
///
/// The standard library's `Mutex` needs a newer system than this package asks for.
package final class Locked<Value>: @unchecked Sendable {
    // Unchecked because the compiler cannot see that `value` is only reached while `lock` is held.
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
