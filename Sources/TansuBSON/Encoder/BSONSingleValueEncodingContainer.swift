/// The container of a single value.
struct BSONSingleValueEncodingContainer: SingleValueEncodingContainer {
    let state: EncoderState
    let handle: EncoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }

    mutating func encodeNil() throws { try state.fill(handle) { .null } }
    mutating func encode(_ value: Bool) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: String) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: Double) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: Float) throws { try state.fill(handle) { state.write(Double(value)) } }
    mutating func encode(_ value: Int) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: Int8) throws { try state.fill(handle) { state.write(Int32(value)) } }
    mutating func encode(_ value: Int16) throws { try state.fill(handle) { state.write(Int32(value)) } }
    mutating func encode(_ value: Int32) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: Int64) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: UInt8) throws { try state.fill(handle) { state.write(Int32(value)) } }
    mutating func encode(_ value: UInt16) throws { try state.fill(handle) { state.write(Int32(value)) } }
    mutating func encode(_ value: UInt32) throws { try state.fill(handle) { state.write(Int(value)) } }
    mutating func encode(_ value: UInt) throws { try encode(wide: value, as: .int32) }
    mutating func encode(_ value: UInt64) throws { try encode(wide: value, as: .int64) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: Int128) throws { try encode(wide: value, as: .int64) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: UInt128) throws { try encode(wide: value, as: .int64) }

    private func encode<I: FixedWidthInteger>(wide value: I, as type: BSONType) throws {
        try state.fill(handle) {
            try written(value) { () throws(WriteFailure) in try state.write(wide: value, as: type) }
        }
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        let kind = state.kind(T.self)
        switch kind {
        case .codable:
            // Without this check a second keyed value would add its fields to those of the first.
            try state.checkEmpty(handle)
            try value.encode(to: BSONValueEncoder(state: state, handle: handle))
        case .hashed:
            try state.checkEmpty(handle)
            try value.encode(to: BSONValueEncoder(state: state, handle: handle))
            guard state.isValid(handle) else { return }
            if state.frames[Int(handle.index)].isOpen { try state.close(downTo: handle.index) }
            state.sortMembers(of: T.self, handle.index)
        case .direct:
            try state.fillDirect(handle, value)
        default:
            try state.fill(handle) {
                try written(value) { () throws(WriteFailure) in try state.writeNative(value, kind) }
            }
        }
    }

    private func written(_ value: Any, _ write: () throws(WriteFailure) -> BSONType) throws -> BSONType {
        do { return try write() } catch { throw state.failure(error, value, codingPath) }
    }
}
