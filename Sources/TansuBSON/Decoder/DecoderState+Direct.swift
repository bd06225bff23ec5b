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
