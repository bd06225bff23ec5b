/// What a parser of JSON makes of `$…` objects, of equal keys and of large integers.
enum JSONDialect: Sendable {
    /// Every `$…` wrapper must be valid, equal keys are an error, integers beyond 64 bits become doubles. An object
    /// whose first key begins with an escaped `$`, as in `{"\u0024oid": "…"}`, is none.
    case extended
    /// As extended, for documents to store, and with the forms of version 1 of extended JSON, which old tools write, such
    /// as `{"$regex": "a", "$options": ""}`; in a query this is an operator.
    case stored
    /// No wrappers; the last of equal keys wins; integers beyond 64 bits of up to 34 digits become decimals.
    case plain
    /// As plain, but a `$…` object that is exactly what the wire's writer makes of a value becomes that value.
    case wire

    /// Whether invalid wrappers and equal keys are errors.
    var isStrict: Bool { self == .extended || self == .stored }
}

/// A strict parser of JSON that writes BSON in one pass.
///
/// It rejects everything that RFC 8259 does not allow. Integers become int32 or int64 depending on their size, larger
/// integers and other numbers become double. A `$…` wrapper is parsed as a document first and then replaced by its
/// value.
struct ExtendedJSONParser: ~Copyable {
    private var scanner: JSONScanner
    private var out: ByteBuffer
    /// The ranges of the keys of the open objects in `out`, for the detection of duplicates.
    private var keys: [Range<Int>] = []
    /// Whether the last value was a wrapper: `{"$date": 5}` is invalid, `{"$date": {"$numberLong": "5"}}` is valid.
    private var lastWasWrapper = false
    private var deepest = 0
    private let dialect: JSONDialect
    /// Objects at this depth and above are no wrappers.
    private let documentDepth: Int

    /// A wrapper has up to two levels of objects for a single value, which may be at the maximum depth.
    private static let depthLimit = BSONDocument.maximumDepth + 2

    private init(_ text: UnsafeBufferPointer<UInt8>, _ dialect: JSONDialect, _ documentDepth: Int) {
        scanner = JSONScanner(UnsafeRawBufferPointer(text))
        self.dialect = dialect
        self.documentDepth = documentDepth
        // BSON takes about as much as the text.
        out = ByteBuffer(capacity: max(256, dialect == .wire ? text.count : 0))
    }

    /// Parses a complete text.
    static func parse(
        _ text: UnsafeBufferPointer<UInt8>, _ dialect: JSONDialect = .extended, documentDepth: Int = 0
    ) throws -> BSONValue {
        var parser = ExtendedJSONParser(text, dialect, documentDepth)
        return try parser.parse()
    }

    private mutating func parse() throws -> BSONValue {
        // The value is written as an element with an empty key.
        out.append(0 as UInt8)
        out.append(0 as UInt8)
        scanner.skipSpace()
        try value(typeOffset: 0, depth: 1)
        scanner.skipSpace()
        guard scanner.isAtEnd else { throw scanner.error("There is text after the value") }
        guard out.count < Int(Int32.max) else { throw scanner.error(.tooLarge, "The value is larger than 2 GiB") }
        out.append(0 as UInt8)
        let bytes = out.bytes
        guard let element = bytes.element(at: 0, end: bytes.count - 1), let value = bytes.value(element) else {
            throw scanner.error("The value cannot be stored")
        }
        if deepest > BSONDocument.maximumDepth, element.type == .document || element.type == .array {
            // The document may be too deep even after the wrappers were replaced.
            try BSONValidator.validate(
                UnsafeRawBufferPointer(rebasing: bytes[element.valueStart..<element.valueEnd]))
        }
        return value
    }

