import Foundation
import TansuBSON

/// A hand-written encoder with raw pointers for one struct.
///
/// It is optimized: one allocation, literal keys, the fields in a known order, and inlined code. Like the library, it
/// checks the bounds of every write.
struct HandWriter {
    private let base: UnsafeMutableRawPointer
    private let capacity: Int
    private var count = 4

    struct Full: Error {}

    static func write(capacity: Int, _ body: (inout HandWriter) throws -> Void) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: capacity) { storage, count in
            guard let base = storage.baseAddress else { throw Full() }
            var writer = HandWriter(base: UnsafeMutableRawPointer(base), capacity: storage.count)
            try body(&writer)
            try writer.byte(0)
            writer.base.storeBytes(of: Int32(truncatingIfNeeded: writer.count), as: Int32.self)
            count = writer.count
        }
    }

    private init(base: UnsafeMutableRawPointer, capacity: Int) {
        self.base = base
        self.capacity = capacity
    }

    @inline(__always)
    private mutating func byte(_ value: UInt8) throws {
        guard capacity &- count >= 1 else { throw Full() }
        base.storeBytes(of: value, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    @inline(__always)
    private mutating func number<T: BitwiseCopyable>(_ value: T) throws {
        guard capacity &- count >= MemoryLayout<T>.size else { throw Full() }
        base.storeBytes(of: value, toByteOffset: count, as: T.self)
        count &+= MemoryLayout<T>.size
    }

    @inline(__always)
    private mutating func key(_ type: UInt8, _ name: StaticString) throws {
        try byte(type)
        let length = name.utf8CodeUnitCount
        guard capacity &- count > length else { throw Full() }
        (base + count).copyMemory(from: name.utf8Start, byteCount: length)
        base.storeBytes(of: 0, toByteOffset: count &+ length, as: UInt8.self)
        count &+= length &+ 1
    }

    @inline(__always)
    mutating func field(_ name: StaticString, _ value: Int) throws {
        if let small = Int32(exactly: value) {
            try key(0x10, name)
            try number(small)
        } else {
            try key(0x12, name)
            try number(Int64(value))
        }
    }

    @inline(__always)
    mutating func field(_ name: StaticString, _ value: Int64) throws {
        try key(0x12, name)
        try number(value)
    }

    @inline(__always)
    mutating func field(_ name: StaticString, _ value: Double) throws {
        try key(0x01, name)
        try number(value.bitPattern)
    }

    @inline(__always)
    mutating func field(_ name: StaticString, _ value: Bool) throws {
        try key(0x08, name)
        try byte(value ? 1 : 0)
    }

    @inline(__always)
    mutating func field(_ name: StaticString, _ value: String) throws {
        try key(0x02, name)
        var value = value
        try value.withUTF8 { utf8 in
            try number(Int32(truncatingIfNeeded: utf8.count &+ 1))
            guard capacity &- count > utf8.count, let start = utf8.baseAddress else { throw Full() }
            (base + count).copyMemory(from: start, byteCount: utf8.count)
            base.storeBytes(of: 0, toByteOffset: count &+ utf8.count, as: UInt8.self)
            count &+= utf8.count &+ 1
        }
    }
}

/// A hand-written decoder with raw pointers. It expects each field after the previous one and searches otherwise.
struct HandReader {
    private let bytes: UnsafeRawBufferPointer
    private var cursor = 4

    struct Invalid: Error {}

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The offset of the value of a field, and its type.
    @inline(__always)
    private mutating func find(_ name: StaticString) throws -> (type: UInt8, at: Int) {
        let end = cursor &+ 1 &+ name.utf8CodeUnitCount
        if end < bytes.count, bytes[end] == 0,
            memcmp(bytes.baseAddress.unsafelyUnwrapped + cursor + 1, name.utf8Start, name.utf8CodeUnitCount) == 0
        {
            return (bytes[cursor], end &+ 1)
        }
        return try search(name)
    }

    @inline(never)
    private mutating func search(_ name: StaticString) throws -> (type: UInt8, at: Int) {
        var offset = 4
        while offset < bytes.count - 1 {
            guard let zero = bytes[(offset + 1)...].firstIndex(of: 0) else { throw Invalid() }
            let isWanted = name.withUTF8Buffer { bytes[offset + 1..<zero].elementsEqual($0) }
            if isWanted { return (bytes[offset], zero + 1) }
            offset = try skip(bytes[offset], zero + 1)
        }
        throw Invalid()
    }

    private func skip(_ type: UInt8, _ at: Int) throws -> Int {
        switch type {
        case 0x01, 0x09, 0x12: return at + 8
        case 0x08: return at + 1
        case 0x10: return at + 4
        case 0x02: return at + 4 + Int(try number(at, as: Int32.self))
        default: throw Invalid()
        }
    }

    @inline(__always)
    private func number<T: BitwiseCopyable>(_ at: Int, as type: T.Type) throws -> T {
        guard at >= 0, bytes.count &- at >= MemoryLayout<T>.size else { throw Invalid() }
        return bytes.loadUnaligned(fromByteOffset: at, as: type)
    }

    @inline(__always)
    mutating func int(_ name: StaticString) throws -> Int {
        let (type, at) = try find(name)
        switch type {
        case 0x10:
            cursor = at &+ 4
            return Int(try number(at, as: Int32.self))
        case 0x12:
            cursor = at &+ 8
            return Int(try number(at, as: Int64.self))
        default:
            throw Invalid()
        }
    }

    @inline(__always)
    mutating func double(_ name: StaticString) throws -> Double {
        let (type, at) = try find(name)
        guard type == 0x01 else { throw Invalid() }
        cursor = at &+ 8
        return Double(bitPattern: try number(at, as: UInt64.self))
    }

    @inline(__always)
    mutating func bool(_ name: StaticString) throws -> Bool {
        let (type, at) = try find(name)
        guard type == 0x08 else { throw Invalid() }
        cursor = at &+ 1
        return try number(at, as: UInt8.self) != 0
    }

    @inline(__always)
    mutating func string(_ name: StaticString) throws -> String {
        let (type, at) = try find(name)
        guard type == 0x02 else { throw Invalid() }
        let length = Int(try number(at, as: Int32.self))
        guard length > 0, bytes.count &- at &- 4 >= length else { throw Invalid() }
        cursor = at &+ 4 &+ length
        return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[at + 4..<at + 3 + length]), as: UTF8.self)
    }
}

extension Person {
    func handWritten() throws -> [UInt8] {
        try HandWriter.write(capacity: 192 + name.utf8.count + email.utf8.count + city.utf8.count) { writer in
            try writer.field("_id", id)
            try writer.field("name", name)
            try writer.field("email", email)
            try writer.field("city", city)
            try writer.field("age", age)
            try writer.field("score", score)
            try writer.field("isActive", isActive)
            try writer.field("visits", visits)
        }
    }

    init(handRead bytes: UnsafeRawBufferPointer) throws {
        var reader = HandReader(bytes)
        id = try reader.int("_id")
        name = try reader.string("name")
        email = try reader.string("email")
        city = try reader.string("city")
        age = try reader.int("age")
        score = try reader.double("score")
        isActive = try reader.bool("isActive")
        visits = Int64(try reader.int("visits"))
    }
}
