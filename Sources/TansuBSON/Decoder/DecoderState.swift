/// The state of one call of a decoder: the bytes, and the frames of the values that are being decoded.
///
/// It is a pointer for the same reasons as ``EncoderState``. The bytes are cleared after the call, so that no handle
/// can read them later.
struct DecoderState {
    /// The location of a value.
    struct Value {
        /// The type byte. It may be a byte that BSON does not define.
        var code: UInt8
        var start: Int
        var end: Int

        var type: BSONType { BSONType(rawValue: code) ?? .undefined }

        @inline(__always)
        func isOf(_ type: BSONType) -> Bool { code == type.rawValue }
    }

    /// A value that a decoder or a container reads from.
    struct Frame {
        var value: Value
        /// The offset at which the search for the next key begins: after the field that was found last.
        var cursor: Int
        var parent: Int32
        var serial: UInt32
        var depth: Int32
        /// The position of an array element, or -1 for all other values.
        var position: Int32
    }

    /// A reference to a frame: its index, and its serial number to detect that the frame no longer exists.
    struct Handle {
        var index: Int32
        var serial: UInt32
    }

    struct Storage: ~Copyable {
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        var options = BSONCodingOptions()
        var frames = Stack<Frame>()
        // Not part of the frames, because a key is not a trivial type and would make frames expensive to move.
        var keys = Stack<(any CodingKey)?>()
        var lastSerial: UInt32 = 0
        var idKeys = IDKeyCache()
        var types = TypeKindCache<any BSONReadable.Type>()
        /// Memory in which ``BSONReadable`` values are created, nested values after the values that contain them.
        let scratch = UnsafeMutableRawPointer.allocate(byteCount: scratchSize, alignment: scratchAlignment)
        var scratchUsed = 0

        static let scratchSize = 4096
        static let scratchAlignment = 16
    }

    let storage: UnsafeMutablePointer<Storage>

    var bytes: UnsafeRawBufferPointer {
        @inline(__always) get { storage.pointee.bytes }
    }

    var options: BSONCodingOptions {
        @inline(__always) _read { yield storage.pointee.options }
    }

    // MARK: A call

    /// Calls a closure with a state for the given bytes.
    @inline(__always)
    static func withState<Result>(
        _ bytes: UnsafeRawBufferPointer, _ options: borrowing BSONCodingOptions,
        _ body: (DecoderState) throws -> Result
    ) rethrows -> Result {
        let slots = CoderStateCache.slots
        let state = DecoderState(storage: acquire(slots))
        state.storage.pointee.bytes = bytes
        state.storage.pointee.options = copy options
        defer { state.release(slots) }
        return try body(state)
    }

    @inline(__always)
    private static func acquire(_ slots: UnsafeMutablePointer<CoderStateCache.Slots>?) -> UnsafeMutablePointer<Storage>
    {
        if let slots, let memory = slots.pointee.decoder {
            slots.pointee.decoder = nil
            return memory.assumingMemoryBound(to: Storage.self)
        }
        return make()
    }

    @inline(never)
    private static func make() -> UnsafeMutablePointer<Storage> {
        if let memory = CoderStateCache.shared.withLock({ $0.decoders.popLast() }) {
            return memory.assumingMemoryBound(to: Storage.self)
        }
        let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
        storage.initialize(to: Storage())
        return storage
    }

    private func release(_ slots: UnsafeMutablePointer<CoderStateCache.Slots>?) {
        storage.pointee.bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        storage.pointee.frames.removeAll(from: 0)
        storage.pointee.keys.removeAll(from: 0)
        if options.holdsReferences { storage.pointee.options = BSONCodingOptions() }
        if let slots, slots.pointee.decoder == nil {
            slots.pointee.decoder = UnsafeMutableRawPointer(storage)
        } else {
            CoderStateCache.shared.withLock { $0.decoders.append(UnsafeMutableRawPointer(storage)) }
        }
    }

    // MARK: Frames

    /// Pushes the frame of a value.
    ///
    /// - Parameter position: The position of an array element, which has no key, or -1.
    @inline(__always)
    func push(_ value: Value, parent: Int32, key: (any CodingKey)?, position: Int32 = -1) -> Handle {
        storage.pointee.lastSerial &+= 1
        let index = Int32(truncatingIfNeeded: storage.pointee.frames.count)
        storage.pointee.frames.append(
            Frame(
                value: value, cursor: value.start &+ 4, parent: parent, serial: storage.pointee.lastSerial,
                depth: parent < 0 ? 1 : storage.pointee.frames[Int(parent)].depth &+ 1, position: position))
        storage.pointee.keys.append(key)
        return Handle(index: index, serial: storage.pointee.lastSerial)
    }

    @inline(__always)
    func pop(downTo handle: Handle) {
        guard Int(handle.index) < storage.pointee.frames.count else { return }
        storage.pointee.frames.removeAll(from: Int(handle.index))
        storage.pointee.keys.removeAll(from: Int(handle.index))
    }

    @inline(__always)
    func isValid(_ handle: Handle) -> Bool {
        Int(handle.index) < storage.pointee.frames.count
            && storage.pointee.frames[Int(handle.index)].serial == handle.serial
    }

    @inline(__always)
    func check(_ handle: Handle) throws {
        guard isValid(handle) else { throw containerClosed() }
    }

    private func containerClosed() -> DecodingError {
        .dataCorrupted(
            .init(codingPath: [], debugDescription: "The container was used after its value was complete"))
    }

    func path(_ handle: Handle) -> [any CodingKey] {
        guard isValid(handle) else { return [] }
        var path: [any CodingKey] = []
        var index = handle.index
        while index >= 0 {
            let frame = storage.pointee.frames[Int(index)]
            if frame.position >= 0 {
                path.append(BSONCodingKey(intValue: Int(frame.position)))
            } else if let key = storage.pointee.keys[Int(index)] {
                path.append(key)
            }
            index = frame.parent
        }
        return path.reversed()
    }

    @inline(__always)
    func value(_ handle: Handle) throws -> Value {
        try check(handle)
        return storage.pointee.frames[Int(handle.index)].value
    }

    /// Checks that the value of a frame is a document or an array, before a container reads from it.
    @inline(__always)
    func open(_ handle: Handle, as type: BSONType) throws -> Value {
        let value = try value(handle)
        guard value.isOf(type), storage.pointee.frames[Int(handle.index)].depth <= BSONDocument.maximumDepth else {
            throw unopenable(handle, value, type)
        }
        return value
    }

    @inline(never)
    private func unopenable(_ handle: Handle, _ value: Value, _ type: BSONType) -> DecodingError {
        let target: Any.Type = type == .array ? [Any].self : [String: Any].self
        guard value.isOf(type) else { return failure(.mismatch(target), value, path(handle)) }
        return .dataCorrupted(
            .init(
                codingPath: path(handle),
                debugDescription: "Values are nested deeper than \(BSONDocument.maximumDepth) levels"))
    }
}
