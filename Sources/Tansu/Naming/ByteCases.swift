/// Values of enums made of their bytes: the one unsafe place of the library beside the engine's calls.
///
/// Codable makes an enum of a raw value or of a case's name, and tells neither beforehand. An enum without payloads
/// is stored as the number of its case, so that of one byte 0 and 1 are its first two cases, and of no bytes there
/// is one. Types of one byte that are no enums (a Bool, a UInt8) may have these values too. Larger types are refused.
enum ByteCases {
    static func one<Value>(of type: Value.Type, second: Bool) -> Value? {
        guard MemoryLayout<Value>.size <= 1 else { return nil }
        let memory = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        defer { memory.deallocate() }
        let bytes = UnsafeMutableRawPointer(memory)
        if MemoryLayout<Value>.size == 1 { bytes.storeBytes(of: second ? 1 : 0, as: UInt8.self) }
        return memory.pointee
    }
}