    private mutating func value(typeOffset: Int, depth: Int) throws {
        let start = scanner.position
        switch scanner.peek {
        case UInt8(ascii: "{"):
            try object(typeOffset: typeOffset, depth: depth)
            return
        case UInt8(ascii: "["):
            out.store(BSONType.array.rawValue, at: typeOffset)
            try array(depth: depth)
        case UInt8(ascii: "\""):
            out.store(BSONType.string.rawValue, at: typeOffset)
            try string()
        case UInt8(ascii: "t"):
            try scanner.skip("true")
            out.store(BSONType.bool.rawValue, at: typeOffset)
            out.append(1 as UInt8)
        case UInt8(ascii: "f"):
            try scanner.skip("false")
            out.store(BSONType.bool.rawValue, at: typeOffset)
            out.append(0 as UInt8)
        case UInt8(ascii: "n"):
            try scanner.skip("null")
            out.store(BSONType.null.rawValue, at: typeOffset)
        case nil:
            throw scanner.error("Expected a value at the end of the text", at: start)
        case .some(let byte) where byte == UInt8(ascii: "-") || (byte >= 0x30 && byte <= 0x39):
            try number(typeOffset: typeOffset)
        default:
            throw scanner.error("Expected a value", at: start)
        }
        lastWasWrapper = false
    }

    private mutating func number(typeOffset: Int) throws {
        let start = scanner.position
        switch try scanner.number() {
        case .integer(let value):
            if let small = Int32(exactly: value) {
                out.store(BSONType.int32.rawValue, at: typeOffset)
                out.append(littleEndian: small)
            } else {
                out.store(BSONType.int64.rawValue, at: typeOffset)
                out.append(littleEndian: value)
            }
        case .double(let value):
            if !dialect.isStrict, let decimal = largeInteger(from: start) {
                out.store(BSONType.decimal128.rawValue, at: typeOffset)
                out.append(.decimal128(decimal))
                return
            }
            out.store(BSONType.double.rawValue, at: typeOffset)
            out.append(littleEndian: value.bitPattern)
        }
    }

