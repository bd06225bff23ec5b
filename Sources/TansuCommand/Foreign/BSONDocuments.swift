import TansuBSON

/// The documents of a file of BSON, one after another, compressed or not.
final class BSONDocuments: DocumentSource {
    private var stream: BSONStream
    private var isDone = false

    init(path: String) throws { stream = BSONStream(try openCompressedSource(path: path)) }

    var unit: String { "byte" }
    var fraction: Double? { stream.fraction }

    func nextDocument() throws -> SourceDocument? {
        guard !isDone else { return nil }
        let position = stream.position
        switch try stream.next() {
        case .end: return nil
        case .document(let content): return SourceDocument(position: position, content: content)
        case .terminator, .damage:
            isDone = true
            let fault = InvalidDocument(message: "There is no document here; the rest of the file is left out")
            return SourceDocument(position: position, content: .failure(fault))
        }
    }
}

/// A sequence of documents in BSON, each of which begins with its size.
struct BSONStream {
    enum Item {
        case document(Result<BSONDocument, InvalidDocument>)
        /// Four bytes of ones, as they are between the parts of an archive.
        case terminator
        case damage
        case end
    }

    /// MongoDB's documents have at most 16 MB, and those of its own a little more.
    private static let maximumSize = 17 << 20

    private var buffer: InputBuffer
    private(set) var position = 0

    init(_ source: any ByteSource) { buffer = InputBuffer(source) }

    var fraction: Double? { buffer.fraction }

    private mutating func holds(_ count: Int) throws -> Bool {
        while buffer.count < count {
            guard try buffer.fill() else { return false }
        }
        return true
    }

    /// The next bytes.
    mutating func take(_ count: Int) throws -> [UInt8]? {
        guard try holds(count) else { return nil }
        let bytes = buffer.withBytes(0..<count) { Array($0) }
        buffer.discard(count)
        position += count
        return bytes
    }

    /// The next document.
    mutating func next() throws -> Item {
        guard try holds(4) else { return buffer.count == 0 ? .end : .damage }
        let size = buffer.withBytes(0..<4) { $0.reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) } }
        if size == .max {
            _ = try take(4)
            return .terminator
        }
        guard size >= 5, size <= Self.maximumSize, let bytes = try take(Int(size)) else { return .damage }
        do { return .document(.success(try BSONDocument(bytes: bytes))) } catch {
            return .document(.failure(InvalidDocument(message: CommandError(error).message)))
        }
    }
}

extension ByteSource {
    /// The first bytes, or all when there are fewer.
    func first(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let chunk = try [UInt8](unsafeUninitializedCapacity: min(1 << 16, count - bytes.count)) { memory, read in
                read = try self.read(into: UnsafeMutableRawBufferPointer(memory))
            }
            if chunk.isEmpty { break }
            bytes += chunk
        }
        return bytes
    }
}
