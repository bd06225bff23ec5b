import CTansu

extension EngineDatabase {
    /// Writes the dump that the options describe, and returns the engine's report.
    func dump(
        _ options: BSONDocument, into write: ([UInt8]) throws -> Void, progress: (Database.Progress) throws -> Void
    ) throws -> BSONDocument {
        // The engine calls back only during this call, so that the context can be a pointer to a local variable.
        try withoutActuallyEscaping(write) { write in
            var receiver = Receiver(write: write)
            do {
                return try withUnsafeMutablePointer(to: &receiver) { pointer in
                    try call { database in
                        try options.withUnsafeBytes { options in
                            try engineTask(progress) { callback, context, report, error in
                                tansu_dump(
                                    database, nil,
                                    { context, bytes, size in
                                        let receiver = context?.assumingMemoryBound(to: Receiver.self)
                                        let bytes = UnsafeRawBufferPointer(start: bytes, count: size)
                                        return receiver?.pointee.take(bytes) ?? false ? 1 : 0
                                    }, pointer, tansu_document(options), callback, context, report, error)
                            }
                        }
                    }
                }
            } catch {
                throw receiver.error ?? error
            }
        }
    }

    /// Reads a dump as the options say, and returns the engine's report.
    func load(
        _ options: BSONDocument, from read: () throws -> [UInt8], progress: (Database.Progress) throws -> Void
    ) throws -> BSONDocument {
        // As in `dump`.
        try withoutActuallyEscaping(read) { read in
            var source = Source(read: read)
            do {
                return try withUnsafeMutablePointer(to: &source) { pointer in
                    try call { database in
                        try options.withUnsafeBytes { options in
                            try engineTask(progress) { callback, context, report, error in
                                tansu_load(
                                    database,
                                    { context, bytes, capacity in
                                        let source = context?.assumingMemoryBound(to: Source.self)
                                        let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: capacity)
                                        return source?.pointee.fill(buffer) ?? -1
                                    }, pointer, tansu_document(options), callback, context, report, error)
                            }
                        }
                    }
                }
            } catch {
                throw source.error ?? error
            }
        }
    }
}

private struct Receiver {
    let write: ([UInt8]) throws -> Void
    /// What `write` threw.
    var error: (any Error)?

    /// Whether the bytes were accepted.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do {
            try write(Array(bytes))
            return true
        } catch {
            self.error = error
            return false
        }
    }
}

private struct Source {
    let read: () throws -> [UInt8]
    /// What `read` returned and the engine has not consumed yet.
    var rest: ArraySlice<UInt8> = []
    /// What `read` threw.
    var error: (any Error)?

    /// Fills the buffer; the number of bytes, 0 at the end, -1 on failure.
    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        do {
            if rest.isEmpty { rest = try read()[...] }
            let part = rest.prefix(buffer.count)
            buffer.copyBytes(from: part)
            rest = rest.dropFirst(part.count)
            return part.count
        } catch {
            self.error = error
            return -1
        }
    }
}
