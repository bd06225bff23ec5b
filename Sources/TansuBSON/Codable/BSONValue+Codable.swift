// BSONEncoder and BSONDecoder store these types natively. Other coders, such as JSONEncoder, get canonical extended
// JSON for the types that their format lacks.

extension BSONValue: Codable {
    /// Decodes any value: natively with ``BSONDecoder``, from plain values and the wrappers of extended JSON with any
    /// other decoder.
    ///
    /// - Throws: `DecodingError` when a wrapper is malformed, and what the decoder throws.
    public init(from decoder: any Decoder) throws {
        if let fields = try? decoder.container(keyedBy: BSONCodingKey.self) {
            self = try Self.unwrapped(Self.document(fields), decoder)
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [BSONValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(BSONValue.self)) }
            self = .array(BSONArray(values))
        } else {
            self = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func document(_ fields: KeyedDecodingContainer<BSONCodingKey>) throws -> BSONDocument {
        BSONDocument(try fields.allKeys.map { ($0.stringValue, try fields.decode(BSONValue.self, forKey: $0)) })
    }

    private static func unwrapped(_ document: BSONDocument, _ decoder: any Decoder) throws -> BSONValue {
        let wrapper = document.keys.lazy.compactMap { ExtendedJSONWrapper(rawValue: $0) }.first
        guard let wrapper else { return .document(document) }
        do {
            return try wrapper.unwrap(document, isInnerWrapped: true)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: error.message, underlyingError: error))
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> BSONValue {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return BSONValue(value) }
        if let value = try? container.decode(Double.self) { return .double(value) }
        return .string(try container.decode(String.self))
    }

    /// Encodes the value: natively with ``BSONEncoder``, as a plain value or a wrapper of canonical extended JSON with
    /// any other encoder.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .document(let document):
            try document.encode(to: encoder)
        case .array(let array):
            try array.encode(to: encoder)
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try Self.encode(value, encoder)
        case .string(let value): try Self.encode(value, encoder)
        case .int32(let value): try Self.encode(value, encoder)
        case .int64(let value): try Self.encode(value, encoder)
        case .double(let value) where value.isFinite: try Self.encode(value, encoder)
        default:
            try wrapped.encode(to: encoder)
        }
    }

    private static func encode(_ value: some Encodable, _ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    /// The wrapper of canonical extended JSON, as a document.
    private var wrapped: BSONDocument {
        func document(_ inner: BSONDocument, _ key: String) -> BSONDocument { [key: .document(inner)] }
        switch self {
        case .double(let value):
            return ["$numberDouble": .string(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")]
        case .binary(let value):
            return document(
                [
                    "base64": .string(value.data.base64EncodedString()),
                    "subType": .string(Hex.encode([value.subtype.rawValue])),
                ], "$binary")
        case .undefined: return ["$undefined": true]
        case .objectID(let value): return ["$oid": .string(value.hexString)]
        case .date(let value): return document(["$numberLong": .string(String(value))], "$date")
        case .regularExpression(let value):
            return document(
                ["pattern": .string(value.pattern), "options": .string(value.options)], "$regularExpression")
        case .dbPointer(let value):
            return document(
                ["$ref": .string(value.collection), "$id": ["$oid": .string(value.id.hexString)]], "$dbPointer")
        case .code(let value): return ["$code": .string(value)]
        case .symbol(let value): return ["$symbol": .string(value.text)]
        case .codeWithScope(let value): return ["$code": .string(value.code), "$scope": .document(value.scope ?? [:])]
        case .timestamp(let value):
            return document(
                ["t": .int64(Int64(value.seconds)), "i": .int64(Int64(value.increment))], "$timestamp")
        case .decimal128(let value): return ["$numberDecimal": .string(value.description)]
        case .minKey: return ["$minKey": 1]
        case .maxKey: return ["$maxKey": 1]
        case .document, .array, .null, .bool, .string, .int32, .int64: return [:]
        }
    }

    /// Decodes any value and converts it to a type, or throws when it is of another type.
    fileprivate static func decode<T>(_ type: T.Type, _ decoder: any Decoder, _ kind: (BSONValue) -> T?) throws -> T {
        let value = try BSONValue(from: decoder)
        guard let found = kind(value) else {
            throw DecodingError.typeMismatch(
                type,
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "Expected a value of type \(type) but found type \"\(value.type)\""))
        }
        return found
    }
}

extension BSONDocument: Codable {
    /// Decodes a document: natively with ``BSONDecoder``, as an object with any other decoder.
    ///
    /// - Throws: `DecodingError` when there is no object.
    public init(from decoder: any Decoder) throws {
        self = try BSONValue.decode(BSONDocument.self, decoder, \.documentValue)
    }

    /// Encodes the document: natively with ``BSONEncoder``, as an object with any other encoder.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: BSONCodingKey.self)
        for (key, value) in self { try container.encode(value, forKey: BSONCodingKey(stringValue: key)) }
    }
}

extension BSONArray: Codable {
    /// Reads an array.
    ///
    /// - Throws: `DecodingError` when there is no array.
    public init(from decoder: any Decoder) throws {
        self = try BSONValue.decode(BSONArray.self, decoder, \.arrayValue)
    }

    /// Writes an array.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for value in self { try container.encode(value) }
    }
}

extension BSONBinary: Codable {
    /// Reads a binary value.
    ///
    /// - Throws: `DecodingError` when the value is of another kind.
    public init(from decoder: any Decoder) throws {
        self = try BSONValue.decode(BSONBinary.self, decoder, \.binaryValue)
    }

    /// Writes a binary value.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws { try BSONValue.binary(self).encode(to: encoder) }
}

extension BSONTimestamp: Codable {
    /// Reads a timestamp.
    ///
    /// - Throws: `DecodingError` when the value is of another kind.
    public init(from decoder: any Decoder) throws {
        self = try BSONValue.decode(BSONTimestamp.self, decoder, \.timestampValue)
    }

    /// Writes a timestamp.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws { try BSONValue.timestamp(self).encode(to: encoder) }
}

extension BSONRegularExpression: Codable {
    /// Reads a regular expression.
    ///
    /// - Throws: `DecodingError` when the value is of another kind.
    public init(from decoder: any Decoder) throws {
        self = try BSONValue.decode(BSONRegularExpression.self, decoder, \.regularExpressionValue)
    }

    /// Writes a regular expression.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws { try BSONValue.regularExpression(self).encode(to: encoder) }
}

extension BSONCode: Codable {
    /// Reads a code value.
    ///
    /// - Throws: `DecodingError` when the value is of another kind.
    public init(from decoder: any Decoder) throws {
        self = try BSONValue.decode(BSONCode.self, decoder, \.codeValue)
    }

    /// Writes a code value.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws { try BSONValue(self).encode(to: encoder) }
}

extension BSONDBPointer: Codable {
    /// Reads a pointer.
    ///
    /// - Throws: `DecodingError` when the value is of another kind.
    public init(from decoder: any Decoder) throws {
        self = try BSONValue.decode(BSONDBPointer.self, decoder, \.dbPointerValue)
    }

    /// Writes a pointer.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws { try BSONValue.dbPointer(self).encode(to: encoder) }
}

extension BSONSymbol: Codable {
    /// Reads a symbol.
    ///
    /// - Throws: `DecodingError` when the value is of another kind.
    public init(from decoder: any Decoder) throws {
        self = try BSONValue.decode(BSONSymbol.self, decoder, \.symbolValue)
    }

    /// Writes a symbol.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws { try BSONValue.symbol(self).encode(to: encoder) }
}
