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

/// A stack of values, for the frames of an encoder or a decoder.
///
/// It replaces `Array` because the uniqueness checks of `Array` take longer than what the coders do with an element.
/// Every access is checked against the bounds.
struct Stack<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 32) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    @inline(__always)
    mutating func append(_ element: consuming Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
        count &+= 1
    }

    @inline(never)
    private mutating func grow() {
        let fresh = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        fresh.moveInitialize(from: base, count: count)
        base.deallocate()
        base = fresh
        capacity *= 2
    }

    @inline(__always)
    subscript(index: Int) -> Element {
        _read {
            precondition(index >= 0 && index < count)
            yield base[index]
        }
        _modify {
            precondition(index >= 0 && index < count)
            yield &base[index]
        }
    }

    /// Removes the element at an index and all that follow.
    @inline(__always)
    mutating func removeAll(from index: Int) {
        precondition(index >= 0 && index <= count)
        (base + index).deinitialize(count: count &- index)
        count = index
    }
}

/// A cache of whether a coding key type has a key `_id`, for the type that was looked up last.
///
/// The lookup takes longer than encoding a field, and most encoders see the same type repeatedly.
struct IDKeyCache {
    private var type: ObjectIdentifier?
    private var hasOwnID = false

    @inline(__always)
    mutating func hasOwnID<Key: CodingKey>(_ key: Key.Type) -> Bool {
        if type != ObjectIdentifier(key) {
            type = ObjectIdentifier(key)
            hasOwnID = Self.find(key)
        }
        return hasOwnID
    }

    // Not inlined, because a generic function that handles an optional key looks that type up whenever it is called.
    @inline(never)
    private static func find<Key: CodingKey>(_ key: Key.Type) -> Bool { Key(stringValue: "_id") != nil }
}

/// A coding key of any text or of the position of an array element.
struct BSONCodingKey: CodingKey {
    // Three words, so that a key fits into an existential without an allocation.
    private let text: String
    private let number: Int
    private static let none = Int.min

    static let superclass = BSONCodingKey(stringValue: "super")

    init(stringValue: String) {
        text = stringValue
        number = Self.none
    }

    init(intValue: Int) {
        text = ""
        number = intValue
    }

    var stringValue: String { number == Self.none ? text : "Index \(number)" }
    var intValue: Int? { number == Self.none ? nil : number }
}

#if compiler(>=6.2)
/// What a protocol inherits whose conformances are looked up at run time, on any thread: types conform without
/// belonging to an actor, in modules that are isolated to the main actor too.
public typealias AnyIsolation = SendableMetatype
#else
/// What a protocol inherits whose conformances are looked up at run time, on any thread: Swift 6.1 has no other ones.
public typealias AnyIsolation = Any
#endif
