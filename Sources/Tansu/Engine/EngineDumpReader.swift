#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

/// The text of an encrypted dump. Of one thread at a time.
package final class EngineDumpReader {
    /// What the engine reads from, at an address that stays.
    private let source: UnsafeMutablePointer<Source>
    private let reader: OpaquePointer

    private struct Source {
        let read: (UnsafeMutableRawBufferPointer) throws -> Int
        /// What `read` threw.
        var error: (any Error)?

        static let callback: tansu_read_bytes = { context, bytes, capacity in
            guard let source = context?.assumingMemoryBound(to: Source.self) else { return -1 }
            do {
                return try source.pointee.read(UnsafeMutableRawBufferPointer(start: bytes, count: capacity))
            } catch {
                source.pointee.error = error
                return -1
            }
        }
    }

    /// Reads the head, and decrypts the data key.
    ///
    /// - Parameter read: Reads bytes of the dump into memory; how many, 0 at the end.
    /// - Throws: ``TansuError`` with `.wrongKey`, `.corrupt`, `.version` or `.invalidArgument` (the dump is not encrypted); what
    ///   `read` throws.
    package init(key: DatabaseKey, read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) throws {
        EnginePlatform.prepare()
        let source = UnsafeMutablePointer<Source>.allocate(capacity: 1)
        source.initialize(to: Source(read: read))
        do {
            var handle: OpaquePointer?
            try key.withEngineKey { key in
                _ = try engineCall { tansu_dump_reader_open(Source.callback, source, key, &handle, $0) }
            }
            guard let handle else { throw TansuError(.invalidState, "The engine returned no reader") }
            (self.source, reader) = (source, handle)
        } catch {
            let reason = source.pointee.error ?? error
            source.deinitialize(count: 1)
            source.deallocate()
            throw reason
        }
    }

    deinit {
        tansu_dump_reader_close(reader)
        source.deinitialize(count: 1)
        source.deallocate()
    }

    /// Reads text into memory; how many bytes, 0 only at the end of a dump that is as it was written.
    ///
    /// - Throws: ``TansuError`` with `.corrupt`; what the source throws.
    package func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let start = memory.baseAddress else { return 0 }
        var count = 0
        do {
            _ = try engineCall { tansu_dump_reader_read(reader, start, memory.count, &count, $0) }
        } catch {
            throw source.pointee.error ?? error
        }
        return count
    }
}
