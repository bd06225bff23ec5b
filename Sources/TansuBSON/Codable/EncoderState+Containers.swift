extension EncoderState {
    /// Makes a slot a document or an array; nothing happens when it is one already.
    func open(_ place: Place, as kind: Kind) {
        guard isAlive(place) else {
            failure = failure ?? finished([])
            return
        }
        let frame = frames[Int(place.index)]
        let type = kind == .keyed ? BSONType.document : .array
        if frame.kind == kind { return }
        guard frame.kind == .slot else {
            fail(place, "a value can be encoded once only: as a single value, by keys or as an array")
            return
        }
        guard frame.depth <= BSONDocument.maximumDepth else {
            fail(place, "values are nested over \(BSONDocument.maximumDepth) deep")
            return
        }
        buffer.store(type.rawValue, at: frame.typeAt)
        frames[Int(place.index)].kind = kind
        if frame.isOpen {
            // A slot has nothing inside that could be open, so it is the innermost place.
            _ = buffer.openDocument()
        }
    }

    func fail(_ place: Place, _ message: String) {
        failure =
            failure ?? EncodingError.invalidValue("", .init(codingPath: path(place), debugDescription: message))
    }

    // MARK: Elements

    /// Where an element was begun, for ending it.
    struct Begun {
        var typeAt: Int
        /// Whether the container was closed, so that the element has yet to be moved into it.
        var isDetour: Bool
    }

    /// Writes the type byte and the key of an element of a document.
    @inline(__always)
    func begin<Key: CodingKey>(_ place: Place, _ key: Key) throws -> Begun {
        let isDetour = try prepare(place)
        let name = key.stringValue
        let isID = place.index == 0 && name.utf8.count == 2 && name == "id" && mapsID(Key.self)
        guard let typeAt = buffer.appendElement(key: isID ? "_id" : name) else {
            throw EncodingError.invalidValue(
                name, .init(codingPath: path(place) + [key], debugDescription: "a key contains a NUL character"))
        }
        return Begun(typeAt: typeAt, isDetour: isDetour)
    }

    /// Whether a key `id` of the top level is stored as `_id`.
    private func mapsID<Key: CodingKey>(_ key: Key.Type) -> Bool {
        options.idMapping == .automatic && !storage.pointee.idKeys.hasOwnID(key)
    }

    /// Writes the type byte and the key of the next element of an array.
    @inline(__always)
    func beginNext(_ place: Place) throws -> Begun {
        let isDetour = try prepare(place)
        let typeAt = buffer.count
        buffer.append(0 as UInt8)
        buffer.append(arrayKey: Int(frames[Int(place.index)].count))
        frames[Int(place.index)].count += 1
        return Begun(typeAt: typeAt, isDetour: isDetour)
    }

    /// Makes a container the innermost place; true when it is closed and the element must be moved into it.
    @inline(__always)
    private func prepare(_ place: Place) throws -> Bool {
        if top == place.index, topSerial == place.serial { return false }
        return try resume(place)
    }

    @inline(never)
    private func resume(_ place: Place) throws -> Bool {
        guard isAlive(place) else { throw finished([]) }
        guard frames[Int(place.index)].isOpen else { return true }
        try close(downTo: place.index)
        return false
    }

    @inline(__always)
    func end(_ place: Place, _ begun: Begun, _ type: BSONType) throws {
        buffer.store(type.rawValue, at: begun.typeAt)
        if begun.isDetour { try moveIn(place, from: begun.typeAt) }
    }

    /// Makes a slot as an element that was begun, and which others may fill later.
    func slot(_ place: Place, _ begun: Begun, key: (any CodingKey)?, position: Int32 = -1) throws -> Place {
        let oldTop = top
        let index = push(typeAt: begun.typeAt, parent: place.index, key: key, position: position)
        if begun.isDetour {
            closeTop()
            setTop(oldTop)
            try moveIn(place, from: begun.typeAt, created: index)
        }
        return self.place(index)
    }

    /// Checks that nothing was encoded at a place yet.
    func checkEmpty(_ place: Place) throws {
        guard isAlive(place) else { throw finished([]) }
        guard frames[Int(place.index)].kind == .slot else {
            throw EncodingError.invalidValue(
                "", .init(codingPath: path(place), debugDescription: "a value can be encoded once only"))
        }
    }

    /// Fills a slot with a single value that `write` appends.
    func fill(_ place: Place, _ write: () throws -> BSONType) throws {
        try checkEmpty(place)
        if frames[Int(place.index)].isOpen {
            try close(downTo: place.index)
            let type = try write()
            buffer.store(type.rawValue, at: frames[Int(place.index)].typeAt)
        } else {
            let start = buffer.count
            let type = try write()
            let frame = frames[Int(place.index)]
            // Closing the slot stored an empty document of five bytes.
            splice(from: start, into: frame.valueStart..<frame.valueStart + 5, of: frame.parent, created: nil)
            buffer.store(type.rawValue, at: frame.typeAt)
        }
        frames[Int(place.index)].kind = .single
    }

    // MARK: Writing into the middle

    /// Moves the element at the end of the buffer to the end of a closed container.
    @inline(never)
    func moveIn(_ place: Place, from start: Int, created: Int32? = nil) throws {
        guard isAlive(place) else { throw finished([]) }
        let frame = frames[Int(place.index)]
        guard frame.kind == .keyed || frame.kind == .unkeyed else { throw finished(path(place)) }
        let end = frame.valueStart + Int(buffer.bytes.int32(at: frame.valueStart)) - 1
        splice(from: start, into: end..<end, of: place.index, created: created)
    }

    /// Moves the bytes from `start` on to replace a range before them, and corrects the lengths and places around.
    ///
    /// - Parameters:
    ///   - owner: The container whose size changes, with all those around it.
    ///   - created: The place that lies in the moved bytes.
    private func splice(from start: Int, into range: Range<Int>, of owner: Int32, created: Int32?) {
        let moved = buffer.array(from: start)
        let growth = moved.count - range.count
        buffer.truncate(to: start)
        buffer.replace(range, with: moved)
        for index in 0..<frames.count
        where created.map({ Int($0) }) != index && frames[index].typeAt >= range.lowerBound {
            frames[index].typeAt += growth
            frames[index].valueStart += growth
        }
        if let created {
            frames[Int(created)].typeAt -= start - range.lowerBound
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
