import Foundation

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

// MARK: - Fields

extension DecoderState {
    /// The field with a key of the document of a frame. The search begins after the field that was found last and
    /// continues from the front, so that reading the fields in their stored order takes linear time.
    @inline(__always)
    func find<Key: CodingKey>(_ handle: Handle, _ key: Key) throws -> Value? {
        try check(handle)
        let name = key.stringValue
        if name.utf8.count == 2, name == "id", mapsID(Key.self), let value = search(Int(handle.index), "_id") {
            return value
        }
        return search(Int(handle.index), name)
    }

    /// Whether a key `id` is read from `_id` where there is one: at the top, and in documents that a query joined.
    private func mapsID<Key: CodingKey>(_ key: Key.Type) -> Bool {
        options.idMapping == .automatic && !storage.pointee.idKeys.hasOwnID(key)
    }

    private func search(_ index: Int, _ name: String) -> Value? {
        let (value, cursor) = (storage.pointee.frames[index].value, storage.pointee.frames[index].cursor)
        var name = name
        let found = name.withUTF8 { bytes.field($0, cursor: cursor, first: value.start &+ 4, end: value.end &- 1) }
        guard let found else { return nil }
        storage.pointee.frames[index].cursor = found.end
        return found
    }
}

extension UnsafeRawBufferPointer {
    /// The element with a key of a document, searched from a cursor to the end and then from the first element.
    @inline(__always)
    func field(
        _ wanted: UnsafeBufferPointer<UInt8>, cursor: Int, first: Int, end: Int
    ) -> DecoderState.Value? {
        field(wanted, at: cursor, within: end)
            ?? field(wanted, from: cursor, to: end, within: end)
            ?? field(wanted, from: first, to: cursor, within: end)
    }

    /// The element at an offset if it has a key. This is the common case, which needs no search for the key's end.
    @inline(__always)
    private func field(
        _ wanted: UnsafeBufferPointer<UInt8>, at offset: Int, within end: Int
    ) -> DecoderState.Value? {
        let keyEnd = offset &+ 1 &+ wanted.count
        guard keyEnd < end, self[keyEnd] == 0, hasKey(wanted, at: offset &+ 1),
            let length = valueLength(code: self[offset], at: keyEnd &+ 1, end: end)
        else { return nil }
        return DecoderState.Value(code: self[offset], start: keyEnd &+ 1, end: keyEnd &+ 1 &+ length)
    }

    /// Whether a key is at an offset. A key with NUL never is, although the bytes after a shorter key may match it.
    @inline(__always)
    private func hasKey(_ wanted: UnsafeBufferPointer<UInt8>, at offset: Int) -> Bool {
        for i in 0..<wanted.count where self[offset &+ i] != wanted[i] || wanted[i] == 0 { return false }
        return true
    }

    /// The element with a key among the elements that begin in a range.
    @inline(never)
    private func field(
        _ wanted: UnsafeBufferPointer<UInt8>, from start: Int, to stop: Int, within end: Int
    ) -> DecoderState.Value? {
        var offset = start
        while offset < stop, let element = element(at: offset, end: end) {
            if element.keyLength == wanted.count, hasBytes(wanted, at: element.keyStart) {
                return DecoderState.Value(code: self[offset], start: element.valueStart, end: element.valueEnd)
            }
            offset = element.valueEnd
        }
        return nil
    }
}

// MARK: - Types

extension DecoderState {
    /// The kind of a type, with regard to the options.
    @inline(__always)
    func kind<T>(_ type: T.Type) -> TypeKind {
        let kind = storage.pointee.types.kind(type) { $0 as? any BSONReadable.Type }
        switch kind {
        case .url: return options.url == .string ? kind : .codable
        case .direct: return options.usesDirectCoding ? kind : .codable
        case .hashed: return .codable
        default: return kind
        }
    }

    /// Decodes a field: natively for the types that the decoder handles, otherwise with the type's initializer.
    ///
    /// - Parameters:
    ///   - parent: The frame of the document that contains the field.
    ///   - key: The key of the field.
    @inline(__always)
    func decode<T: Decodable, Key: CodingKey>(_ type: T.Type, _ value: Value, _ parent: Handle, key: Key) throws -> T {
        let kind = kind(type)
        if kind == .codable || kind == .direct {
            let handle = push(value, parent: parent.index, key: key)
            defer { pop(downTo: handle) }
            return try decodeByType(type, kind, value, handle)
        }
        do {
            return try native(type, kind, value)
        } catch {
            throw failure(error, value, path(parent) + [key])
        }
    }

