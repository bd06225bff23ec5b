/// The work of one call of an encoder: the buffer and the places in it that are still being written.
///
/// A place (``Frame``) is where one value goes. It begins as an empty slot after a type byte and a key, and becomes a
/// single value, a document or an array. The innermost open place is `top`; values are appended there. Containers and
/// encoders are handles on a place, so the one buffer is all that grows.
///
/// Codable lets callers keep several nested containers and write to them in turn. Writing to an outer container
/// closes the inner ones; writing to a closed one puts the bytes into the middle (``EncoderState/splice``).
///
/// The state is a pointer, copied freely into the handles, and not an object, because counting references and checking
/// for exclusive access at every field took longer than writing the field. It is safe because the memory it points to
/// is used again but never freed, and because every handle carries a serial number that is never used again: a handle
/// that outlives its call is refused.
struct EncoderState {
    enum Kind: UInt8 {
        case slot, single, keyed, unkeyed
    }

    struct Frame {
        /// Where the type byte is; the value begins at `valueStart`.
        var typeAt: Int
        var valueStart: Int
        var parent: Int32
        var serial: UInt32
        var depth: Int32
        /// The position of an element of an array, or -1 for what has a key or none.
        var position: Int32
        /// The number of elements of an array.
        var count: Int32 = 0
        var kind = Kind.slot
        var isOpen = true
    }

    struct Storage: ~Copyable {
        var buffer = ByteBuffer(capacity: 1024)
        var frames = Stack<Frame>()
        // Beside the frames, because a key is not a trivial value and would make frames expensive to move.
        var keys = Stack<(any CodingKey)?>()
        var top: Int32 = -1
        var topSerial: UInt32 = 0
        var lastSerial: UInt32 = 0
        var options = BSONCodingOptions()
        // Not an `EncodingError?`, because looking whether there is one took longer.
        var failure: (any Error)?
        var idKeys = IDKeyMemory()
        var types = TypeMemory<any BSONWritable.Type>()
    }

    let storage: UnsafeMutablePointer<Storage>

    var buffer: ByteBuffer {
        @inline(__always) _read { yield storage.pointee.buffer }
        @inline(__always) nonmutating _modify { yield &storage.pointee.buffer }
    }

    var frames: Stack<Frame> {
        @inline(__always) _read { yield storage.pointee.frames }
        @inline(__always) nonmutating _modify { yield &storage.pointee.frames }
    }

    var top: Int32 { storage.pointee.top }
    var topSerial: UInt32 { storage.pointee.topSerial }
    var options: BSONCodingOptions {
        @inline(__always) _read { yield storage.pointee.options }
    }

    /// What went wrong where Codable has no way to throw.
    var failure: (any Error)? {
        get { storage.pointee.failure }
        nonmutating set { storage.pointee.failure = newValue }
    }

    // MARK: A call

    /// Calls a closure with a state for a value.
    @inline(__always)
    static func withState<Result>(
        _ options: borrowing BSONCodingOptions, _ body: (EncoderState) throws -> Result
    ) rethrows -> Result {
        let slots = ThreadCache.slots
        let state = EncoderState(storage: take(slots))
        state.storage.pointee.options = copy options
        defer { state.giveBack(slots) }
        return try body(state)
    }

    @inline(__always)
    private static func take(_ slots: UnsafeMutablePointer<ThreadCache.Slots>?) -> UnsafeMutablePointer<Storage> {
        if let slots, let memory = slots.pointee.encoder {
            slots.pointee.encoder = nil
            return memory.assumingMemoryBound(to: Storage.self)
        }
        return make()
    }

    @inline(never)
    private static func make() -> UnsafeMutablePointer<Storage> {
        if let memory = ThreadCache.orphans.withLock({ $0.encoders.popLast() }) {
            return memory.assumingMemoryBound(to: Storage.self)
        }
        let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
        storage.initialize(to: Storage())
        return storage
    }

    private func giveBack(_ slots: UnsafeMutablePointer<ThreadCache.Slots>?) {
        if buffer.allocatedSize > 1 << 20 {
            storage.pointee.buffer = ByteBuffer(capacity: 1024)
        } else {
            buffer.truncate(to: 0)
        }
        frames.removeAll(from: 0)
        storage.pointee.keys.removeAll(from: 0)
        if options.holdsReferences { storage.pointee.options = BSONCodingOptions() }
        failure = nil
        setTop(-1)
        if let slots, slots.pointee.encoder == nil {
            slots.pointee.encoder = UnsafeMutableRawPointer(storage)
        } else {
            ThreadCache.orphans.withLock { $0.encoders.append(UnsafeMutableRawPointer(storage)) }
        }
    }

