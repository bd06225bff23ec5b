import CTansu

extension EngineDatabase {
    /// Writes the dump that the options ask for, and returns the engine's report.
    func dump(
        _ options: BSONDocument, into write: ([UInt8]) throws -> Void, progress: (Database.Progress) throws -> Void
    ) throws -> BSONDocument {
        // The engine calls back during this call only, so a pointer to a local variable is enough for a context.
        try withoutActuallyEscaping(write) { write in
            var receiver = Receiver(write: write)
            do {
                return try withUnsafeMutablePointer(to: &receiver) { pointer in
                    try call { database in
                        try options.withUnsafeBytes { options in
                            try engineTask(progress) { tell, context, report, error in
                                tansu_dump(
                                    database, nil,
                                    { context, bytes, size in
                                        let receiver = context?.assumingMemoryBound(to: Receiver.self)
                                        let bytes = UnsafeRawBufferPointer(start: bytes, count: size)
                                        return receiver?.pointee.take(bytes) ?? false ? 1 : 0
                                    }, pointer, options.baseAddress, options.count, tell, context, report, error)
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
        // As above.
        try withoutActuallyEscaping(read) { read in
            var source = Source(read: read)
            do {
                return try withUnsafeMutablePointer(to: &source) { pointer in
                    try call { database in
                        try options.withUnsafeBytes { options in
                            try engineTask(progress) { tell, context, report, error in
                                tansu_load(
                                    database,
                                    { context, bytes, room in
                                        let source = context?.assumingMemoryBound(to: Source.self)
                                        let room = UnsafeMutableRawBufferPointer(start: bytes, count: room)
                                        return source?.pointee.give(room) ?? -1
                                    }, pointer, options.baseAddress, options.count, tell, context, report, error)
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

    /// Whether the bytes were taken.
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
    /// What `read` gave and the engine has not taken yet.
    var rest: ArraySlice<UInt8> = []
    /// What `read` threw.
    var error: (any Error)?

    /// How many bytes were given: none at the end, less than none on failure.
    mutating func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
        do {
            if rest.isEmpty { rest = try read()[...] }
            let part = rest.prefix(room.count)
            room.copyBytes(from: part)
            rest = rest.dropFirst(part.count)
            return part.count
        } catch {
            self.error = error
            return -1
        }
    }
}
