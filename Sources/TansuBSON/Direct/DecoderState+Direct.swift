extension DecoderState {
    /// Decodes the document at a place as a type that reads its own fields.
    func direct<T: Decodable>(_ type: T.Type, _ value: Value, _ place: Place) throws -> T {
        guard let readable = storage.pointee.types.direct(type) ?? type as? any BSONReadable.Type else {
            throw failure(.mismatch(type), value, path(place))
        }
        let document = try open(place, as: .document)
        var fields = BSONFieldReader(self, place, document)
        return try read(readable, as: type, &fields)
    }

    /// Reads a value by way of the protocol: `readable` is `T` itself, found as one of the protocol.
    ///
    /// It is made in memory that the state keeps and moved out as a `T`, because a cast would copy it with all that it
    /// refers to. What is too large for that memory is cast.
    private func read<R: BSONReadable, T>(
        _ readable: R.Type, as type: T.Type, _ fields: inout BSONFieldReader
    ) throws -> T {
        let used = storage.pointee.scratchUsed
        let end = used + MemoryLayout<T>.size
        guard end <= Storage.scratchSize, MemoryLayout<T>.alignment <= Storage.scratchAlignment else {
            return unsafeBitCast(try readable.init(reading: &fields), to: type)
        }
        // Values inside this one are made behind it.
        storage.pointee.scratchUsed = (end + Storage.scratchAlignment - 1) & -Storage.scratchAlignment
        defer { storage.pointee.scratchUsed = used }
        let memory = storage.pointee.scratch + used
        memory.assumingMemoryBound(to: readable).initialize(to: try readable.init(reading: &fields))
        return memory.assumingMemoryBound(to: type).move()
    }
}