    /// Encodes the whole value; its bytes follow the type byte at 0.
    @inline(__always)
    func encodeRoot<T: Encodable>(_ value: T) throws -> BSONType {
        buffer.append(0 as UInt8)
        let kind = kind(T.self)
        switch kind {
        case .foreign:
            let index = push(typeAt: 0, parent: -1, key: nil)
            try value.encode(to: BSONEncoding(state: self, place: place(index)))
            if let failure { throw failure }
            guard frames[0].kind != .slot else { throw nothing(T.self) }
            try close(downTo: -1)
        case .direct:
            _ = push(typeAt: 0, parent: -1, key: nil)
            try writeDirect(value, 0)
        default:
            do {
                buffer.store(try writeNative(value, kind).rawValue, at: 0)
            } catch {
                throw failure(error, value, [])
            }
        }
        guard buffer.count <= Int(Int32.max) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "the document would be over 2 GiB"))
        }
        return BSONType(rawValue: buffer.bytes[0]) ?? .null
    }

    private func nothing(_ type: Any.Type) -> EncodingError {
        .invalidValue(type, .init(codingPath: [], debugDescription: "\(type) did not encode any value"))
    }

    var rootBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer.bytes[1...]) }

    // MARK: Places

    /// What a handle holds: the number of a place, and a serial number that tells whether it still exists.
    struct Place {
        var index: Int32
        var serial: UInt32
    }

    @inline(__always)
    func place(_ index: Int32) -> Place { Place(index: index, serial: frames[Int(index)].serial) }

    @inline(__always)
    func isAlive(_ place: Place) -> Bool {
        Int(place.index) < frames.count && frames[Int(place.index)].serial == place.serial
    }

    func path(_ place: Place) -> [any CodingKey] {
        guard isAlive(place) else { return [] }
        var path: [any CodingKey] = []
        var index = place.index
        while index >= 0 {
            let frame = frames[Int(index)]
            if frame.position >= 0 {
                path.append(BSONCodingKey(intValue: Int(frame.position)))
            } else if let key = storage.pointee.keys[Int(index)] {
                path.append(key)
            }
            index = frame.parent
        }
        return path.reversed()
    }

    /// Makes the slot after a type byte and a key that were just written, and makes it the innermost place.
    ///
    /// - Parameter position: The position of an element of an array, which has no key, or -1.
    @inline(__always)
    func push(typeAt: Int, parent: Int32, key: (any CodingKey)?, position: Int32 = -1) -> Int32 {
        storage.pointee.lastSerial &+= 1
        frames.append(
            Frame(
                typeAt: typeAt, valueStart: buffer.count, parent: parent, serial: storage.pointee.lastSerial,
                depth: parent < 0 ? 1 : frames[Int(parent)].depth &+ 1, position: position))
        storage.pointee.keys.append(key)
        setTop(Int32(truncatingIfNeeded: frames.count &- 1))
        return top
    }

    func pop(downTo index: Int32, top newTop: Int32) {
        frames.removeAll(from: Int(index))
        storage.pointee.keys.removeAll(from: Int(index))
        setTop(newTop)
    }

    @inline(__always)
    func setTop(_ index: Int32) {
        storage.pointee.top = index
        storage.pointee.topSerial = index < 0 ? 0 : frames[Int(index)].serial
    }

    /// Closes the open places inside one, so that it is the innermost.
    func close(downTo index: Int32) throws {
        while top != index {
            guard top >= 0 else { throw finished([]) }
            closeTop()
        }
    }

    func closeTop() {
        let index = Int(top)
        let frame = frames[index]
        switch frame.kind {
        case .slot:
            // Nothing was encoded, which Foundation's encoders too store as an empty object.
            buffer.store(BSONType.document.rawValue, at: frame.typeAt)
            buffer.closeDocument(at: buffer.openDocument())
        case .single:
            break
        case .keyed, .unkeyed:
            buffer.closeDocument(at: frame.valueStart)
        }
        frames[index].isOpen = false
        setTop(frame.parent)
    }

    func finished(_ path: [any CodingKey]) -> EncodingError {
        .invalidValue(
            "", .init(codingPath: path, debugDescription: "the container was used after its value was complete"))
    }
}
