import CTansuZlib

/// Unpacks gzip on the way, member after member as `cat a.gz b.gz` makes them.
///
/// The stream lives at one address of its own: zlib keeps a pointer to it in its state.
final class GunzipSource: ByteSource {
    private let file: FileSource
    private let stream: UnsafeMutablePointer<z_stream>
    private let input: UnsafeMutableRawBufferPointer
    private var isBetweenMembers = false
    private var isDone = false

    /// - Throws: `CommandFailure` when zlib gets no memory.
    init(_ file: FileSource) throws {
        self.file = file
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        input = .allocate(byteCount: 64 * 1024, alignment: 1)
        // 15 bits of window, and 16 to say that the wrapping is gzip's.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, 15 + 16, zlibVersion(), size) == Z_OK else {
            throw CommandFailure(
                code: "MEMORY", message: "There is no memory to unpack the file.", path: file.name)
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        input.deallocate()
    }

    var fraction: Double? { file.fraction }

    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        let room = min(memory.count, 1 << 30)
        stream.pointee.next_out = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(room)
        while !isDone, stream.pointee.avail_out == UInt32(room) {
            if stream.pointee.avail_in == 0, try !refill() {
                guard isBetweenMembers else { throw damaged("it ends too early") }
                isDone = true
                break
            }
            if isBetweenMembers {
                // What follows a member and is not a member is padding, which gzip ignores too.
                guard stream.pointee.next_in.pointee == 0x1F else {
                    isDone = true
                    break
                }
                inflateReset(stream)
                isBetweenMembers = false
            }
            switch inflate(stream, Z_NO_FLUSH) {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END: isBetweenMembers = true
            case Z_MEM_ERROR:
                throw CommandFailure(
                    code: "MEMORY", message: "There is no memory to unpack the file.",
                    path: file.name)
            default:
                throw damaged(stream.pointee.msg.map { String(cString: $0) } ?? "not gzip")
            }
        }
        return room - Int(stream.pointee.avail_out)
    }

    private func refill() throws -> Bool {
        let got = try file.read(into: input)
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(got)
        return got > 0
    }

    private func damaged(_ reason: String) -> CommandFailure {
        CommandFailure(
            code: "BAD_GZIP", message: "The compressed file is damaged: \(reason).",
            path: file.name, status: .badData)
    }
}
