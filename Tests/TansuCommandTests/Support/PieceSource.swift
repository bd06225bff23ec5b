@testable import TansuCommand

/// A source that returns few bytes per read, like a pipe.
final class PieceSource: ByteSource {
    private var bytes: ArraySlice<UInt8>
    private let piece: Int

    init(_ text: String, piece: Int) {
        bytes = ArraySlice(Array(text.utf8))
        self.piece = piece
    }

    var fraction: Double? { nil }
    var name: String { "the input" }

    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = min(piece, memory.count, bytes.count)
        memory.copyBytes(from: bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        return count
    }
}
