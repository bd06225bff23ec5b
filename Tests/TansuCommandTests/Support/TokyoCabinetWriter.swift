import CTansuZlib
import TansuBSON
import Testing

/// A small table of Tokyo Cabinet, as EJDB 1 writes them.
struct TokyoCabinetWriter {
    var isBigEndian = false
    var isLarge = false
    var isDeflated = false
    /// Whether the file says that it was not closed.
    var isOpen = false
    /// The logarithm of what offsets are multiples of.
    var alignment = 4
    private(set) var records: [(key: [UInt8], value: [UInt8])] = []
    /// The places of records that were removed.
    private var holes: [Int: Int] = [:]

    private let buckets = 3

    /// Adds a row with these columns.
    mutating func add(_ key: [UInt8], _ columns: [(String, [UInt8])]) {
        records.append(
            (
                key,
                columns.flatMap { name, value in
                    number(name.utf8.count) + Array(name.utf8) + number(value.count) + value
                }
            ))
    }

    /// Adds a document, whose `_id` is an ObjectID.
    mutating func add(_ document: BSONDocument) {
        guard case .objectID(let id)? = document["_id"] else { return }
        add(id.bytes, [("$", document.bytes)])
    }

    /// Adds a collection to the list of them.
    mutating func addCollection(_ name: String, _ columns: [(String, BSONDocument)] = []) {
        add(Array(name.utf8), [("name", Array(name.utf8))] + columns.map { ($0.0, $0.1.bytes) })
    }

    /// Puts a free block after the record that was added last.
    mutating func addFreeBlock(_ size: Int) { holes[records.count - 1] = size }

    private func number(_ value: Int) -> [UInt8] {
        var (rest, bytes) = (value, [] as [UInt8])
        repeat {
            let low = UInt8(rest & 0x7F)
            rest >>= 7
            bytes.append(rest > 0 ? ~low : low)
        } while rest > 0
        return bytes
    }

    private func fixed(_ value: Int, _ width: Int) -> [UInt8] {
        let bytes = (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isBigEndian ? bytes.reversed() : bytes
    }

    /// The bytes of the file, and where its records begin.
    func file() throws -> (bytes: [UInt8], offsets: [Int]) {
        let width = isLarge ? 8 : 4
        let unit = 1 << alignment
        let first = (256 + buckets * width + unit - 1) / unit * unit
        var nodes = [(left: Int, right: Int)](repeating: (0, 0), count: records.count)
        var roots = [Int](repeating: 0, count: buckets)
        var bodies: [[UInt8]] = []
        var offsets: [Int] = []
        var position = first
        for (index, record) in records.enumerated() {
            let value = isDeflated ? try deflated(record.value) : record.value
            let body = number(record.key.count) + number(value.count) + record.key + value
            let size = 4 + 2 * width + body.count
            bodies.append(body)
            offsets.append(position)
            position += (size + unit - 1) / unit * unit + (holes[index] ?? 0)
        }
        for (index, record) in records.enumerated() {
            let bucket = Int(record.key.reduce(19_780_211 as UInt64) { $0 &* 37 &+ UInt64($1) } % UInt64(buckets))
            guard roots[bucket] != 0 else {
                roots[bucket] = offsets[index]
                continue
            }
            var place = roots[bucket]
            while true {
                let node = offsets.firstIndex(of: place) ?? 0
                let goesLeft = isAfter(record.key, records[node].key)
                let next = goesLeft ? nodes[node].left : nodes[node].right
                if next == 0 {
                    if goesLeft { nodes[node].left = offsets[index] } else { nodes[node].right = offsets[index] }
                    break
                }
                place = next
            }
        }
        var bytes = Array("ToKyO CaBiNeT\n1.0:911\n".utf8)
        bytes += [UInt8](repeating: 0, count: 32 - bytes.count)
        let options: UInt8 = (isLarge ? 1 : 0) | (isDeflated ? 2 : 0)
        bytes += [3, isOpen ? 1 : 0, UInt8(alignment), 10, options, 0, 0, 0]
        for value in [buckets, records.count, position, first] { bytes += fixed(value, 8) }
        bytes += [UInt8](repeating: 0, count: 256 - bytes.count)
        for root in roots { bytes += fixed(root >> alignment, width) }
        bytes += [UInt8](repeating: 0, count: first - bytes.count)
        for (index, body) in bodies.enumerated() {
            bytes += [UInt8](repeating: 0, count: max(0, offsets[index] - bytes.count))
            let size = 4 + 2 * width + body.count
            let padding = (size + unit - 1) / unit * unit - size
            bytes += [0xC8, hash(of: records[index].key)] + fixed(nodes[index].left >> alignment, width)
            bytes += fixed(nodes[index].right >> alignment, width) + fixed(padding, 2) + body
            bytes += [UInt8](repeating: 0, count: padding)
            if let hole = holes[index] {
                bytes += [0xB0] + fixed(hole, 4) + [UInt8](repeating: 0x55, count: hole - 5)
            }
        }
        return (bytes, offsets)
    }

    /// The log of a transaction: the size of the file before it, and the bytes at these places of it.
    func log(of before: [UInt8], _ ranges: [Range<Int>]) -> [UInt8] {
        ranges.reduce(into: fixed(before.count, 8)) { log, range in
            log += fixed(range.lowerBound, 8) + fixed(range.count, 4) + before[range]
        }
    }

    private func hash(of key: [UInt8]) -> UInt8 {
        UInt8(truncatingIfNeeded: key.reversed().reduce(751 as UInt32) { ($0 &* 31) ^ UInt32($1) })
    }

    /// Whether the first of two keys is in the left half of the tree below the second.
    private func isAfter(_ key: [UInt8], _ other: [UInt8]) -> Bool {
        if hash(of: key) != hash(of: other) { return hash(of: key) > hash(of: other) }
        if key.count != other.count { return key.count > other.count }
        return other.lexicographicallyPrecedes(key)
    }

    private func deflated(_ bytes: [UInt8]) throws -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        let begun = deflateInit2_(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, zlibVersion(), size)
        try #require(begun == Z_OK)
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
        let capacity = output.count
        let count = try input.withUnsafeMutableBufferPointer { input in
            try output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(capacity)
                try #require(deflate(&stream, Z_FINISH) == Z_STREAM_END)
                return capacity - Int(stream.avail_out)
            }
        }
        return Array(output[..<count])
    }
}
