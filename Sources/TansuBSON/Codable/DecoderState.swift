/// The work of one call of a decoder: the bytes, read in place, and the places that are being decoded.
///
/// A pointer that handles copy, for the reasons and with the safety of ``EncoderState``. After the call the bytes are
/// gone from it, so that no handle can read them.
struct DecoderState: @unchecked Sendable {
    // Sendable unchecked: a state passes from thread to thread only through the lock of the idle ones.
    /// Where a value lies.
    struct Value {
        var type: BSONType
        var start: Int
        var end: Int
    }

    /// A value that a decoder or a container reads from.
    struct Frame {
        var value: Value
        /// Where the search for the next key begins: after the field that was found last.
        var cursor: Int
        var parent: Int32
        var serial: UInt32
        var depth: Int32
    }

    /// What a handle holds: the number of a frame, and a serial number that tells whether it still exists.
    struct Place {
        var index: Int32
        var serial: UInt32
    }

    private struct Storage {
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        var options = BSONCodingOptions()
        var frames: [Frame] = []
        // Beside the frames, because a key is not a trivial value and would make frames expensive to move.
        var keys: [(any CodingKey)?] = []
        var lastSerial: UInt32 = 0
        var idKeys = IDKeyMemory()
    }

    private let storage: UnsafeMutablePointer<Storage>

    var bytes: UnsafeRawBufferPointer {
        @inline(__always) get { storage.pointee.bytes }
    }

    var options: BSONCodingOptions {
        @inline(__always) _read { yield storage.pointee.options }
    }

    var frames: [Frame] {
        @inline(__always) _read { yield storage.pointee.frames }
        @inline(__always) nonmutating _modify { yield &storage.pointee.frames }
    }

    /// Whether a key `id` of the top level is read from `_id`.
    @inline(__always)
    func mapsID<Key: CodingKey>(_ key: Key.Type) -> Bool {
        storage.pointee.options.idMapping == .automatic && !storage.pointee.idKeys.hasOwnID(key)
    }

    // MARK: A call

    private static let idle = Locked<[DecoderState]>([])

    private init() {
        storage = .allocate(capacity: 1)
        storage.initialize(to: Storage())
    }

    static func withState<Result>(
        _ bytes: UnsafeRawBufferPointer, _ options: BSONCodingOptions, _ body: (DecoderState) throws -> Result
    ) rethrows -> Result {
        let state = idle.withLock { $0.popLast() } ?? DecoderState()
        state.storage.pointee.bytes = bytes
        state.storage.pointee.options = options
        defer {
            state.reset()
            idle.withLock { $0.append(state) }
        }
        return try body(state)
    }

    private func reset() {
        storage.pointee.bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        storage.pointee.options = BSONCodingOptions()
        storage.pointee.frames.removeAll(keepingCapacity: frames.count < 1024)
        storage.pointee.keys.removeAll(keepingCapacity: frames.count < 1024)
    }

    // MARK: Places

    func push(_ value: Value, parent: Int32, key: (any CodingKey)?) -> Place {
        storage.pointee.lastSerial &+= 1
        frames.append(
            Frame(
                value: value, cursor: value.start + 4, parent: parent, serial: storage.pointee.lastSerial,
                depth: parent < 0 ? 1 : frames[Int(parent)].depth + 1))
        storage.pointee.keys.append(key)
        return Place(index: Int32(frames.count - 1), serial: storage.pointee.lastSerial)
    }

    func pop(downTo place: Place) {
        guard Int(place.index) < frames.count else { return }
        frames.removeSubrange(Int(place.index)...)
        storage.pointee.keys.removeSubrange(Int(place.index)...)
    }

    @inline(__always)
    func check(_ place: Place) throws {
        guard Int(place.index) < frames.count, frames[Int(place.index)].serial == place.serial else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "the container was used after its value was complete"))
        }
    }

    func path(_ place: Place) -> [any CodingKey] {
        guard Int(place.index) < frames.count, frames[Int(place.index)].serial == place.serial else { return [] }
        var path: [any CodingKey] = []
        var index = place.index
        while index >= 0 {
            if let key = storage.pointee.keys[Int(index)] { path.append(key) }
            index = frames[Int(index)].parent
        }
        return path.reversed()
    }

    func value(_ place: Place) throws -> Value {
        try check(place)
        return frames[Int(place.index)].value
    }

    /// Checks that a place holds a document or an array, before a container reads from it.
    func open(_ place: Place, as type: BSONType, _ target: Any.Type) throws -> Value {
        let value = try value(place)
        guard value.type == type else {
            throw mismatch(target, value, path(place))
        }
        guard frames[Int(place.index)].depth <= BSONDocument.maximumDepth else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: path(place),
                    debugDescription: "values are nested over \(BSONDocument.maximumDepth) deep"))
        }
        return value
    }

    // MARK: Finding fields

    /// The field with a key of the document at a place: searched from the last one found to the end, then from the
    /// front, so that reading the fields in their stored order looks at each of them once.
    @inline(__always)
    func find<Key: CodingKey>(_ place: Place, _ key: Key) throws -> Value? {
        try check(place)
        let name = key.stringValue
        if place.index == 0, name.utf8.count == 2, name == "id", mapsID(Key.self),
            let value = search(place, "_id")
        {
            return value
        }
        return search(place, name)
    }

    @inline(__always)
    private func search(_ place: Place, _ name: String) -> Value? {
        let index = Int(place.index)
        let end = frames[index].value.end &- 1
        let start = frames[index].cursor
        var name = name
        let found = name.withUTF8 { wanted in
            next(wanted, at: start, within: end)
                ?? scan(wanted, from: start, to: end, within: end)
                ?? scan(wanted, from: frames[index].value.start &+ 4, to: start, within: end)
        }
        guard let found else { return nil }
        frames[index].cursor = found.end
        return found
    }

    /// The element at an offset, when it has a key: the common case, for which the key need not be measured.
    @inline(__always)
    private func next(_ wanted: UnsafeBufferPointer<UInt8>, at offset: Int, within end: Int) -> Value? {
        let bytes = bytes
        let keyEnd = offset &+ 1 &+ wanted.count
        guard keyEnd < end, bytes[keyEnd] == 0, bytes.hasBytes(wanted, at: offset &+ 1),
            let type = BSONType(rawValue: bytes[offset]),
            let length = bytes.valueLength(type, at: keyEnd &+ 1, end: end)
        else { return nil }
        return Value(type: type, start: keyEnd &+ 1, end: keyEnd &+ 1 &+ length)
    }

    /// The element with a key among those that begin in a range.
    @inline(never)
    private func scan(_ wanted: UnsafeBufferPointer<UInt8>, from start: Int, to stop: Int, within end: Int) -> Value? {
        let bytes = bytes
        var offset = start
        while offset < stop, let element = bytes.element(at: offset, end: end) {
            if element.keyLength == wanted.count, bytes.hasBytes(wanted, at: element.keyStart) {
                return Value(type: element.type, start: element.valueStart, end: element.valueEnd)
            }
            offset = element.valueEnd
        }
        return nil
    }

    // MARK: Errors

    func mismatch(_ target: Any.Type, _ value: Value, _ path: [any CodingKey]) -> DecodingError {
        if value.type == .null {
            return .valueNotFound(target, .init(codingPath: path, debugDescription: "a \(target) cannot be null"))
        }
        return .typeMismatch(
            target,
            .init(codingPath: path, debugDescription: "a \(target) cannot be read from a value of type \(value.type)"))
    }
}
