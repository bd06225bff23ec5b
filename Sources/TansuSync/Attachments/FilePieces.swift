#if TansuSync
    import Foundation

    /// Reads files in pieces.
    enum FilePieces {
        /// Calls the closure with one piece of a file after the other.
        static func forEach(of url: URL, _ body: ([UInt8]) throws -> Void) throws {
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            while try pooled({
                guard let data = try file.read(upToCount: BlobLayout.chunkSize), !data.isEmpty else { return false }
                try body([UInt8](data))
                return true
            }) {}
        }

        /// On Darwin what a file handle reads may be kept until a pool is drained.
        private static func pooled(_ body: () throws -> Bool) throws -> Bool {
            #if canImport(ObjectiveC)
                return try autoreleasepool { try body() }
            #else
                return try body()
            #endif
        }
    }
#endif
