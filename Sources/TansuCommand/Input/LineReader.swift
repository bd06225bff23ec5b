/// The lines of a source, one after another, with memory that is bounded however long a line is. A byte order mark at the
/// beginning is no part of the first one.
struct LineReader {
    enum Line: Equatable {
        /// A line without its end.
        case text([UInt8])
        /// A line longer than the limit. Its bytes were skipped.
        case tooLong
    }

    private var buffer: InputBuffer
    private let limit: Int
    private var isFirst = true

    /// - Parameter limit: The most bytes that a line may have.
    init(_ source: any ByteSource, limit: Int) {
        buffer = InputBuffer(source, capacity: 64 << 10)
        self.limit = limit
    }

    /// The next line, or nil at the end of the source. The last one need not end with a newline.
    mutating func next() throws -> Line? {
        var (searched, isTooLong) = (0, false)
        while true {
            if let end = buffer.firstOffset(of: UInt8(ascii: "\n"), from: searched) {
                return take(end, and: 1, isTooLong)
            }
            searched = buffer.count
            if searched > limit {
                buffer.discard(searched)
                (searched, isTooLong) = (0, true)
            }
            if try !buffer.fill() { return searched == 0 && !isTooLong ? nil : take(searched, and: 0, isTooLong) }
        }
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private mutating func take(_ count: Int, and end: Int, _ isTooLong: Bool) -> Line {
        defer {
            buffer.discard(count + end)
            isFirst = false
        }
        if isTooLong || count > limit { return .tooLong }
        var line = buffer.withBytes(0..<count) { Array($0) }
        if isFirst, line.starts(with: Self.byteOrderMark) { line.removeFirst(Self.byteOrderMark.count) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return .text(line)
    }
}
