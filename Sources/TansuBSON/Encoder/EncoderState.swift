/// The state of one call of an encoder: the buffer and the frames of the values that are being written.
///
/// A ``Frame`` belongs to one value. It begins as an empty slot after a type byte and a key, and becomes a single
/// value, a document or an array. `top` is the innermost open frame; values are appended to it. Containers and
/// encoders are handles of a frame and write to the same buffer.
///
/// Codable allows callers to write to several nested containers in any order. Writing to an outer container closes the
/// inner ones. Writing to a closed container inserts the bytes into the buffer (``EncoderState/splice``).
///
/// The state is a pointer rather than an object, because reference counting and exclusivity checks for every field took
/// longer than writing the field. Two properties make this safe: the memory is reused but never freed, and every frame
/// has a serial number that is never reused, so a handle that outlives its call is rejected.
struct EncoderState {
    enum Kind: UInt8 {
        case slot, single, keyed, unkeyed
    }

    struct Frame {
        /// The offset of the type byte. The value begins at `valueStart`.
        var typeOffset: Int
        var valueStart: Int
        var parent: Int32
        var serial: UInt32
        var depth: Int32
        /// The position of an array element, or -1 for all other values.
        var position: Int32
        /// The number of elements of an array.
        var count: Int32 = 0
        var kind = Kind.slot
        var isOpen = true
    }

    struct Storage: ~Copyable {
        var buffer = ByteBuffer(capacity: 1024)
        var frames = Stack<Frame>()
        // Not part of the frames, because a key is not a trivial type and would make frames expensive to move.
        var keys = Stack<(any CodingKey)?>()
        var top: Int32 = -1
        var topSerial: UInt32 = 0
        var lastSerial: UInt32 = 0
        var options = BSONCodingOptions()
        // Not an `EncodingError?`, because testing that for nil is slower.
        var failure: (any Error)?
        var idKeys = IDKeyCache()
        var types = TypeKindCache<any BSONWritable.Type>()
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

    /// The first error in a function that Codable does not allow to throw.
    var failure: (any Error)? {
        get { storage.pointee.failure }
        nonmutating set { storage.pointee.failure = newValue }
    }

    // MARK: A call

    /// Calls a closure with a state.
    @inline(__always)
    static func withState<Result>(
        _ options: borrowing BSONCodingOptions, _ body: (EncoderState) throws -> Result
    ) rethrows -> Result {
        let slots = CoderStateCache.slots
        let state = EncoderState(storage: acquire(slots))
        state.storage.pointee.options = copy options
        defer { state.release(slots) }
        return try body(state)
    }

    @inline(__always)
    private static func acquire(_ slots: UnsafeMutablePointer<CoderStateCache.Slots>?) -> UnsafeMutablePointer<Storage>
    {
        if let slots, let memory = slots.pointee.encoder {
            slots.pointee.encoder = nil
            return memory.assumingMemoryBound(to: Storage.self)
        }
        return make()
    }

    @inline(never)
    private static func make() -> UnsafeMutablePointer<Storage> {
        if let memory = CoderStateCache.shared.withLock({ $0.encoders.popLast() }) {
            return memory.assumingMemoryBound(to: Storage.self)
        }
        let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
        storage.initialize(to: Storage())
        return storage
    }

    private func release(_ slots: UnsafeMutablePointer<CoderStateCache.Slots>?) {
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
            CoderStateCache.shared.withLock { $0.encoders.append(UnsafeMutableRawPointer(storage)) }
        }
    }

