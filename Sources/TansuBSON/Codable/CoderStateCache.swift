import Foundation

/// A cache of the states of encoders and decoders between calls.
///
/// Creating a state costs more than encoding a small value with it, and so does a lock around a list of states. Each
/// thread therefore keeps the states that it used last. The states of threads that ended and of nested calls go to a
/// list for all threads. States are reused and never freed, so a stale handle never points to freed memory.
enum CoderStateCache {
    /// The states of one thread. A pointer is nil while its state is in use.
    struct Slots {
        var encoder: UnsafeMutableRawPointer?
        var decoder: UnsafeMutableRawPointer?
    }

    /// The states that no thread owns.
    struct SharedStates: @unchecked Sendable {
        // Unchecked because the compiler cannot see that a pointer taken out of the list has a single owner.
        var encoders: [UnsafeMutableRawPointer] = []
        var decoders: [UnsafeMutableRawPointer] = []
    }

    static let shared = Locked(SharedStates())

    /// The thread-specific key of the slots, or nil when the system has no more keys.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, { CoderStateCache.threadDidEnd($0) }) == 0 ? key : nil
    }()

    private static func threadDidEnd(_ memory: UnsafeMutableRawPointer?) {
        guard let slots = memory?.assumingMemoryBound(to: Slots.self) else { return }
        let (encoder, decoder) = (slots.pointee.encoder, slots.pointee.decoder)
        shared.withLock { shared in
            if let encoder { shared.encoders.append(encoder) }
            if let decoder { shared.decoders.append(decoder) }
        }
        slots.deallocate()
    }

    /// The slots of the calling thread.
    @inline(__always)
    static var slots: UnsafeMutablePointer<Slots>? {
        guard let key else { return nil }
        if let memory = pthread_getspecific(key) { return memory.assumingMemoryBound(to: Slots.self) }
        return makeSlots(key)
    }

    @inline(never)
    private static func makeSlots(_ key: pthread_key_t) -> UnsafeMutablePointer<Slots>? {
        let slots = UnsafeMutablePointer<Slots>.allocate(capacity: 1)
        slots.initialize(to: Slots())
        guard pthread_setspecific(key, slots) == 0 else {
            slots.deallocate()
            return nil
        }
        return slots
    }
}
