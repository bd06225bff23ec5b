import Foundation

/// The states of coders that wait for the next call.
///
/// Making a state costs more than encoding a small value with it, and so does a lock around a list of them. So a thread
/// keeps the states that it used last. Those that are left when a thread ends, and those of calls inside calls, wait in
/// a list for any thread. They are used again and never freed, which keeps stale handles harmless.
enum ThreadCache {
    /// A thread's own states; a pointer is nil while its state is in use.
    struct Slots {
        var encoder: UnsafeMutableRawPointer?
        var decoder: UnsafeMutableRawPointer?
    }

    /// States that belong to no thread.
    struct Orphans: @unchecked Sendable {
        // Unchecked because the compiler cannot see that whoever takes a pointer out is the only one to have it.
        var encoders: [UnsafeMutableRawPointer] = []
        var decoders: [UnsafeMutableRawPointer] = []
    }

    static let orphans = Locked(Orphans())

    /// The system's key for the thread's slots, or nil when it has no more of them.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, { ThreadCache.threadEnds($0) }) == 0 ? key : nil
    }()

    private static func threadEnds(_ memory: UnsafeMutableRawPointer?) {
        guard let slots = memory?.assumingMemoryBound(to: Slots.self) else { return }
        let (encoder, decoder) = (slots.pointee.encoder, slots.pointee.decoder)
        orphans.withLock { orphans in
            if let encoder { orphans.encoders.append(encoder) }
            if let decoder { orphans.decoders.append(decoder) }
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
