#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The location of one element of a document: offsets of its type, its key and its value.
package struct RawElement {
    package var type: BSONType
    /// The offset of the type byte.
    package var start: Int
    package var keyStart: Int
    package var keyLength: Int
    package var valueStart: Int
    package var valueEnd: Int

    @inline(__always)
    func key(in bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes[keyStart..<keyStart + keyLength]), as: UTF8.self)
    }
}

/// Direct access to BSON bytes. Every read is checked against the bounds of the buffer. Malformed bytes make these
/// functions return nil.
extension UnsafeRawBufferPointer {
    @inline(__always)
    package func int32(at offset: Int) -> Int32 {
        Int32(littleEndian: loadUnaligned(fromByteOffset: offset, as: Int32.self))
    }

    @inline(__always)
    package func int64(at offset: Int) -> Int64 {
        Int64(littleEndian: loadUnaligned(fromByteOffset: offset, as: Int64.self))
    }

    @inline(__always)
    package func double(at offset: Int) -> Double {
        Double(bitPattern: UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }

    /// The text of a BSON string value at `offset`.
    @inline(__always)
    func string(at offset: Int) -> String {
        let length = Int(int32(at: offset))
        return String(decoding: UnsafeRawBufferPointer(rebasing: self[offset + 4..<offset + 3 + length]), as: UTF8.self)
    }

    /// The text up to the next zero byte.
    func cString(at offset: Int) -> String {
        let length = zeroByte(from: offset, to: count).map { $0 - offset } ?? 0
        return String(decoding: UnsafeRawBufferPointer(rebasing: self[offset..<offset + length]), as: UTF8.self)
    }

    /// The offset of the first zero byte in a range.
    @inline(__always)
    func zeroByte(from start: Int, to end: Int) -> Int? {
        guard start < end, let base = baseAddress, let hit = memchr(base + start, 0, end &- start) else { return nil }
        return UnsafeRawPointer(hit) - base
    }

    /// The element that begins at `offset`, or nil when there is no complete element before `end`.
    ///
    /// - Parameter end: The offset of the zero byte that ends the document.
    @inline(__always)
    package func element(at offset: Int, end: Int) -> RawElement? {
        guard offset < end, let type = BSONType(rawValue: self[offset]),
            let keyEnd = zeroByte(from: offset &+ 1, to: end),
            let length = valueLength(type, at: keyEnd &+ 1, end: end)
        else { return nil }
        return RawElement(
            type: type, start: offset, keyStart: offset &+ 1, keyLength: keyEnd &- offset &- 1,
            valueStart: keyEnd &+ 1, valueEnd: keyEnd &+ 1 &+ length)
    }

    /// The size of the value of a type at `offset`, or nil when it extends beyond `end`.
    @inline(__always)
    func valueLength(_ type: BSONType, at offset: Int, end: Int) -> Int? {
        valueLength(code: type.rawValue, at: offset, end: end)
    }

    /// The size of the value of a type byte at `offset`, or nil when it extends beyond `end` or BSON does not define
    /// the type.
    @inline(__always)
    func valueLength(code: UInt8, at offset: Int, end: Int) -> Int? {
        let length: Int
        switch code {
        case 0x01, 0x09, 0x11, 0x12:
            length = 8
        case 0x10:
            length = 4
        case 0x08:
            length = 1
        case 0x02:
            guard let size = prefix(at: offset, end: end, minimum: 1) else { return nil }
            length = 4 &+ size
        default:
            return rareLength(code: code, at: offset, end: end)
        }
        return length <= end &- offset ? length : nil
    }

    /// The size of a value of any type. It handles the less frequent types, so that the common ones can be inlined.
    private func rareLength(code: UInt8, at offset: Int, end: Int) -> Int? {
        let length: Int
        switch BSONType(rawValue: code) {
        case nil:
            return nil
        case .double, .date, .int64, .timestamp:
            length = 8
        case .int32:
            length = 4
        case .bool:
            length = 1
        case .objectID:
            length = 12
        case .decimal128:
            length = 16
        case .null, .undefined, .minKey, .maxKey:
            length = 0
        case .string, .code, .symbol:
            guard let size = prefix(at: offset, end: end, minimum: 1) else { return nil }
            length = 4 &+ size
        case .binary:
            guard let size = prefix(at: offset, end: end, minimum: 0) else { return nil }
            length = 5 &+ size
        case .document, .array:
            guard let size = prefix(at: offset, end: end, minimum: 5) else { return nil }
            length = size
        case .codeWithScope:
            // Length, an empty string and an empty document make 14 bytes.
            guard let size = prefix(at: offset, end: end, minimum: 14) else { return nil }
            length = size
        case .dbPointer:
            guard let size = prefix(at: offset, end: end, minimum: 1) else { return nil }
            length = 4 &+ size &+ 12
        case .regularExpression:
            guard let first = zeroByte(from: offset, to: end), let second = zeroByte(from: first &+ 1, to: end)
            else { return nil }
            length = second &+ 1 &- offset
        }
        return length <= end &- offset ? length : nil
    }

    @inline(__always)
    private func prefix(at offset: Int, end: Int, minimum: Int) -> Int? {
        guard end &- offset >= 4 else { return nil }
        let size = Int(int32(at: offset))
        return size >= minimum ? size : nil
    }
}
