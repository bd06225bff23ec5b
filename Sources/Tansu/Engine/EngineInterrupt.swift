import CTansu
import Foundation

/// Asks the engine, from any thread, to stop what goes on in a handle, and never after the handle was freed.
///
/// `@unchecked Sendable`: the handle is touched under the lock only. It is a lock of its own, held for an instant:
/// that of the cursor or transaction is held by the very call that is to be stopped.
final class EngineInterrupt: @unchecked Sendable {
    private let lock = NSLock()
    private let cancel: @Sendable (OpaquePointer?) -> Void
    private var handle: OpaquePointer?

    /// - Parameter cancel: The engine's call for this kind of handle.
    init(_ cancel: @escaping @Sendable (OpaquePointer?) -> Void) {
        self.cancel = cancel
    }

    /// From now on the handle can be stopped.
    func begin(_ handle: OpaquePointer?) {
        lock.withLock { self.handle = handle }
    }

    /// From now on it cannot: to be called before the handle is freed.
    func end() {
        lock.withLock { handle = nil }
    }

    /// Stops the handle for good. Harmless when there is none.
    func ask() {
        lock.withLock { cancel(handle) }
    }
}
