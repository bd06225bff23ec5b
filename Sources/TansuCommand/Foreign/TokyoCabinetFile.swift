import CTansuZlib
import Foundation

/// The records of a hash database or a table of Tokyo Cabinet, in either byte order.
///
/// The file has 256 bytes with its properties, an array of buckets, and records one after another, with free blocks
/// between them. Each bucket is a binary tree of records; it is used only to judge what is found after damage.
final class TokyoCabinetFile {
    enum Item {
        case record(key: [UInt8], value: [UInt8], offset: Int)
        /// What is in a range of the file cannot be read.
        case damage(Range<Int>, String)
    }

    /// The most bytes of a value. The largest document of this database is smaller.
    private static let maximumValue = 64 << 20
    private static let maximumKey = 64 << 10
    private static let headSize = 256
    /// The most memory for what the log of an open transaction restores.
    private static let maximumRestored = 1 << 30

    private let file: RestoredFile
    private let isBigEndian: Bool
    private let alignment: Int
    private let isLarge: Bool
    private let isDeflated: Bool
    private let bucketCount: Int
    private let firstRecord: Int
    private let end: Int
    private var position: Int
    private var hasReportedEnd = false
    private var found = 0
    private var isDamaged = false

    /// The number of records that the file says it has.
    let recordCount: Int
    /// Whether the program that wrote the file has closed it.
    let wasClosed: Bool
    /// Whether the log of a transaction that did not end was undone.
    let wasRestored: Bool

    /// - Throws: `CommandError` for another file, and for one that only its own program can read.
    init(path: String) throws {
        let file = try RestoredFile(path: path)
        var head = Array(try file.bytes(at: 0, count: Self.headSize))
        guard head.count == Self.headSize, head.starts(with: "ToKyO CaBiNeT\n".utf8) else {
            throw CommandError.wrongFile(path, "is no database of Tokyo Cabinet, as EJDB 1 has them")
        }
        guard [0, 3].contains(head[32]) else {
            throw CommandError.wrongFile(path, "is an index of EJDB or another kind of file, not a database")
        }
        guard let order = [false, true].first(where: { Self.isPlausible(head, isBigEndian: $0, file.size) }) else {
            throw CommandError.wrongFile(path, "has a damaged head")
        }
        self.file = file
        isBigEndian = order
        let isOpen = head[33] & 1 != 0
        let log = path + ".wal"
        wasRestored = isOpen && FileManager.default.fileExists(atPath: log)
        if wasRestored {
            try Self.undo(log, in: file, isBigEndian: order)
            head = Array(try file.bytes(at: 0, count: Self.headSize))
            guard head.count == Self.headSize, Self.isPlausible(head, isBigEndian: order, file.size) else {
                throw CommandError.wrongFile(log, "is damaged: what it restores is no database")
            }
        }
        wasClosed = !isOpen
        let options = head[36]
        guard options & ~3 == 0 else {
            throw CommandError.wrongFile(path, "is compressed in a way that EJDB does not use")
        }
        (isLarge, isDeflated) = (options & 1 != 0, options & 2 != 0)
        alignment = 1 << Int(head[34])
        bucketCount = Self.number(head[40..<48], order) ?? 0
        recordCount = Self.number(head[48..<56], order) ?? 0
        firstRecord = Self.number(head[64..<72], order) ?? 0
        let written = Self.number(head[56..<64], order) ?? 0
        // A file that was not closed may have records after the end that its head names.
        end = isOpen && !wasRestored ? file.size : written
        position = firstRecord
    }

    /// The fraction that was read.
    var fraction: Double { end > 0 ? min(1, Double(position) / Double(end)) : 1 }

    /// Whether the numbers of a head fit together in a byte order, which the file does not name.
    private static func isPlausible(_ head: [UInt8], isBigEndian: Bool, _ size: Int) -> Bool {
        guard let buckets = number(head[40..<48], isBigEndian), let written = number(head[56..<64], isBigEndian),
            let first = number(head[64..<72], isBigEndian), number(head[48..<56], isBigEndian) != nil,
            head[34] <= 16, buckets > 0, buckets < 1 << 40
        else { return false }
        let width = head[36] & 1 != 0 ? 8 : 4
        return first >= headSize + buckets * width && first <= written && first <= size && written < 1 << 48
    }

    // MARK: Numbers

