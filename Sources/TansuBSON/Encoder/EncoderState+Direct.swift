extension EncoderState {
    /// Writes the fields of a ``BSONWritable`` value as the document of a frame.
    ///
    /// The buffer ends with the frame's type byte and key.
    func writeDirect<T: Encodable>(_ value: T, _ index: Int32) throws {
        guard let type = storage.pointee.types.direct(T.self) ?? T.self as? any BSONWritable.Type else {
            throw failure(.invalid("Type \(T.self) is not BSONWritable"), value, path(handle(index)))
        }
        buffer.store(BSONType.document.rawValue, at: frames[Int(index)].typeOffset)
        try writeFields(index) { fields in try Self.write(value, as: type, &fields) }
    }

    /// Calls `write(to:)` of a value.
    ///
    /// `type` is the type `T` as a metatype of the protocol, so the pointer is bound to the value's own type.
    private static func write<T, W: BSONWritable>(
        _ value: T, as type: W.Type, _ fields: inout BSONFieldWriter
    ) throws {
        try withUnsafePointer(to: value) { pointer in
            try UnsafeRawPointer(pointer).assumingMemoryBound(to: type).pointee.write(to: &fields)
        }
    }

    /// Writes the document of a frame with a closure.
    func writeFields(_ index: Int32, _ body: (inout BSONFieldWriter) throws -> Void) throws {
        guard frames[Int(index)].depth <= BSONDocument.maximumDepth else { throw tooDeep(index, "") }
        frames[Int(index)].kind = .keyed
        let serial = frames[Int(index)].serial
        let start = buffer.openDocument()
        var fields = BSONFieldWriter(self, index)
        try body(&fields)
        if let failure { throw failure }
        // Writing to an outer container in between closes this document.
        guard top == index, topSerial == serial else { throw containerClosed([]) }
        buffer.closeDocument(at: start)
        frames[Int(index)].isOpen = false
    }

    /// Fills a slot with the document of a ``BSONWritable`` value.
    func fillDirect<T: Encodable>(_ handle: Handle, _ value: T) throws {
        try checkEmpty(handle)
        guard frames[Int(handle.index)].isOpen else {
            // Only `encode(to:)` can fill a slot that is closed.
            try value.encode(to: BSONValueEncoder(state: self, handle: handle))
            return
        }
        try close(downTo: handle.index)
        try writeDirect(value, handle.index)
        frames[Int(handle.index)].kind = .single
        frames[Int(handle.index)].isOpen = true
    }
}
