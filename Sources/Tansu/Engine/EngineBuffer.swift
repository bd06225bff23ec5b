import CTansu

/// Runs `body` with a buffer for the engine to fill, and frees it.
func withEngineBuffer<Result>(_ body: (inout tansu_buffer) throws -> Result) rethrows -> Result {
    var buffer = tansu_buffer()
    defer { tansu_buffer_free(&buffer) }
    return try body(&buffer)
}

extension tansu_buffer {
    /// What the engine wrote; valid until the buffer is used again or freed.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: size) }
}

extension tansu_document {
    /// The bytes that a cursor points at; valid until its next step.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: size) }
}
