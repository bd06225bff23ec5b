/// Makes values of enums from bytes: the only unsafe code of the library outside the engine's calls.
///
/// Codable decodes an enum from a raw value or the name of a case, and the valid ones are not known in advance. An enum
/// without payloads is stored as the number of its case: with a size of one byte, 0 and 1 are its first two cases; with
/// a size of 0 there is one case. Other types of one byte (a Bool, a UInt8) may have these values too. Larger types are
/// rejected.
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
