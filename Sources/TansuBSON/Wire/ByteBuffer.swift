/// A growable run of bytes that BSON and JSON are written into.
///
/// This is the one place of the module that writes through a raw pointer. The reason is speed: an encoder appends a
/// few bytes per field, and `Array.append(contentsOf:)` with its uniqueness and bounds checks costs more than the
/// field itself. Every write goes through `reserve`, so it stays inside the allocation.
struct ByteBuffer: ~Copyable {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 256) {
        self.capacity = max(capacity, 16)
        base = .allocate(byteCount: self.capacity, alignment: 8)
    }

    deinit { base.deallocate() }

    var allocatedSize: Int { capacity }

    /// The bytes written so far; the pointer is valid until the next write.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    @inline(__always)
    private mutating func reserve(_ extra: Int) {
        if capacity - count < extra { grow(extra) }
    }

    @inline(never)
    private mutating func grow(_ extra: Int) {
        let needed = max(capacity &* 2, count + extra)
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: needed, alignment: 8)
        fresh.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = fresh
        capacity = needed
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Appends an integer in little-endian order, as BSON wants it.
    @inline(__always)
    mutating func append<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T) {
        reserve(MemoryLayout<T>.size)
        base.storeBytes(of: value.littleEndian, toByteOffset: count, as: T.self)
        count &+= MemoryLayout<T>.size
    }

    @inline(__always)
    mutating func append(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress, source.count > 0 else { return }
        reserve(source.count)
        (base + count).copyMemory(from: start, byteCount: source.count)
        count &+= source.count
    }

    @inline(__always)
    mutating func append(_ source: [UInt8]) {
        source.withUnsafeBytes { append($0) }
    }

    /// Appends the UTF-8 bytes of a text and nothing else; returns how many they are.
    @inline(__always)
    @discardableResult
    mutating func append(utf8 text: String) -> Int {
        var text = text
        return text.withUTF8 { utf8 in
            append(UnsafeRawBufferPointer(utf8))
            return utf8.count
        }
    }

    /// Appends a BSON string: length, bytes, zero.
    @inline(__always)
    mutating func append(bsonString text: String) {
        var text = text
        text.withUTF8 { utf8 in
            append(littleEndian: Int32(truncatingIfNeeded: utf8.count &+ 1))
            append(UnsafeRawBufferPointer(utf8))
            append(0 as UInt8)
        }
    }

    @inline(__always)
    mutating func store(_ byte: UInt8, at offset: Int) {
        precondition(offset >= 0 && offset < count)
        base.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }

    @inline(__always)
    mutating func store(length: Int, at offset: Int) {
        precondition(offset >= 0 && offset &+ 4 <= count)
        base.storeBytes(of: Int32(truncatingIfNeeded: length).littleEndian, toByteOffset: offset, as: Int32.self)
    }

    /// Opens a document: leaves room for its length and returns where that is.
    @inline(__always)
    mutating func openDocument() -> Int {
        append(littleEndian: 0 as Int32)
        return count &- 4
    }

    /// Closes the document whose length field is at `start`.
    @inline(__always)
    mutating func closeDocument(at start: Int) {
        append(0 as UInt8)
        store(length: count &- start, at: start)
    }

    /// Replaces a range by other bytes, moving what follows.
    mutating func replace(_ range: Range<Int>, with bytes: [UInt8]) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        let tail = count - range.upperBound
        reserve(bytes.count)
        (base + range.lowerBound + bytes.count).copyMemory(from: base + range.upperBound, byteCount: tail)
        bytes.withUnsafeBytes { source in
            if let start = source.baseAddress {
                (base + range.lowerBound).copyMemory(from: start, byteCount: source.count)
            }
        }
        count += bytes.count - range.count
    }

    mutating func truncate(to newCount: Int) {
        precondition(newCount >= 0 && newCount <= count)
        count = newCount
    }

    func array(from start: Int = 0) -> [UInt8] { [UInt8](bytes[start...]) }
}