    /// Encodes the top-level value. Its bytes follow the type byte at offset 0.
    @inline(__always)
    func encodeRoot<T: Encodable>(_ value: T) throws -> BSONType {
        buffer.append(0 as UInt8)
        let kind = kind(T.self)
        switch kind {
        case .codable, .hashed:
            let index = push(typeOffset: 0, parent: -1, key: nil)
            try value.encode(to: BSONValueEncoder(state: self, handle: handle(index)))
            if let failure { throw failure }
            guard frames[0].kind != .slot else { throw nothingEncoded(T.self) }
            try close(downTo: -1)
            if kind == .hashed { sortMembers(of: T.self, index) }
        case .direct:
            _ = push(typeOffset: 0, parent: -1, key: nil)
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
                safeValue(value), .init(codingPath: [], debugDescription: "The document is larger than 2 GiB"))
        }
        return BSONType(rawValue: buffer.bytes[0]) ?? .null
    }

    private func nothingEncoded(_ type: Any.Type) -> EncodingError {
        .invalidValue(type, .init(codingPath: [], debugDescription: "Type \(type) did not encode any value"))
    }

    var rootBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer.bytes[1...]) }

    // MARK: Frames

    /// A reference to a frame: its index, and its serial number to detect that the frame no longer exists.
    struct Handle {
        var index: Int32
        var serial: UInt32
    }

    @inline(__always)
    func handle(_ index: Int32) -> Handle { Handle(index: index, serial: frames[Int(index)].serial) }

    @inline(__always)
    func isValid(_ handle: Handle) -> Bool {
        Int(handle.index) < frames.count && frames[Int(handle.index)].serial == handle.serial
    }

    func path(_ handle: Handle) -> [any CodingKey] {
        guard isValid(handle) else { return [] }
        var path: [any CodingKey] = []
        var index = handle.index
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

    /// Pushes the frame of a slot after a type byte and a key that were just written, as the innermost frame.
    ///
    /// - Parameter position: The position of an array element, which has no key, or -1.
    @inline(__always)
    func push(typeOffset: Int, parent: Int32, key: (any CodingKey)?, position: Int32 = -1) -> Int32 {
        storage.pointee.lastSerial &+= 1
        frames.append(
            Frame(
                typeOffset: typeOffset, valueStart: buffer.count, parent: parent, serial: storage.pointee.lastSerial,
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

    /// Closes the frames inside a frame, so that it is the innermost one.
    func close(downTo index: Int32) throws {
        while top != index {
            guard top >= 0 else { throw containerClosed([]) }
            closeTop()
        }
    }

    func closeTop() {
        let index = Int(top)
        let frame = frames[index]
        switch frame.kind {
        case .slot:
            // Nothing was encoded. Foundation's encoders store this as an empty object too.
            buffer.store(BSONType.document.rawValue, at: frame.typeOffset)
            buffer.closeDocument(at: buffer.openDocument())
        case .single:
            break
        case .keyed, .unkeyed:
            buffer.closeDocument(at: frame.valueStart)
        }
        frames[index].isOpen = false
        setTop(frame.parent)
    }

    func containerClosed(_ path: [any CodingKey]) -> EncodingError {
        .invalidValue(
            "", .init(codingPath: path, debugDescription: "The container was used after its value was complete"))
    }
}

// MARK: - Containers

extension EncoderState {
    /// Opens a slot as a document or an array. It has no effect when the frame already is of that kind.
    func open(_ handle: Handle, as kind: Kind) {
        guard isValid(handle) else {
            failure = failure ?? containerClosed([])
            return
        }
        let frame = frames[Int(handle.index)]
        let type = kind == .keyed ? BSONType.document : .array
        if frame.kind == kind { return }
        guard frame.kind == .slot else {
            fail(handle, "A value can be encoded only once: as a single value, by keys or as an array")
            return
        }
        guard frame.depth <= BSONDocument.maximumDepth else {
            fail(handle, "Values are nested deeper than \(BSONDocument.maximumDepth) levels")
            return
        }
        buffer.store(type.rawValue, at: frame.typeOffset)
        frames[Int(handle.index)].kind = kind
        if frame.isOpen {
            // A slot has no inner frames, so it is the innermost frame.
            _ = buffer.openDocument()
        }
    }

    func fail(_ handle: Handle, _ message: String) {
        failure =
            failure ?? EncodingError.invalidValue("", .init(codingPath: path(handle), debugDescription: message))
    }

    // MARK: Elements

    /// An element whose type byte and key are written and whose value is not complete.
    struct OpenElement {
        var typeOffset: Int
        /// Whether the container is closed, so that the element must be moved into it at its end.
        var needsMove: Bool
    }

    /// Writes the type byte and the key of an element of a document.
    @inline(__always)
    func begin<Key: CodingKey>(_ handle: Handle, _ key: Key) throws -> OpenElement {
        let needsMove = try prepare(handle)
        let name = key.stringValue
        let isID = handle.index == 0 && name.utf8.count == 2 && name == "id" && mapsID(Key.self)
        guard let typeOffset = buffer.appendElement(key: isID ? "_id" : name) else {
            throw EncodingError.invalidValue(
                name, .init(codingPath: path(handle) + [key], debugDescription: "A key contains a NUL character"))
        }
        return OpenElement(typeOffset: typeOffset, needsMove: needsMove)
    }

    /// Whether a key `id` of the top level is stored as `_id`.
    private func mapsID<Key: CodingKey>(_ key: Key.Type) -> Bool {
        options.idMapping == .automatic && !storage.pointee.idKeys.hasOwnID(key)
    }

    /// Writes the type byte and the key of the next element of an array.
    @inline(__always)
    func beginNext(_ handle: Handle) throws -> OpenElement {
        let needsMove = try prepare(handle)
        let typeOffset = buffer.count
        buffer.append(0 as UInt8)
        buffer.append(arrayKey: Int(frames[Int(handle.index)].count))
        frames[Int(handle.index)].count += 1
        return OpenElement(typeOffset: typeOffset, needsMove: needsMove)
    }

    /// Makes a container the innermost frame. Returns true when it is closed, so that the element must be moved.
    @inline(__always)
    private func prepare(_ handle: Handle) throws -> Bool {
        if top == handle.index, topSerial == handle.serial { return false }
        return try resume(handle)
    }

    @inline(never)
    private func resume(_ handle: Handle) throws -> Bool {
        guard isValid(handle) else { throw containerClosed([]) }
        guard frames[Int(handle.index)].isOpen else { return true }
        try close(downTo: handle.index)
        return false
    }

    @inline(__always)
    func end(_ handle: Handle, _ element: OpenElement, _ type: BSONType) throws {
        buffer.store(type.rawValue, at: element.typeOffset)
        if element.needsMove { try moveToContainer(handle, from: element.typeOffset) }
    }

    /// Makes an open element a slot, which can be filled later.
    func slot(_ handle: Handle, _ element: OpenElement, key: (any CodingKey)?, position: Int32 = -1) throws -> Handle {
        let oldTop = top
        let index = push(typeOffset: element.typeOffset, parent: handle.index, key: key, position: position)
        if element.needsMove {
            closeTop()
            setTop(oldTop)
            try moveToContainer(handle, from: element.typeOffset, created: index)
        }
        return self.handle(index)
    }

    /// Checks that nothing was encoded in a frame yet.
    func checkEmpty(_ handle: Handle) throws {
        guard isValid(handle) else { throw containerClosed([]) }
        guard frames[Int(handle.index)].kind == .slot else {
            throw EncodingError.invalidValue(
                "", .init(codingPath: path(handle), debugDescription: "A value can be encoded only once"))
        }
    }

    /// Fills a slot with a single value that `write` appends.
    func fill(_ handle: Handle, _ write: () throws -> BSONType) throws {
        try checkEmpty(handle)
        if frames[Int(handle.index)].isOpen {
            try close(downTo: handle.index)
            let type = try write()
            buffer.store(type.rawValue, at: frames[Int(handle.index)].typeOffset)
        } else {
            let start = buffer.count
            let type = try write()
            let frame = frames[Int(handle.index)]
            // A closed slot is stored as an empty document of five bytes.
            splice(from: start, into: frame.valueStart..<frame.valueStart + 5, of: frame.parent, created: nil)
            buffer.store(type.rawValue, at: frame.typeOffset)
        }
        frames[Int(handle.index)].kind = .single
    }

    // MARK: Insertion into closed containers

    /// Moves the element at the end of the buffer to the end of a closed container.
    @inline(never)
    func moveToContainer(_ handle: Handle, from start: Int, created: Int32? = nil) throws {
        guard isValid(handle) else { throw containerClosed([]) }
        let frame = frames[Int(handle.index)]
        guard frame.kind == .keyed || frame.kind == .unkeyed else { throw containerClosed(path(handle)) }
        let end = frame.valueStart + Int(buffer.bytes.int32(at: frame.valueStart)) - 1
        splice(from: start, into: end..<end, of: handle.index, created: created)
    }

    /// Moves the bytes from `start` to the end over a range before them, and updates the lengths and the frames.
    ///
    /// - Parameters:
    ///   - owner: The innermost container whose size changes.
    ///   - created: The frame whose bytes are moved.
    private func splice(from start: Int, into range: Range<Int>, of owner: Int32, created: Int32?) {
        let moved = buffer.array(from: start)
        let growth = moved.count - range.count
        buffer.truncate(to: start)
        buffer.replace(range, with: moved)
        for index in 0..<frames.count
        where created.map({ Int($0) }) != index && frames[index].typeOffset >= range.lowerBound {
            frames[index].typeOffset += growth
            frames[index].valueStart += growth
        }
        if let created {
            frames[Int(created)].typeOffset -= start - range.lowerBound
            frames[Int(created)].valueStart -= start - range.lowerBound
        }
        var index = owner
        while index >= 0 {
            let frame = frames[Int(index)]
            if !frame.isOpen, frame.kind == .keyed || frame.kind == .unkeyed {
                let length = Int(buffer.bytes.int32(at: frame.valueStart))
                buffer.store(length: length + growth, at: frame.valueStart)
            }
            index = frame.parent
        }
    }
}

// MARK: - Sorting

extension EncoderState {
    /// Sorts the members of a set or a dictionary that the frame holds: fields by their keys, elements of an array by
    /// their types and bytes.
    ///
    /// No frame inside it may be in use.
    func sortMembers<T>(of type: T.Type, _ index: Int32) {
        let frame = frames[Int(index)]
        guard frame.kind == .keyed || frame.kind == .unkeyed, let type = T.self as? any HashOrdered.Type else { return }
        let start = frame.valueStart + 4
        let end = frame.isOpen ? buffer.count : frame.valueStart + Int(buffer.bytes.int32(at: frame.valueStart)) - 1
        let size = frame.kind == .keyed ? 1 : type.elementsPerMember
        var members: [[RawElement]] = []
        var offset = start
        while let element = buffer.bytes.element(at: offset, end: end) {
            if let last = members.indices.last, members[last].count < size {
                members[last].append(element)
            } else {
                members.append([element])
            }
            offset = element.valueEnd
        }
        guard members.count > 1 else { return }
        let bytes = buffer.bytes
        func range(_ member: [RawElement]) -> Range<Int> {
            let first = member[0]
            return frame.kind == .keyed ? first.keyStart..<first.valueStart : first.valueStart..<first.valueEnd
        }
        members.sort { a, b in
            if frame.kind == .unkeyed, a[0].type != b[0].type { return a[0].type.rawValue < b[0].type.rawValue }
            return bytes[range(a)].lexicographicallyPrecedes(bytes[range(b)])
        }
        var sorted = ByteBuffer(capacity: end - start)
        for (position, element) in members.joined().enumerated() {
            sorted.append(element.type.rawValue)
            if frame.kind == .keyed {
                sorted.append(UnsafeRawBufferPointer(rebasing: bytes[element.keyStart..<element.valueStart]))
            } else {
                sorted.append(arrayKey: position)
            }
            sorted.append(UnsafeRawBufferPointer(rebasing: bytes[element.valueStart..<element.valueEnd]))
        }
        buffer.replace(start..<end, with: sorted.array())
    }
}
