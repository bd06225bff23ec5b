import CTansu
import Foundation

/// Cancels the running call on a handle of the engine, from any thread, and never after the handle was freed.
///
/// `@unchecked Sendable`: the handle is accessed under the lock only. It is a lock of its own, held briefly: that of
/// the cursor or transaction is held by the call that is to be cancelled.
final class EngineInterrupt: @unchecked Sendable {
    private let lock = NSLock()
    private let cancel: @Sendable (OpaquePointer?) -> Void
    private var handle: OpaquePointer?
    private var isRequested = false

    /// - Parameter cancel: The engine's call for this kind of handle.
    init(_ cancel: @escaping @Sendable (OpaquePointer?) -> Void) {
        self.cancel = cancel
    }

    /// From now on the handle can be cancelled.
    func begin(_ handle: OpaquePointer?) {
        lock.withLock { self.handle = handle }
    }

    /// From now on it cannot; called before the handle is freed.
    func end() {
        lock.withLock { handle = nil }
    }

    /// Cancels the handle; does nothing when there is none.
    func request() {
        lock.withLock {
            isRequested = true
            cancel(handle)
        }
    }

    /// Whether it was ever cancelled.
    var wasRequested: Bool { lock.withLock { isRequested } }
}
