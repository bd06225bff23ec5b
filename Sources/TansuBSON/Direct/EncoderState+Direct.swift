extension EncoderState {
    /// Writes the fields of a value whose type writes them itself, as the document of a place.
    ///
    /// The buffer ends with the place's type byte and key.
    func writeDirect<T: Encodable>(_ value: T, _ index: Int32) throws {
        guard let type = storage.pointee.types.direct(T.self) ?? T.self as? any BSONWritable.Type else {
            throw failure(.invalid("\(T.self) does not write its own fields"), value, path(place(index)))
        }
        buffer.store(BSONType.document.rawValue, at: frames[Int(index)].typeAt)
        try writeFields(index) { fields in try Self.write(value, as: type, &fields) }
    }

    /// Writes a value as one of the protocol.
    ///
    /// The value is looked at as what it is: `type` is its own type, found as one of the protocol.
    private static func write<T, W: BSONWritable>(
        _ value: T, as type: W.Type, _ fields: inout BSONFieldWriter
    ) throws {
        try withUnsafePointer(to: value) { pointer in
            try UnsafeRawPointer(pointer).assumingMemoryBound(to: type).pointee.write(to: &fields)
        }
    }

    /// Writes the document of a place by a closure.
    func writeFields(_ index: Int32, _ body: (inout BSONFieldWriter) throws -> Void) throws {
        guard frames[Int(index)].depth <= BSONDocument.maximumDepth else { throw tooDeep(index, "") }
        frames[Int(index)].kind = .keyed
        let serial = frames[Int(index)].serial
        let start = buffer.openDocument()
        var fields = BSONFieldWriter(self, index)
        try body(&fields)
        if let failure { throw failure }
        // Whoever wrote to a container around this document closed the document by that.
        guard top == index, topSerial == serial else { throw finished([]) }
        buffer.closeDocument(at: start)
        frames[Int(index)].isOpen = false
    }

    /// Fills a slot with the document of a value whose type writes its own fields.
    func fillDirect<T: Encodable>(_ place: Place, _ value: T) throws {
        try checkEmpty(place)
        guard frames[Int(place.index)].isOpen else {
            // A slot that was left is filled from behind, which only the general way can do.
            try value.encode(to: BSONEncoding(state: self, place: place))
            return
        }
        try close(downTo: place.index)
        try writeDirect(value, place.index)
        frames[Int(place.index)].kind = .single
        frames[Int(place.index)].isOpen = true
    }
}
