/// The work of one call of a decoder: the bytes, read in place, and the places that are being decoded.
///
/// A pointer that handles copy, for the reasons and with the safety of ``EncoderState``. After the call the bytes are
/// gone from it, so that no handle can read them.
struct DecoderState {
    /// Where a value lies.
    struct Value {
        /// The type byte, which need not be one that BSON knows.
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
        /// Where the search for the next key begins: after the field that was found last.
        var cursor: Int
        var parent: Int32
        var serial: UInt32
        var depth: Int32
        /// The position of an element of an array, or -1 for what has a key or none.
        var position: Int32
    }

    /// What a handle holds: the number of a frame, and a serial number that tells whether it still exists.
    struct Place {
        var index: Int32
        var serial: UInt32
    }

    struct Storage: ~Copyable {
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        var options = BSONCodingOptions()
        var frames = Stack<Frame>()
        // Beside the frames, because a key is not a trivial value and would make frames expensive to move.
        var keys = Stack<(any CodingKey)?>()
        var lastSerial: UInt32 = 0
        var idKeys = IDKeyMemory()
        var types = TypeMemory<any BSONReadable.Type>()
        /// Memory for values that are read by ``BSONReadable``, one behind another.
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

    /// Calls a closure with a state for some bytes.
    @inline(__always)
    static func withState<Result>(
        _ bytes: UnsafeRawBufferPointer, _ options: borrowing BSONCodingOptions,
        _ body: (DecoderState) throws -> Result
    ) rethrows -> Result {
        let slots = ThreadCache.slots
        let state = DecoderState(storage: take(slots))
        state.storage.pointee.bytes = bytes
        state.storage.pointee.options = copy options
        defer { state.giveBack(slots) }
        return try body(state)
    }

    @inline(__always)
    private static func take(_ slots: UnsafeMutablePointer<ThreadCache.Slots>?) -> UnsafeMutablePointer<Storage> {
        if let slots, let memory = slots.pointee.decoder {
            slots.pointee.decoder = nil
            return memory.assumingMemoryBound(to: Storage.self)
        }
        return make()
    }

    @inline(never)
    private static func make() -> UnsafeMutablePointer<Storage> {
        if let memory = ThreadCache.orphans.withLock({ $0.decoders.popLast() }) {
            return memory.assumingMemoryBound(to: Storage.self)
        }
        let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
        storage.initialize(to: Storage())
        return storage
    }

    private func giveBack(_ slots: UnsafeMutablePointer<ThreadCache.Slots>?) {
        storage.pointee.bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        storage.pointee.frames.removeAll(from: 0)
        storage.pointee.keys.removeAll(from: 0)
        if options.holdsReferences { storage.pointee.options = BSONCodingOptions() }
        if let slots, slots.pointee.decoder == nil {
            slots.pointee.decoder = UnsafeMutableRawPointer(storage)
        } else {
            ThreadCache.orphans.withLock { $0.decoders.append(UnsafeMutableRawPointer(storage)) }
        }
    }

    // MARK: Places

    /// Makes the place of a value.
    ///
    /// - Parameter position: The position of an element of an array, which has no key, or -1.
    @inline(__always)
    func push(_ value: Value, parent: Int32, key: (any CodingKey)?, position: Int32 = -1) -> Place {
        storage.pointee.lastSerial &+= 1
        let index = Int32(truncatingIfNeeded: storage.pointee.frames.count)
        storage.pointee.frames.append(
            Frame(
                value: value, cursor: value.start &+ 4, parent: parent, serial: storage.pointee.lastSerial,
                depth: parent < 0 ? 1 : storage.pointee.frames[Int(parent)].depth &+ 1, position: position))
        storage.pointee.keys.append(key)
        return Place(index: index, serial: storage.pointee.lastSerial)
    }

    @inline(__always)
    func pop(downTo place: Place) {
        guard Int(place.index) < storage.pointee.frames.count else { return }
        storage.pointee.frames.removeAll(from: Int(place.index))
        storage.pointee.keys.removeAll(from: Int(place.index))
    }

    @inline(__always)
    func isAlive(_ place: Place) -> Bool {
        Int(place.index) < storage.pointee.frames.count
            && storage.pointee.frames[Int(place.index)].serial == place.serial
    }

    @inline(__always)
    func check(_ place: Place) throws {
        guard isAlive(place) else { throw finished() }
    }

    private func finished() -> DecodingError {
        .dataCorrupted(
            .init(codingPath: [], debugDescription: "the container was used after its value was complete"))
    }

    func path(_ place: Place) -> [any CodingKey] {
        guard isAlive(place) else { return [] }
        var path: [any CodingKey] = []
        var index = place.index
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
    func value(_ place: Place) throws -> Value {
        try check(place)
        return storage.pointee.frames[Int(place.index)].value
    }

    /// Checks that a place holds a document or an array, before a container reads from it.
    @inline(__always)
    func open(_ place: Place, as type: BSONType) throws -> Value {
        let value = try value(place)
        guard value.isOf(type), storage.pointee.frames[Int(place.index)].depth <= BSONDocument.maximumDepth else {
            throw unopenable(place, value, type)
        }
        return value
    }

    @inline(never)
    private func unopenable(_ place: Place, _ value: Value, _ type: BSONType) -> DecodingError {
        let target: Any.Type = type == .array ? [Any].self : [String: Any].self
        guard value.isOf(type) else { return failure(.mismatch(target), value, path(place)) }
        return .dataCorrupted(
            .init(
                codingPath: path(place),
                debugDescription: "values are nested over \(BSONDocument.maximumDepth) deep"))
    }
}
