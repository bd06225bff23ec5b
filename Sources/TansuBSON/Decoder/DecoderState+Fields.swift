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
