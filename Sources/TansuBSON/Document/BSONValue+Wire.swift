extension UnsafeRawBufferPointer {
    /// The value of an element, or nil when the element is malformed, which happens only in bytes without validation.
    package func value(_ element: RawElement) -> BSONValue? {
        let at = element.valueStart
        switch element.type {
        case .double: return .double(double(at: at))
        case .string: return .string(string(at: at))
        case .document: return .document(document(element))
        case .array: return .array(BSONArray(document: document(element)))
        case .binary: return .binary(binary(element))
        case .undefined: return .undefined
        case .objectID: return .objectID(objectID(at: at))
        case .bool: return .bool(self[at] != 0)
        case .date: return .date(int64(at: at))
        case .null: return .null
        case .regularExpression: return .regularExpression(regularExpression(element))
        case .dbPointer:
            return .dbPointer(BSONDBPointer(collection: string(at: at), id: objectID(at: element.valueEnd - 12)))
        case .code: return .code(string(at: at))
        case .symbol: return .symbol(BSONSymbol(string(at: at)))
        case .codeWithScope: return codeWithScope(element).map { .codeWithScope($0) }
        case .int32: return .int32(int32(at: at))
        case .timestamp: return .timestamp(BSONTimestamp(rawValue: UInt64(bitPattern: int64(at: at))))
        case .int64: return .int64(int64(at: at))
        case .decimal128: return .decimal128(decimal128(at: at))
        case .minKey: return .minKey
        case .maxKey: return .maxKey
        }
    }

    func document(_ element: RawElement) -> BSONDocument {
        BSONDocument(trustedBytes: [UInt8](self[element.valueStart..<element.valueEnd]))
    }

    func binary(_ element: RawElement) -> BSONBinary {
        BSONBinary(
            [UInt8](self[binaryStart(element.valueStart, element.valueEnd)..<element.valueEnd]),
            subtype: BSONBinary.Subtype(rawValue: self[element.valueStart + 4]))
    }

    /// The offset of the bytes of a binary value.
    @inline(__always)
    func binaryStart(_ start: Int, _ end: Int) -> Int {
        // Subtype 2 repeats the length before the bytes.
        Swift.min(start + (self[start + 4] == BSONBinary.Subtype.oldBinary.rawValue ? 9 : 5), end)
    }

    func decimal128(at offset: Int) -> Decimal128 {
        Decimal128(high: UInt64(bitPattern: int64(at: offset + 8)), low: UInt64(bitPattern: int64(at: offset)))
    }

    func regularExpression(_ element: RawElement) -> BSONRegularExpression {
        let patternEnd = zeroByte(from: element.valueStart, to: element.valueEnd) ?? element.valueStart
        return BSONRegularExpression(cString(at: element.valueStart), options: cString(at: patternEnd + 1))
    }

    /// The offset of the scope of a code value, or nil when the lengths of string and scope do not add up to its size.
    func scopeStart(_ element: RawElement) -> Int? {
        let text = element.valueStart + 4
        guard let textLength = valueLength(.string, at: text, end: element.valueEnd),
            let scopeLength = valueLength(.document, at: text + textLength, end: element.valueEnd),
            text + textLength + scopeLength == element.valueEnd
        else { return nil }
        return text + textLength
    }

    private func codeWithScope(_ element: RawElement) -> BSONCode? {
        guard let start = scopeStart(element) else { return nil }
        return BSONCode(
            string(at: element.valueStart + 4),
            scope: BSONDocument(trustedBytes: [UInt8](self[start..<element.valueEnd])))
    }
}

extension ByteBuffer {
    /// Appends the value part of an element.
    mutating func append(_ value: BSONValue) {
        switch value {
        case .double(let x): append(littleEndian: x.bitPattern)
        case .string(let x), .code(let x): append(bsonString: x)
        case .document(let x): append(x.bytes)
        case .array(let x): append(x.document.bytes)
        case .binary(let x): append(x)
        case .objectID(let x): append(x)
        case .bool(let x): append(x ? 1 : 0 as UInt8)
        case .date(let x), .int64(let x): append(littleEndian: x)
        case .regularExpression(let x):
            append(cString: x.pattern)
            append(cString: x.options)
        case .dbPointer(let x):
            append(bsonString: x.collection)
            append(x.id)
        case .symbol(let x): append(bsonString: x.text)
        case .codeWithScope(let x):
            let start = openDocument()
            append(bsonString: x.code)
            append((x.scope ?? BSONDocument()).bytes)
            store(length: count - start, at: start)
        case .int32(let x): append(littleEndian: x)
        case .timestamp(let x): append(littleEndian: x.rawValue)
        case .decimal128(let x):
            append(littleEndian: x.low)
            append(littleEndian: x.high)
        case .undefined, .null, .minKey, .maxKey: break
        }
    }

    mutating func append(_ value: BSONBinary) {
        let length = Int32(truncatingIfNeeded: value.bytes.count)
        append(littleEndian: value.subtype == .oldBinary ? length + 4 : length)
        append(value.subtype.rawValue)
        if value.subtype == .oldBinary { append(littleEndian: length) }
        append(value.bytes)
    }
}
