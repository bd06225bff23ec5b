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
