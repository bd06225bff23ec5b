import Foundation

/// The functions of libzstd that streams need.
private struct ZstdLibrary {
    /// `ZSTD_inBuffer` and `ZSTD_outBuffer`.
    struct Buffer {
        var memory: UnsafeMutableRawPointer?
        var size = 0
        var position = 0
    }

    typealias Stream = OpaquePointer?
    /// The buffers are those of output and input.
    typealias Run = @convention(c) (Stream, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int

    let isError: @convention(c) (Int) -> UInt32
    let errorName: @convention(c) (Int) -> UnsafePointer<CChar>?
    let makeDecoder: @convention(c) () -> Stream
    let freeDecoder: @convention(c) (Stream) -> Int
    let decode: Run
    let makeEncoder: @convention(c) () -> Stream
    let freeEncoder: @convention(c) (Stream) -> Int
    let encode: Run
    let end: @convention(c) (Stream, UnsafeMutableRawPointer) -> Int

    init() throws {
        #if canImport(Darwin)
        let library = try DynamicLibrary(
            ["libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib", "/usr/local/lib/libzstd.1.dylib"], package: "zstd")
        #else
        let library = try DynamicLibrary(["libzstd.so.1", "libzstd.so"], package: "libzstd1")
        #endif
        func function<T>(_ name: String) throws -> T { try library.symbol("ZSTD_\(name)", as: T.self) }
        isError = try function("isError")
        errorName = try function("getErrorName")
        makeDecoder = try function("createDStream")
        freeDecoder = try function("freeDStream")
        decode = try function("decompressStream")
        makeEncoder = try function("createCStream")
        freeEncoder = try function("freeCStream")
        encode = try function("compressStream")
        end = try function("endStream")
    }

    func reason(_ status: Int) -> String? {
        isError(status) == 0 ? nil : errorName(status).map { String(cString: $0) } ?? "error \(status)"
    }

    static func memory(_ name: String) -> CommandError {
        CommandError(code: "MEMORY", message: "Cannot allocate memory for zstd", path: name)
    }
}

/// A source that decompresses zstd. It supports several frames.
final class ZstdSource: ByteSource {
    private let file: FileSource
    private let library: ZstdLibrary
    private let stream: OpaquePointer
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
    private var buffer = ZstdLibrary.Buffer()
    private var isBetweenFrames = true
    private var isDone = false

    /// - Throws: `CommandError` when libzstd is not installed.
    init(_ file: FileSource) throws {
        self.file = file
        library = try ZstdLibrary()
        guard let stream = library.makeDecoder() else {
            input.deallocate()
            throw ZstdLibrary.memory(file.name)
        }
        self.stream = stream
    }

    deinit {
        _ = library.freeDecoder(stream)
        input.deallocate()
    }

    var fraction: Double? { file.fraction }
    var name: String { file.name }

    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        var output = ZstdLibrary.Buffer(memory: memory.baseAddress, size: memory.count)
        while !isDone, output.position == 0, output.size > 0 {
            if buffer.position == buffer.size {
                let got = try file.read(into: input)
                buffer = ZstdLibrary.Buffer(memory: input.baseAddress, size: got)
                if got == 0 {
                    isDone = true
                    // What is still in the stream comes without further input.
                    guard isBetweenFrames else { throw corrupt("it is truncated") }
                    break
                }
            }
            repeat {
                let status = library.decode(stream, &output, &buffer)
                if status == Self.windowTooLarge { throw hasLargeWindow }
                if let reason = library.reason(status) { throw corrupt(reason) }
                isBetweenFrames = status == 0
            } while output.position == 0 && buffer.position < buffer.size
        }
        return output.position
    }

    /// The error of a frame that needs more memory than libzstd takes by itself.
    private static let windowTooLarge = -16

    private var hasLargeWindow: CommandError {
        CommandError(
            code: "BAD_ZSTD", message: "\"\(file.name)\" is compressed with a window of more than 128 MiB",
            path: file.name, remedy: "decompress it with \"zstd -d --long=31\"", status: .invalidInput)
    }

    private func corrupt(_ reason: String) -> CommandError {
        CommandError(
            code: "BAD_ZSTD", message: "The zstd data of \"\(file.name)\" is corrupt: \(reason)",
            path: file.name, status: .invalidInput)
    }
}

/// A compression of bytes with zstd.
final class ZstdEncoder: StreamEncoder {
    private let library: ZstdLibrary
    private let stream: OpaquePointer
    private var chunk = [UInt8](repeating: 0, count: 128 << 10)

    /// - Throws: `CommandError` when libzstd is not installed.
    init() throws {
        library = try ZstdLibrary()
        guard let stream = library.makeEncoder() else { throw ZstdLibrary.memory("zstd") }
        self.stream = stream
    }

    deinit { _ = library.freeEncoder(stream) }

    func encode(_ bytes: [UInt8], isEnd: Bool) throws -> [UInt8] {
        var result: [UInt8] = []
        var bytes = bytes
        try bytes.withUnsafeMutableBytes { memory in
            var input = ZstdLibrary.Buffer(memory: memory.baseAddress, size: memory.count)
            while input.position < input.size { _ = try run(&result) { library.encode(stream, $0, &input) } }
        }
        // Zero when all of the frame has been returned.
        while isEnd, try run(&result, { library.end(stream, $0) }) > 0 {}
        return result
    }

    private func run(
        _ result: inout [UInt8], _ body: (UnsafeMutableRawPointer) -> Int
    ) throws -> Int {
        let (status, count) = chunk.withUnsafeMutableBytes { memory in
            var output = ZstdLibrary.Buffer(memory: memory.baseAddress, size: memory.count)
            let status = body(&output)
            return (status, output.position)
        }
        if let reason = library.reason(status) {
            throw CommandError(code: "INTERNAL", message: "zstd cannot compress: \(reason)", status: .software)
        }
        result += chunk[..<count]
        return status
    }
}
