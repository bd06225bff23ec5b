/// The container of a single value.
struct BSONSingleValueDecodingContainer: SingleValueDecodingContainer {
    let state: DecoderState
    let handle: DecoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }

    @inline(__always)
    private func read<T>(_ read: (DecoderState.Value) throws(ReadFailure) -> T) throws -> T {
        let value = try state.value(handle)
        do {
            return try read(value)
        } catch {
            throw state.failure(error, value, codingPath)
        }
    }

    @inline(__always)
    private func integer<I: FixedWidthInteger>(_ type: I.Type) throws -> I {
        try read { value throws(ReadFailure) in try state.integer(value, as: type) }
    }

    func decodeNil() -> Bool {
        guard let value = try? state.value(handle) else { return false }
        return value.isOf(.null)
    }

    func decode(_ type: Bool.Type) throws -> Bool { try read(state.bool) }
    func decode(_ type: String.Type) throws -> String { try read(state.string) }
    func decode(_ type: Double.Type) throws -> Double { try read(state.double) }
    func decode(_ type: Float.Type) throws -> Float { try read(state.float) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try state.decode(type, state.value(handle), handle)
    }
}