    /// The number that was scanned last, when it is an integer without a fraction or an exponent.
    private func largeInteger(from start: Int) -> Decimal128? {
        let text = scanner.text(from: start)
        // A decimal has 34 digits; that of a longer number is not written with the same digits.
        if dialect == .wire, text.utf8.count > (text.utf8.first == UInt8(ascii: "-") ? 35 : 34) { return nil }
        return text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || ($0 >= 0x30 && $0 <= 0x39) } ? Decimal128(text) : nil
    }

    private mutating func string() throws {
        let length = out.count
        out.append(littleEndian: 0 as Int32)
        try scanner.string(into: &out)
        out.append(0 as UInt8)
        out.store(length: out.count - length - 4, at: length)
    }

    private mutating func array(depth: Int) throws {
        guard depth <= Self.depthLimit else { throw tooDeep() }
        deepest = max(deepest, depth)
        let start = out.openDocument()
        scanner.advance()
        scanner.skipSpace()
        var index = 0
        if scanner.peek == UInt8(ascii: "]") {
            scanner.advance()
        } else {
            while true {
                let typeOffset = out.count
                out.append(0 as UInt8)
                out.append(arrayKey: index)
                try value(typeOffset: typeOffset, depth: depth + 1)
                index += 1
                if try scanner.isLast(closing: UInt8(ascii: "]")) { break }
            }
        }
        out.closeDocument(at: start)
    }

    private mutating func object(typeOffset: Int, depth: Int) throws {
        guard depth <= Self.depthLimit else { throw tooDeep() }
        deepest = max(deepest, depth)
        let textStart = scanner.position
        out.store(BSONType.document.rawValue, at: typeOffset)
        let start = out.openDocument()
        let firstKey = keys.count
        var seen: Set<[UInt8]> = []
        var hasRepeated = false
        var wrapper: ExtendedJSONWrapper?
        scanner.advance()
        scanner.skipSpace()
        if scanner.peek == UInt8(ascii: "}") {
            scanner.advance()
        } else {
            while true {
                let typeOffset = out.count
                out.append(0 as UInt8)
                try key(firstKey: firstKey, seen: &seen, hasRepeated: &hasRepeated, wrapper: &wrapper)
                try value(typeOffset: typeOffset, depth: depth + 1)
                if try scanner.isLast(closing: UInt8(ascii: "}")) { break }
            }
        }
        keys.removeSubrange(firstKey...)
        out.closeDocument(at: start)
        if hasRepeated {
            let document = BSONDocument(BSONDocument(trustedBytes: out.array(from: start)).map { $0 })
            out.truncate(to: start)
            out.append(.document(document))
        }
        let isInnerWrapped = lastWasWrapper
        lastWasWrapper = false
        guard let wrapper, depth > documentDepth else { return }
        let document = BSONDocument(trustedBytes: out.array(from: start))
        if dialect == .wire {
            if let value = wrapper.unwrapOnWire(document) { replace(from: start, typeOffset: typeOffset, with: value) }
            return
        }
        let value: BSONValue
        do {
            value = try wrapper.unwrap(
                document, isInnerWrapped: isInnerWrapped, acceptsVersion1: dialect == .stored)
        } catch {
            throw scanner.error(error.code, error.message, at: textStart)
        }
        replace(from: start, typeOffset: typeOffset, with: value)
        lastWasWrapper = true
    }

    private mutating func replace(from start: Int, typeOffset: Int, with value: BSONValue) {
        out.truncate(to: start)
        out.store(value.type.rawValue, at: typeOffset)
        out.append(value)
    }

    private mutating func key(
        firstKey: Int, seen: inout Set<[UInt8]>, hasRepeated: inout Bool, wrapper: inout ExtendedJSONWrapper?
    ) throws {
        let textStart = scanner.position
        guard scanner.peek == UInt8(ascii: "\"") else { throw scanner.error("Expected a key in double quotes") }
        let start = out.count
        try scanner.string(into: &out)
        let range = start..<out.count
        out.append(0 as UInt8)
        let bytes = UnsafeRawBufferPointer(rebasing: out.bytes[range])
        if bytes.contains(0) { throw scanner.error(.invalidKey, "A key contains a NUL character", at: textStart) }
        if isRepeated(range, firstKey: firstKey, seen: &seen) {
            guard !dialect.isStrict else {
                let key = String(decoding: bytes, as: UTF8.self)
                throw scanner.error(.duplicateKey, "An object has the key \"\(key)\" twice", at: textStart)
            }
            hasRepeated = true
        }
        // The first key decides. An escaped "$" says that it is a key.
        if keys.count == firstKey, dialect != .plain, bytes.first == UInt8(ascii: "$"),
            scanner.text(from: textStart).utf8.dropFirst().first == UInt8(ascii: "$")
        {
            wrapper = ExtendedJSONWrapper(
                firstKey: String(decoding: bytes, as: UTF8.self), acceptsVersion1: dialect == .stored)
        }
        keys.append(range)
        scanner.skipSpace()
        guard scanner.peek == UInt8(ascii: ":") else { throw scanner.error("Expected a colon after a key") }
        scanner.advance()
        scanner.skipSpace()
    }

    /// Whether the open object has the key at `range` already. It compares bytes while there are few keys.
    private func isRepeated(_ range: Range<Int>, firstKey: Int, seen: inout Set<[UInt8]>) -> Bool {
        let bytes = out.bytes
        let few = 24
        let count = keys.count - firstKey
        if count < few {
            for i in firstKey..<keys.count where keys[i].count == range.count {
                if bytes.hasEqual(range.count, at: keys[i].lowerBound, and: range.lowerBound) { return true }
            }
            return false
        }
        if count == few {
            seen = Set(keys[firstKey...].map { Array(bytes[$0]) })
        }
        return !seen.insert(Array(bytes[range])).inserted
    }

    private func tooDeep() -> BSONError {
        scanner.error(.tooDeep, "Values are nested deeper than \(BSONDocument.maximumDepth) levels")
    }
}