    /// Decodes an element of an array in the same way as ``decode(_:_:_:key:)`` decodes a field.
    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, _ value: Value, _ parent: Handle, position: Int) throws -> T {
        let kind = kind(type)
        if kind == .codable || kind == .direct {
            let handle = push(value, parent: parent.index, key: nil, position: Int32(truncatingIfNeeded: position))
            defer { pop(downTo: handle) }
            return try decodeByType(type, kind, value, handle)
        }
        do {
            return try native(type, kind, value)
        } catch {
            throw failure(error, value, path(parent) + [BSONCodingKey(intValue: position)])
        }
    }

    /// Decodes the value of a frame.
    func decode<T: Decodable>(_ type: T.Type, _ value: Value, _ handle: Handle) throws -> T {
        let kind = kind(type)
        if kind == .codable || kind == .direct { return try decodeByType(type, kind, value, handle) }
        do {
            return try native(type, kind, value)
        } catch {
            throw failure(error, value, path(handle))
        }
    }

    @inline(__always)
    private func decodeByType<T: Decodable>(
        _ type: T.Type, _ kind: TypeKind, _ value: Value, _ handle: Handle
    ) throws -> T {
        if kind == .direct { return try direct(type, value, handle) }
        return try T(from: BSONValueDecoder(state: self, handle: handle))
    }

    /// Decodes a value of a type that the decoder handles natively.
    ///
    /// The kind guarantees that each bit cast converts a type to itself, or to a struct of it (``BSONTransparent``). `as?`
    /// takes longer than reading the value, and a generic function that handles an optional looks up the type's metadata
    /// on every call.
    private func native<T>(_ type: T.Type, _ kind: TypeKind, _ value: Value) throws(ReadFailure) -> T {
        switch kind {
        case .bool: return unsafeBitCast(try bool(value), to: type)
        case .string: return unsafeBitCast(try string(value), to: type)
        case .double: return unsafeBitCast(try double(value), to: type)
        case .float: return unsafeBitCast(try float(value), to: type)
        case .int: return unsafeBitCast(try integer(value, as: Int.self), to: type)
        case .int8: return unsafeBitCast(try integer(value, as: Int8.self), to: type)
        case .int16: return unsafeBitCast(try integer(value, as: Int16.self), to: type)
        case .int32: return unsafeBitCast(try integer(value, as: Int32.self), to: type)
        case .int64: return unsafeBitCast(try integer(value, as: Int64.self), to: type)
        case .uint: return unsafeBitCast(try integer(value, as: UInt.self), to: type)
        case .uint8: return unsafeBitCast(try integer(value, as: UInt8.self), to: type)
        case .uint16: return unsafeBitCast(try integer(value, as: UInt16.self), to: type)
        case .uint32: return unsafeBitCast(try integer(value, as: UInt32.self), to: type)
        case .uint64: return unsafeBitCast(try integer(value, as: UInt64.self), to: type)
        case .date: return unsafeBitCast(try date(value), to: type)
        case .data: return unsafeBitCast(try data(value), to: type)
        case .uuid: return unsafeBitCast(try uuid(value), to: type)
        case .url: return unsafeBitCast(try url(value), to: type)
        case .decimal: return unsafeBitCast(try decimal(value), to: type)
        case .objectID: return unsafeBitCast(try objectID(value), to: type)
        case .value: return unsafeBitCast(try bsonValue(value), to: type)
        case .document: return unsafeBitCast(try bsonValue(value, BSONDocument.self, \.documentValue), to: type)
        case .array: return unsafeBitCast(try bsonValue(value, BSONArray.self, \.arrayValue), to: type)
        case .decimal128: return unsafeBitCast(try bsonValue(value, Decimal128.self, \.decimal128Value), to: type)
        case .binary: return unsafeBitCast(try bsonValue(value, BSONBinary.self, \.binaryValue), to: type)
        case .timestamp: return unsafeBitCast(try bsonValue(value, BSONTimestamp.self, \.timestampValue), to: type)
        case .regularExpression:
            return unsafeBitCast(try bsonValue(value, BSONRegularExpression.self, \.regularExpressionValue), to: type)
        case .code: return unsafeBitCast(try bsonValue(value, BSONCode.self, \.codeValue), to: type)
        case .dbPointer: return unsafeBitCast(try bsonValue(value, BSONDBPointer.self, \.dbPointerValue), to: type)
        case .symbol: return unsafeBitCast(try bsonValue(value, BSONSymbol.self, \.symbolValue), to: type)
        case .codable, .direct, .hashed: throw .mismatch(type)
        }
    }

    @inline(__always)
    func objectID(_ value: Value) throws(ReadFailure) -> ObjectID {
        guard value.isOf(.objectID) else { throw .mismatch(ObjectID.self) }
        return bytes.objectID(at: value.start)
    }

    private func bsonValue<T>(_ value: Value, _ type: T.Type, _ kind: (BSONValue) -> T?) throws(ReadFailure) -> T {
        guard let found = kind(try bsonValue(value)) else { throw .mismatch(type) }
        return found
    }
}

// MARK: - Direct

extension DecoderState {
    /// Decodes the document of a frame as a ``BSONReadable`` type.
    func direct<T: Decodable>(_ type: T.Type, _ value: Value, _ handle: Handle) throws -> T {
        guard let readable = storage.pointee.types.direct(type) ?? type as? any BSONReadable.Type else {
            throw failure(.mismatch(type), value, path(handle))
        }
        let document = try open(handle, as: .document)
        var fields = BSONFieldReader(self, handle, document)
        return try read(readable, as: type, &fields)
    }

    /// Calls `init(reading:)` of a type. `readable` is the type `T` as a metatype of the protocol.
    ///
    /// The value is created in the scratch memory of the state and moved out as a `T`, because a cast would copy and
    /// retain it. A value that is too large for the scratch memory is cast.
    private func read<R: BSONReadable, T>(
        _ readable: R.Type, as type: T.Type, _ fields: inout BSONFieldReader
    ) throws -> T {
        let used = storage.pointee.scratchUsed
        let end = used + MemoryLayout<T>.size
        guard end <= Storage.scratchSize, MemoryLayout<T>.alignment <= Storage.scratchAlignment else {
            return unsafeBitCast(try readable.init(reading: &fields), to: type)
        }
        // Nested values are created after this one.
        storage.pointee.scratchUsed = (end + Storage.scratchAlignment - 1) & -Storage.scratchAlignment
        defer { storage.pointee.scratchUsed = used }
        let memory = storage.pointee.scratch + used
        memory.assumingMemoryBound(to: readable).initialize(to: try readable.init(reading: &fields))
        return memory.assumingMemoryBound(to: type).move()
    }
}
