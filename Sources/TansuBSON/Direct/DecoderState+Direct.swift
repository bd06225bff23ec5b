extension DecoderState {
    /// Decodes the document at a place as a type that reads its own fields.
    func direct<T: Decodable>(_ type: T.Type, _ value: Value, _ place: Place) throws -> T {
        guard let readable = storage.pointee.types.direct(type) ?? type as? any BSONReadable.Type else {
            throw failure(.mismatch(type), value, path(place))
        }
        let document = try open(place, as: .document)
        var fields = BSONFieldReader(self, place, document)
        return try Self.read(readable, as: type, &fields)
    }

    /// Reads a value by way of the protocol: `readable` is `T` itself, found as one of the protocol.
    ///
    /// It is made in memory of type `T`, because casting it afterwards would copy it with all that it refers to.
    private static func read<R: BSONReadable, T>(
        _ readable: R.Type, as type: T.Type, _ fields: inout BSONFieldReader
    ) throws -> T {
        try withUnsafeTemporaryAllocation(of: type, capacity: 1) { memory in
            let start = memory.baseAddress.unsafelyUnwrapped
            UnsafeMutableRawPointer(start).assumingMemoryBound(to: readable)
                .initialize(to: try readable.init(reading: &fields))
            return start.move()
        }
    }
}
