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
struct EncoderState: @unchecked Sendable {
    // Sendable unchecked: a state passes from thread to thread only through the lock of the idle ones.
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
        /// The number of elements of an array.
        var count: Int32 = 0
        var kind = Kind.slot
        var isOpen = true
    }

    private struct Storage: ~Copyable {
        var buffer = ByteBuffer(capacity: 1024)
        var frames: [Frame] = []
        // Beside the frames, because a key is not a trivial value and would make frames expensive to move.
        var keys: [(any CodingKey)?] = []
        var top: Int32 = -1
        var topSerial: UInt32 = 0
        var lastSerial: UInt32 = 0
        var options = BSONCodingOptions()
        var failure: EncodingError?
        var idKeys = IDKeyMemory()
    }

    private let storage: UnsafeMutablePointer<Storage>

    var buffer: ByteBuffer {
        @inline(__always) _read { yield storage.pointee.buffer }
        @inline(__always) nonmutating _modify { yield &storage.pointee.buffer }
    }

    var frames: [Frame] {
        @inline(__always) _read { yield storage.pointee.frames }
        @inline(__always) nonmutating _modify { yield &storage.pointee.frames }
    }

    var top: Int32 { storage.pointee.top }
    var topSerial: UInt32 { storage.pointee.topSerial }
    var options: BSONCodingOptions {
        @inline(__always) _read { yield storage.pointee.options }
    }

    /// What went wrong where Codable has no way to throw.
    var failure: EncodingError? {
        get { storage.pointee.failure }
        nonmutating set { storage.pointee.failure = newValue }
    }

    /// Whether a key `id` of the top level is stored as `_id`.
    @inline(__always)
    func mapsID<Key: CodingKey>(_ key: Key.Type) -> Bool {
        storage.pointee.options.idMapping == .automatic && !storage.pointee.idKeys.hasOwnID(key)
    }

    // MARK: A call

    // Using states again also makes encoding a flat struct allocate nothing but its container and its result.
    private static let idle = Locked<[EncoderState]>([])

    private init() {
        storage = .allocate(capacity: 1)
        storage.initialize(to: Storage())
    }

    static func withState<Result>(
        _ options: BSONCodingOptions, _ body: (EncoderState) throws -> Result
    ) rethrows -> Result {
        let state = idle.withLock { $0.popLast() } ?? EncoderState()
        state.storage.pointee.options = options
        defer {
            state.reset()
            idle.withLock { $0.append(state) }
        }
        return try body(state)
    }

    private func reset() {
        if buffer.allocatedSize > 1 << 20 {
            storage.pointee.buffer = ByteBuffer(capacity: 1024)
        } else {
            buffer.truncate(to: 0)
        }
        storage.pointee.frames.removeAll(keepingCapacity: frames.count < 1024)
        storage.pointee.keys.removeAll(keepingCapacity: frames.count < 1024)
        storage.pointee.options = BSONCodingOptions()
        storage.pointee.failure = nil
        setTop(-1)
    }

    /// Encodes the whole value; its bytes follow the type byte at 0.
    func encodeRoot<T: Encodable>(_ value: T) throws -> BSONType {
        buffer.append(0 as UInt8)
        if let type = try writeNative(value, path: { [] }) {
            buffer.store(type.rawValue, at: 0)
        } else {
            let index = push(typeAt: 0, parent: -1, key: nil)
            try value.encode(to: BSONEncoding(state: self, place: place(index)))
            if let failure { throw failure }
            if frames[0].kind == .slot {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: [], debugDescription: "\(T.self) did not encode any value"))
            }
            try close(downTo: -1)
        }
        guard buffer.count <= Int(Int32.max) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "the document would be over 2 GiB"))
        }
        return BSONType(rawValue: buffer.bytes[0]) ?? .null
    }

    var rootBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer.bytes[1...]) }

    // MARK: Places

    /// What a handle holds: the number of a place, and a serial number that tells whether it still exists.
    struct Place {
        var index: Int32
        var serial: UInt32
    }

    func place(_ index: Int32) -> Place { Place(index: index, serial: frames[Int(index)].serial) }

    func isAlive(_ place: Place) -> Bool {
        Int(place.index) < frames.count && frames[Int(place.index)].serial == place.serial
    }

    func path(_ place: Place) -> [any CodingKey] {
        guard isAlive(place) else { return [] }
        var path: [any CodingKey] = []
        var index = place.index
        while index >= 0 {
            if let key = storage.pointee.keys[Int(index)] { path.append(key) }
            index = frames[Int(index)].parent
        }
        return path.reversed()
    }

    /// Makes the slot after a type byte and a key that were just written, and makes it the innermost place.
    func push(typeAt: Int, parent: Int32, key: (any CodingKey)?) -> Int32 {
        storage.pointee.lastSerial &+= 1
        frames.append(
            Frame(
                typeAt: typeAt, valueStart: buffer.count, parent: parent, serial: storage.pointee.lastSerial,
                depth: parent < 0 ? 1 : frames[Int(parent)].depth + 1))
        storage.pointee.keys.append(key)
        setTop(Int32(frames.count - 1))
        return top
    }

    func pop(downTo index: Int32, top newTop: Int32) {
        frames.removeSubrange(Int(index)...)
        storage.pointee.keys.removeSubrange(Int(index)...)
        setTop(newTop)
    }

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
