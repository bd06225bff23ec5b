/// The container of a single value.
struct BSONSingleDecoding: SingleValueDecodingContainer {
    let state: DecoderState
    let place: DecoderState.Place

    var codingPath: [any CodingKey] { state.path(place) }

    private func path() -> [any CodingKey] { codingPath }

    func decodeNil() -> Bool { (try? state.value(place))?.type == .null }

    func decode(_ type: Bool.Type) throws -> Bool { try state.bool(state.value(place), path) }
    func decode(_ type: String.Type) throws -> String { try state.string(state.value(place), path) }
    func decode(_ type: Double.Type) throws -> Double { try state.double(state.value(place), path) }
    func decode(_ type: Float.Type) throws -> Float { try state.float(state.value(place), path) }
    func decode(_ type: Int.Type) throws -> Int { try state.integer(state.value(place), as: Int.self, path) }
    func decode(_ type: Int8.Type) throws -> Int8 { try state.integer(state.value(place), as: Int8.self, path) }
    func decode(_ type: Int16.Type) throws -> Int16 { try state.integer(state.value(place), as: Int16.self, path) }
    func decode(_ type: Int32.Type) throws -> Int32 { try state.integer(state.value(place), as: Int32.self, path) }
    func decode(_ type: Int64.Type) throws -> Int64 { try state.integer(state.value(place), as: Int64.self, path) }
    func decode(_ type: UInt.Type) throws -> UInt { try state.integer(state.value(place), as: UInt.self, path) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try state.integer(state.value(place), as: UInt8.self, path) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try state.integer(state.value(place), as: UInt16.self, path) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try state.integer(state.value(place), as: UInt32.self, path) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try state.integer(state.value(place), as: UInt64.self, path) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try state.decode(type, state.value(place), place)
    }
}
