import TansuBSON

/// A hand-written encoder without pointers: it appends bytes to an array.
struct PlainWriter {
    private(set) var bytes: [UInt8] = [0, 0, 0, 0]

    init() { bytes.reserveCapacity(256) }

    private mutating func key(_ type: UInt8, _ name: String) {
        bytes.append(type)
        bytes.append(contentsOf: name.utf8)
        bytes.append(0)
    }

    private mutating func number(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func field(_ name: String, _ value: Int) {
        if let small = Int32(exactly: value) {
            key(0x10, name)
            number(small)
        } else {
            field(name, Int64(value))
        }
    }

    mutating func field(_ name: String, _ value: Int64) {
        key(0x12, name)
        number(value)
    }

    mutating func field(_ name: String, _ value: Double) {
        key(0x01, name)
        number(value.bitPattern)
    }

    mutating func field(_ name: String, _ value: Bool) {
        key(0x08, name)
        bytes.append(value ? 1 : 0)
    }

    mutating func field(_ name: String, _ value: String) {
        key(0x02, name)
        number(Int32(value.utf8.count + 1))
        bytes.append(contentsOf: value.utf8)
        bytes.append(0)
    }

    mutating func finish() -> [UInt8] {
        bytes.append(0)
        withUnsafeBytes(of: Int32(bytes.count).littleEndian) { bytes.replaceSubrange(0..<4, with: $0) }
        return bytes
    }
}

/// A hand-written decoder without pointers: it reads the elements in their order and compares each key.
struct PlainReader {
    private let bytes: [UInt8]
    private var offset = 4
    private var type: UInt8 = 0

    struct Invalid: Error {}

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The key of the next element.
    mutating func next() throws -> String? {
        guard offset < bytes.count - 1 else { return nil }
        type = bytes[offset]
        guard let end = bytes[(offset + 1)...].firstIndex(of: 0) else { throw Invalid() }
        let key = String(decoding: bytes[offset + 1..<end], as: UTF8.self)
        offset = end + 1
        return key
    }

    private mutating func number<T: FixedWidthInteger>(as _: T.Type) throws -> T {
        let size = MemoryLayout<T>.size
        guard bytes.count - offset >= size else { throw Invalid() }
        var value: T = 0
        for i in 0..<size { value |= T(truncatingIfNeeded: bytes[offset + i]) << (8 * i) }
        offset += size
        return value
    }

    mutating func int() throws -> Int {
        switch type {
        case 0x10: return Int(try number(as: Int32.self))
        case 0x12: return Int(try number(as: Int64.self))
        default: throw Invalid()
        }
    }

    mutating func double() throws -> Double {
        guard type == 0x01 else { throw Invalid() }
        return Double(bitPattern: try number(as: UInt64.self))
    }

    mutating func bool() throws -> Bool {
        guard type == 0x08, offset < bytes.count else { throw Invalid() }
        offset += 1
        return bytes[offset - 1] != 0
    }

    mutating func string() throws -> String {
        guard type == 0x02 else { throw Invalid() }
        let length = Int(try number(as: Int32.self))
        guard length > 0, bytes.count - offset >= length else { throw Invalid() }
        offset += length
        return String(decoding: bytes[offset - length..<offset - 1], as: UTF8.self)
    }
}

extension Person {
    func plainlyWritten() -> [UInt8] {
        var writer = PlainWriter()
        writer.field("_id", id)
        writer.field("name", name)
        writer.field("email", email)
        writer.field("city", city)
        writer.field("age", age)
        writer.field("score", score)
        writer.field("isActive", isActive)
        writer.field("visits", visits)
        return writer.finish()
    }

    init(plainlyRead bytes: [UInt8]) throws {
        var (id, name, email, city, age): (Int?, String?, String?, String?, Int?)
        var (score, isActive, visits): (Double?, Bool?, Int64?)
        var reader = PlainReader(bytes)
        while let key = try reader.next() {
            switch key {
            case "_id": id = try reader.int()
            case "name": name = try reader.string()
            case "email": email = try reader.string()
            case "city": city = try reader.string()
            case "age": age = try reader.int()
            case "score": score = try reader.double()
            case "isActive": isActive = try reader.bool()
            case "visits": visits = Int64(try reader.int())
            default: throw PlainReader.Invalid()
            }
        }
        guard let id, let name, let email, let city, let age, let score, let isActive, let visits else {
            throw PlainReader.Invalid()
        }
        self.init(
            id: id, name: name, email: email, city: city, age: age, score: score, isActive: isActive, visits: visits)
    }
}
