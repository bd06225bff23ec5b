/// A growable buffer that BSON and JSON are written into.
///
/// This is the only type of the module that writes through a raw pointer. The reason is speed: an encoder appends a
/// few bytes per field, and the uniqueness and bounds checks of `Array.append(contentsOf:)` cost more than the field
/// itself. Every write calls `reserve` first, so it stays inside the allocation.
///
/// The functions that ``BSONFieldWriter`` uses are inlinable, so callers in other modules write fields without a call.
@usableFromInline
struct ByteBuffer: ~Copyable {
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    @usableFromInline var count = 0

    init(capacity: Int = 256) {
        self.capacity = max(capacity, 16)
        base = .allocate(byteCount: self.capacity, alignment: 8)
    }

    deinit { base.deallocate() }

    var allocatedSize: Int { capacity }

    /// The bytes written so far; the pointer is valid until the next write.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    @inlinable @inline(__always)
    mutating func reserve(_ extra: Int) {
        if capacity - count < extra { grow(extra) }
    }

    @usableFromInline @inline(never)
    mutating func grow(_ extra: Int) {
        let needed = max(capacity &* 2, count + extra)
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: needed, alignment: 8)
        fresh.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = fresh
        capacity = needed
    }

    @inlinable @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Appends an integer in little-endian order, which BSON requires.
    @inlinable @inline(__always)
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

    /// Appends the UTF-8 bytes of a text without a terminator and returns their number.
    @inline(__always)
    @discardableResult
    mutating func append(utf8 text: String) -> Int {
        var text = text
        return text.withUTF8 { utf8 in
            append(UnsafeRawBufferPointer(utf8))
            return utf8.count
        }
    }

    /// Appends a placeholder for a type byte and a key, and returns the offset of the type byte.
    ///
    /// A key that contains a NUL is not appended, and the result is nil.
    @inline(__always)
    mutating func appendElement(key: String) -> Int? {
        var key = key
        return key.withUTF8 { utf8 in
            let typeOffset = count
            reserve(utf8.count &+ 2)
            // Keys are short, so one loop that copies and looks for NUL is faster than a call for each task.
            for i in 0..<utf8.count {
                if utf8[i] == 0 { return nil }
                base.storeBytes(of: utf8[i], toByteOffset: typeOffset &+ 1 &+ i, as: UInt8.self)
            }
            base.storeBytes(of: 0, toByteOffset: typeOffset &+ 1 &+ utf8.count, as: UInt8.self)
            count = typeOffset &+ utf8.count &+ 2
            return typeOffset
        }
    }

    /// Appends a type byte and a key, and reserves memory for a value after them.
    ///
    /// - Returns: False when the key contains a NUL. Nothing is appended then.
    @inlinable @inline(__always)
    mutating func appendElement(_ type: BSONType, key: StaticString, reserving valueLength: Int) -> Bool {
        key.withUTF8Buffer { utf8 in
            reserve(utf8.count &+ 2 &+ valueLength)
            for i in 0..<utf8.count {
                if utf8[i] == 0 { return false }
                base.storeBytes(of: utf8[i], toByteOffset: count &+ 1 &+ i, as: UInt8.self)
            }
            base.storeBytes(of: type.rawValue, toByteOffset: count, as: UInt8.self)
            base.storeBytes(of: 0, toByteOffset: count &+ 1 &+ utf8.count, as: UInt8.self)
            count &+= utf8.count &+ 2
            return true
        }
    }

    /// Appends a BSON string: length, bytes, zero.
    @inlinable @inline(__always)
    mutating func append(bsonString text: String) {
        var text = text
        text.withUTF8 { utf8 in
            reserve(utf8.count &+ 5)
            base.storeBytes(
                of: Int32(truncatingIfNeeded: utf8.count &+ 1).littleEndian, toByteOffset: count, as: Int32.self)
            if let start = utf8.baseAddress {
                (base + count + 4).copyMemory(from: start, byteCount: utf8.count)
            }
            base.storeBytes(of: 0, toByteOffset: count &+ 4 &+ utf8.count, as: UInt8.self)
            count &+= utf8.count &+ 5
        }
    }

    mutating func append(cString text: String) {
        if let bytes = text.bytesWithNUL {
            bytes.withUnsafeBytes { append($0) }
        } else {
            append(utf8: text)
        }
        append(0 as UInt8)
    }

    /// Appends the key of an array element: its position in decimal digits and a terminating zero.
    @inline(__always)
    mutating func append(arrayKey index: Int) {
        if index < 10 {
            append(0x30 &+ UInt8(truncatingIfNeeded: index))
        } else if index < 100 {
            append(0x30 &+ UInt8(truncatingIfNeeded: index / 10))
            append(0x30 &+ UInt8(truncatingIfNeeded: index % 10))
        } else {
            append(utf8: String(index))
        }
        append(0 as UInt8)
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

    /// Begins a document: appends a placeholder for its length and returns the offset of the placeholder.
    @inline(__always)
    mutating func openDocument() -> Int {
        append(littleEndian: 0 as Int32)
        return count &- 4
    }

    /// Ends the document whose length field is at `start`.
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

extension UnsafeRawBufferPointer {
    /// The value of the first field of a document; nil when it has none.
    package var firstValue: BSONValue? {
        guard count >= 5, let first = element(at: 4, end: count - 1) else { return nil }
        return value(first)
    }

    /// Calls a closure with the bytes of each document in the array that is the first field of a document. Other elements
    /// are passed over.
    package func forEachDocumentOfFirstArray(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        guard count >= 5, let array = element(at: 4, end: count - 1), array.type == .array else { return }
        var offset = array.valueStart + 4
        while let document = element(at: offset, end: array.valueEnd - 1) {
            if document.type == .document {
                try body(UnsafeRawBufferPointer(rebasing: self[document.valueStart..<document.valueEnd]))
            }
            offset = document.valueEnd
        }
    }
}
