#if TansuSync
import Crypto
import TansuBSON

/// A SHA-256 over values in a form that is the same on every replica that has the same document.
///
/// JSON, in which documents travel, has neither two forms of 1 nor widths of integers, and its objects have no order. So
/// members are in the order of the bytes of their names, and integers and doubles of one value have one form, 0 and -0
/// among them. Any other value has the bytes of BSON. Each part begins with what ends it: a count or a length.
struct CanonicalForm {
    private enum Tag: UInt8 {
        case document = 1
        case array = 2
        case integer = 3
        case double = 4
        case other = 5
    }

    private var hash = SHA256()
    private var buffer: [UInt8] = []

    mutating func append(version: UInt8) { buffer.append(version) }
    mutating func append(flag: Bool) { buffer.append(flag ? 1 : 0) }
    mutating func append(count: Int) { append(bits: UInt64(count)) }

    mutating func append(text: String) {
        append(count: text.utf8.count)
        buffer.append(contentsOf: text.utf8)
    }

    /// Appends the members of a document whose names do not begin with `_`, in the order of their names.
    mutating func append(fieldsOf document: BSONDocument) throws(RevisionError) {
        do {
            try document.withUnsafeBytes { try append(fieldsOf: $0, depth: 1, skipsReserved: true) }
        } catch let error as RevisionError {
            throw error
        } catch {
            throw tooDeep
        }
    }

    // The bytes of documents are valid, so each of their elements is found.
    private mutating func append(
        fieldsOf bytes: UnsafeRawBufferPointer, depth: Int, skipsReserved: Bool = false
    ) throws {
        guard depth <= BSONDocument.maximumDepth else { throw tooDeep }
        var elements: [RawElement] = []
        var isSorted = true
        var offset = 4
        while let element = bytes.element(at: offset, end: bytes.count - 1) {
            offset = element.valueEnd
            if skipsReserved, Self.isReserved(bytes[element.keyStart..<element.keyStart + element.keyLength]) {
                continue
            }
            if let last = elements.last, element.precedes(last, in: bytes) { isSorted = false }
            elements.append(element)
        }
        // Equal names stay in their order.
        if !isSorted {
            elements.sort { $0.precedes($1, in: bytes) || (!$1.precedes($0, in: bytes) && $0.start < $1.start) }
        }
        buffer.append(Tag.document.rawValue)
        append(count: elements.count)
        for element in elements {
            append(count: element.keyLength)
            append(bytes[element.keyStart..<element.keyStart + element.keyLength])
            try append(element, of: bytes, depth: depth)
        }
    }

    /// Whether a name begins with `_` and is not one of those that replicators write, which are kept as others are.
    private static func isReserved(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
        name.first == UInt8(ascii: "_") && !name.starts(with: "_replication_".utf8)
    }

    private mutating func append(
        _ element: RawElement, of bytes: UnsafeRawBufferPointer, depth: Int
    ) throws {
        let value = bytes[element.valueStart..<element.valueEnd]
        switch element.type {
        case .document: try append(fieldsOf: UnsafeRawBufferPointer(rebasing: value), depth: depth + 1)
        case .array: try append(elementsOf: UnsafeRawBufferPointer(rebasing: value), depth: depth)
        case .int32: append(integer: Int64(bytes.int32(at: element.valueStart)))
        case .int64: append(integer: bytes.int64(at: element.valueStart))
        case .double:
            let number = bytes.double(at: element.valueStart)
            if let integer = Int64(exactly: number) {
                append(integer: integer)
            } else {
                buffer.append(Tag.double.rawValue)
                // All NaNs are one: their bits do not survive JSON.
                append(bits: (number.isNaN ? Double.nan : number).bitPattern)
            }
        case .string, .bool, .null, .objectID, .date:
            // As a document with this value under an empty name.
            buffer.append(Tag.other.rawValue)
            let count = value.count + 7
            append(count: count)
            withUnsafeBytes(of: Int32(truncatingIfNeeded: count).littleEndian) { buffer.append(contentsOf: $0) }
            buffer.append(element.type.rawValue)
            buffer.append(0)
            append(value)
            buffer.append(0)
        default:
            // Some of these can be stored in several ways, of which a value is written in one.
            buffer.append(Tag.other.rawValue)
            let document = BSONDocument([("", bytes.value(element) ?? .null)])
            append(count: document.bytes.count)
            document.withUnsafeBytes { append($0[...]) }
        }
    }

    private mutating func append(elementsOf bytes: UnsafeRawBufferPointer, depth: Int) throws {
        guard depth < BSONDocument.maximumDepth else { throw tooDeep }
        buffer.append(Tag.array.rawValue)
        var count = 0
        var offset = 4
        while let element = bytes.element(at: offset, end: bytes.count - 1) {
            offset = element.valueEnd
            count += 1
        }
        append(count: count)
        offset = 4
        while let element = bytes.element(at: offset, end: bytes.count - 1) {
            offset = element.valueEnd
            try append(element, of: bytes, depth: depth + 1)
        }
    }

    private var tooDeep: RevisionError {
        RevisionError(.invalidBody, "The document is nested deeper than \(BSONDocument.maximumDepth) levels")
    }

    private mutating func append(integer: Int64) {
        buffer.append(Tag.integer.rawValue)
        append(bits: UInt64(bitPattern: integer))
    }

    private mutating func append(bits: UInt64) {
        withUnsafeBytes(of: bits.littleEndian) { buffer.append(contentsOf: $0) }
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) {
        buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes))
        // Enough at a time that the calls do not cost, and little enough that a large document is not copied.
        if buffer.count >= 1 << 14 { flush() }
    }

    private mutating func flush() {
        hash.update(data: buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// The first sixteen bytes of the hash.
    mutating func digest() -> [UInt8] {
        flush()
        return hash.finalize().withUnsafeBytes { Array($0.prefix(16)) }
    }
}

extension RawElement {
    /// Whether its name is before that of another one, by the order of their bytes.
    fileprivate func precedes(_ other: RawElement, in bytes: UnsafeRawBufferPointer) -> Bool {
        let count = min(keyLength, other.keyLength)
        for index in 0..<count where bytes[keyStart + index] != bytes[other.keyStart + index] {
            return bytes[keyStart + index] < bytes[other.keyStart + index]
        }
        return keyLength < other.keyLength
    }
}
#endif