    /// A number without a sign, or nil when it has more than 62 bits.
    private static func number(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> Int? {
        var value: UInt64 = 0
        if isBigEndian {
            for byte in bytes { value = value << 8 | UInt64(byte) }
        } else {
            for byte in bytes.reversed() { value = value << 8 | UInt64(byte) }
        }
        return value >> 62 == 0 ? Int(value) : nil
    }

    /// A number in groups of seven bits, the lowest first, all but the last complemented.
    static func variableNumber(_ bytes: ArraySlice<UInt8>, _ index: inout Int) -> Int? {
        var (value, shift) = (0, 0)
        while index < bytes.endIndex, shift <= 28 {
            let byte = bytes[index]
            index += 1
            value += Int(byte < 0x80 ? byte : ~byte) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    // MARK: The log of a transaction

    /// Undoes in memory what a transaction that did not end has changed: the log has the bytes before each change.
    private static func undo(_ path: String, in file: RestoredFile, isBigEndian: Bool) throws {
        let log = try RestoredFile(path: path)
        // A log of a transaction that has ended is empty.
        guard log.size >= 8 + headSize else { return }
        let head = try log.bytes(at: 0, count: 8)
        guard head.count == 8, let size = number(head, isBigEndian), size >= headSize, size <= file.size else {
            throw CommandError.wrongFile(path, "is damaged")
        }
        var changes: [(position: Int, offset: Int, count: Int)] = []
        var position = 8
        while true {
            let head = Array(try log.bytes(at: position, count: 12))
            guard head.count == 12, let offset = number(head[0..<8], isBigEndian),
                let count = number(head[8..<12], isBigEndian), position + 12 + count <= log.size
                // What was not written to the end precedes a change that was not made.
            else { break }
            guard offset + count <= size else { throw CommandError.wrongFile(path, "is damaged at byte \(position)") }
            changes.append((position + 12, offset, count))
            position += 12 + count
        }
        file.truncate(to: size)
        var taken = 0
        // The bytes before the first change are the right ones.
        for change in changes.reversed() {
            try Interruption.check()
            taken += try file.restore(log.bytes(at: change.position, count: change.count), at: change.offset)
            guard taken <= maximumRestored else {
                throw CommandError(
                    code: "TOO_LARGE",
                    message: "The log \"\(path)\" of a transaction is too large to be undone in memory",
                    path: path, remedy: "open the database with EJDB once, which restores it; nothing was changed")
            }
        }
    }

    // MARK: Records

    /// What is at an offset.
    private enum Entry {
        case record(Head)
        case free(end: Int)
        /// Nothing was written here yet.
        case unused
        case damaged
    }

    private struct Head {
        var hash: UInt8
        var left: Int
        var right: Int
        var key: [UInt8]
        var value: Range<Int>
        var end: Int
    }

    /// The next record, or what is damaged, or nil at the end.
    func next() throws -> Item? {
        while position < end {
            switch try entry(at: position) {
            case .free(let next): position = next
            case .unused:
                position = end
            case .record(let head):
                let start = position
                position = head.end
                found += 1
                guard let value = try value(of: head) else {
                    isDamaged = true
                    return .damage(start..<head.end, "The value of a record cannot be decompressed")
                }
                return .record(key: head.key, value: value, offset: start)
            case .damaged:
                let start = position
                position = try nextRecord(after: start)
                isDamaged = true
                return .damage(start..<position, "There is no record where one should be")
            }
        }
        return missing()
    }

    /// At the end of a file without damage: whether as many records were found as there should be.
    private func missing() -> Item? {
        guard !hasReportedEnd else { return nil }
        hasReportedEnd = true
        guard !isDamaged, wasClosed || wasRestored, found < recordCount else { return nil }
        return .damage(end..<end, "The file says that it has \(recordCount) records, and \(found) were found")
    }

    private func entry(at offset: Int, isRandom: Bool = false) throws -> Entry {
        let width = isLarge ? 8 : 4
        // Two bytes, two offsets, the padding, and two numbers of at most five bytes.
        let bytes = try file.bytes(at: offset, count: min(4 + 2 * width + 10, end - offset), isRandom: isRandom)
        guard let magic = bytes.first else { return .damaged }
        let base = bytes.startIndex
        if magic == 0xB0 {
            guard bytes.count >= 5, let size = Self.number(bytes[(base + 1)..<(base + 5)], isBigEndian), size >= 5,
                offset + size <= end
            else { return .damaged }
            return .free(end: offset + size)
        }
        if magic == 0, !wasClosed, !wasRestored { return try isUnused(from: offset) ? .unused : .damaged }
        guard magic == 0xC8, bytes.count >= 4 + 2 * width else { return .damaged }
        func field(_ start: Int, _ count: Int) -> Int? {
            Self.number(bytes[(base + start)..<(base + start + count)], isBigEndian)
        }
        var index = base + 4 + 2 * width
        guard let left = field(2, width), let right = field(2 + width, width), let padding = field(2 + 2 * width, 2),
            let keySize = Self.variableNumber(bytes, &index), keySize <= Self.maximumKey,
            let valueSize = Self.variableNumber(bytes, &index), valueSize <= Self.maximumValue
        else { return .damaged }
        let keyStart = offset + (index - base)
        let valueStart = keyStart + keySize
        guard valueStart + valueSize + padding <= end else { return .damaged }
        let hash = bytes[base + 1]
        let key = Array(try file.bytes(at: keyStart, count: keySize, isRandom: isRandom))
        guard key.count == keySize, Self.hash(of: key) == hash else { return .damaged }
        return .record(
            Head(
                hash: hash, left: left, right: right, key: key, value: valueStart..<(valueStart + valueSize),
                end: valueStart + valueSize + padding))
    }

    /// Whether a file that was not closed has only zeros from an offset on, for records to come.
    private func isUnused(from offset: Int) throws -> Bool {
        var start = offset
        while start < end {
            try Interruption.check()
            let bytes = try file.bytes(at: start, count: min(64 << 10, end - start))
            if bytes.isEmpty { return true }
            if bytes.contains(where: { $0 != 0 }) { return false }
            start += bytes.count
        }
        return true
    }

    private static func hash(of key: [UInt8]) -> UInt8 {
        UInt8(truncatingIfNeeded: key.reversed().reduce(751 as UInt32) { ($0 &* 31) ^ UInt32($1) })
    }

    private func value(of head: Head) throws -> [UInt8]? {
        let bytes = Array(try file.bytes(at: head.value.lowerBound, count: head.value.count))
        guard bytes.count == head.value.count else { return nil }
        return isDeflated ? inflated(bytes, maximum: Self.maximumValue) : bytes
    }

    // MARK: After damage

    /// The offset of the first record after a damaged place, or the end.
    private func nextRecord(after start: Int) throws -> Int {
        var candidate = (start / alignment + 1) * alignment
        while candidate < end {
            try Interruption.check()
            let bytes = try file.bytes(at: candidate, count: min(64 << 10, end - candidate))
            guard !bytes.isEmpty else { break }
            let offsets = stride(from: candidate, to: candidate + bytes.count, by: alignment)
            for offset in offsets where bytes[bytes.startIndex + offset - candidate] == 0xC8 {
                guard case .record(let head) = try entry(at: offset), head.key.count <= 1024 else { continue }
                if try isInTree(head, at: offset) { return offset }
            }
            candidate += (bytes.count + alignment - 1) / alignment * alignment
        }
        return end
    }

    /// Whether the tree of a key leads to a record. What was deleted or replaced is in no tree; a damaged one may have had
    /// the record.
    private func isInTree(_ head: Head, at offset: Int) throws -> Bool {
        let index = head.key.reduce(19_780_211 as UInt64) { $0 &* 37 &+ UInt64($1) } % UInt64(bucketCount)
        let width = isLarge ? 8 : 4
        let bucket = try file.bytes(at: Self.headSize + Int(index) * width, count: width, isRandom: true)
        guard bucket.count == width, var node = Self.number(bucket, isBigEndian) else { return true }
        // A tree is not deep; a loop ends here.
        for _ in 0..<1024 {
            let (place, overflow) = node.multipliedReportingOverflow(by: alignment)
            if place == 0 { return false }
            if place == offset { return true }
            guard !overflow, place >= firstRecord, place < end,
                case .record(let other) = try entry(at: place, isRandom: true)
            else { return true }
            if head.hash != other.hash {
                node = head.hash > other.hash ? other.left : other.right
            } else if head.key.count != other.key.count {
                node = head.key.count > other.key.count ? other.left : other.right
            } else if head.key == other.key {
                return false
            } else {
                node = other.key.lexicographicallyPrecedes(head.key) ? other.left : other.right
            }
        }
        return true
    }
}

/// The bytes of a deflated text, or nil when it is invalid or longer than a maximum.
private func inflated(_ bytes: [UInt8], maximum: Int) -> [UInt8]? {
    var input = bytes
    var stream = z_stream()
    // A window of 15 bits without a header.
    guard inflateInit2_(&stream, -15, zlibVersion(), Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    return input.withUnsafeMutableBufferPointer { input -> [UInt8]? in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        while true {
            let (status, count) = chunk.withUnsafeMutableBufferPointer { chunk in
                stream.next_out = chunk.baseAddress
                stream.avail_out = UInt32(chunk.count)
                return (inflate(&stream, Z_NO_FLUSH), chunk.count - Int(stream.avail_out))
            }
            output += chunk[..<count]
            guard output.count <= maximum else { return nil }
            if status == Z_STREAM_END { return output }
            guard status == Z_OK, count > 0 || stream.avail_in > 0 else { return nil }
        }
    }
}
