import Foundation

/// A wrapper object of extended JSON for a type that JSON lacks. The raw value is its key.
enum ExtendedJSONWrapper: String {
    case objectID = "$oid"
    case symbol = "$symbol"
    case int32 = "$numberInt"
    case int64 = "$numberLong"
    case double = "$numberDouble"
    case decimal128 = "$numberDecimal"
    case binary = "$binary"
    case uuid = "$uuid"
    case code = "$code"
    case timestamp = "$timestamp"
    case regularExpression = "$regularExpression"
    case dbPointer = "$dbPointer"
    case date = "$date"
    case minKey = "$minKey"
    case maxKey = "$maxKey"
    case undefined = "$undefined"
    // The query operator. It stays a document, but its text must be valid in a regular expression.
    case regexOperator = "$regex"

    /// What an object with this first key represents; nil for a document.
    init?(firstKey: String, acceptsVersion1: Bool) {
        switch firstKey {
        case "$scope": self = .code
        case "$type" where acceptsVersion1: self = .binary
        case "$options" where acceptsVersion1: self = .regexOperator
        default: self.init(rawValue: firstKey)
        }
    }

    /// The value of a wrapper.
    ///
    /// - Parameters:
    ///   - isInnerWrapped: Whether the value inside was a wrapper as well.
    ///   - acceptsVersion1: Whether the forms of version 1 are wrappers too.
    /// - Throws: ``BSONError`` when the wrapper is malformed.
    func unwrap(
        _ document: BSONDocument, isInnerWrapped: Bool, acceptsVersion1: Bool = false
    ) throws(BSONError) -> BSONValue {
        if acceptsVersion1 {
            if !isInnerWrapped, let value = version1(document) { return value }
            if ["$type", "$options"].contains(document.first?.key) { return .document(document) }
        }
        let value: BSONValue? =
            switch self {
            case .code: code(document)
            case .regexOperator: regexOperator(document)
            default: document.count == 1 ? document[rawValue].flatMap { single($0, isInnerWrapped) } : nil
            }
        guard let value else {
            throw BSONError(.invalidExtendedJSON, "The value of \"\(rawValue)\" is invalid; \(form) is expected")
        }
        return value
    }

    /// The value of an object in the form of version 1 of extended JSON, where that is another one.
    private func version1(_ document: BSONDocument) -> BSONValue? {
        switch self {
        case .date:
            guard document.count == 1 else { return nil }
            switch document[rawValue] {
            case .int32(let milliseconds): return .date(Int64(milliseconds))
            case .int64(let milliseconds): return .date(milliseconds)
            default: return nil
            }
        case .binary:
            guard document.count == 2, let base64 = document[rawValue], let subtype = document["$type"] else {
                return nil
            }
            let text = subtype.int64Value.flatMap { UInt8(exactly: $0) }.map { BSONValue.string(Hex.encode([$0])) }
            return binary(["base64": base64, "subType": text ?? subtype])
        case .regexOperator:
            guard document.count == 2, let pattern = document[rawValue], let options = document["$options"] else {
                return nil
            }
            return regularExpression(["pattern": pattern, "options": options])
        default: return nil
        }
    }

    /// What the wrapper looks like, for messages.
    private var form: String {
        switch self {
        case .objectID: "{\"$oid\": \"24 hexadecimal digits\"}"
        case .symbol: "{\"$symbol\": \"…\"}"
        case .int32, .int64, .double, .decimal128: "{\"\(rawValue)\": \"a number in quotes\"}"
        case .binary: "{\"$binary\": {\"base64\": \"…\", \"subType\": \"00\"}}"
        case .uuid: "{\"$uuid\": \"hexadecimal digits in groups of 8-4-4-4-12\"}"
        case .code: "{\"$code\": \"…\"} or {\"$code\": \"…\", \"$scope\": {…}}"
        case .timestamp: "{\"$timestamp\": {\"t\": n, \"i\": n}}"
        case .regularExpression: "{\"$regularExpression\": {\"pattern\": \"…\", \"options\": \"…\"}}"
        case .dbPointer: "{\"$dbPointer\": {\"$ref\": \"…\", \"$id\": {\"$oid\": \"…\"}}}"
        case .date: "{\"$date\": \"2012-12-24T12:15:30.501Z\"} or {\"$date\": {\"$numberLong\": \"milliseconds\"}}"
        case .minKey, .maxKey: "{\"\(rawValue)\": 1}"
        case .undefined: "{\"$undefined\": true}"
        case .regexOperator: "a text without the character NUL"
        }
    }

    /// The value of a wrapper, or nil when the wire's form of that value is another one.
    ///
    /// So an object that a database without these types stores and returns is unwrapped only if it is written again as
    /// the same text. The order of two members does not matter.
    func unwrapOnWire(_ document: BSONDocument) -> BSONValue? {
        switch self {
        case .int32, .int64, .uuid, .regexOperator: return nil
        case .date:
            guard document.count == 1 else { return nil }
            return dateOnWire(document[rawValue])
        case .double:
            guard let value = try? unwrap(document, isInnerWrapped: false), case .double(let number) = value,
                !number.isFinite
            else { return nil }
            return value
        case .objectID, .decimal128, .binary:
            guard let value = try? unwrap(document, isInnerWrapped: false), isOnWire(value, document) else {
                return nil
            }
            return value
        case .symbol, .code, .timestamp, .regularExpression, .dbPointer, .minKey, .maxKey, .undefined:
            return try? unwrap(document, isInnerWrapped: false)
        }
    }

    private func dateOnWire(_ inner: BSONValue?) -> BSONValue? {
        switch inner {
        case .string(let text):
            guard let milliseconds = ISO8601.milliseconds(text), milliseconds >= 0,
                ISO8601.text(milliseconds) == text
            else { return nil }
            return .date(milliseconds)
        case .document(let fields):
            guard fields.count == 1, let text = fields[Self.int64.rawValue]?.stringValue,
                let milliseconds = Int64(text), String(milliseconds) == text,
                milliseconds < 0 || milliseconds > ISO8601.endOfYear9999
            else { return nil }
            return .date(milliseconds)
        default: return nil
        }
    }

    /// Whether the text in a wrapper is the one that its value is written with.
    private func isOnWire(_ value: BSONValue, _ document: BSONDocument) -> Bool {
        switch value {
        case .objectID(let id): return document[rawValue] == .string(id.hexString)
        case .decimal128(let number):
            return document[rawValue] == .string(number.description) && number.wireInteger == nil
        case .binary(let binary):
            let fields = document[rawValue]?.documentValue
            return fields?["base64"] == .string(binary.data.base64EncodedString())
                && fields?["subType"] == .string(Hex.encode([binary.subtype.rawValue]))
        default: return false
        }
    }

    private func single(_ inner: BSONValue, _ isInnerWrapped: Bool) -> BSONValue? {
        switch self {
        case .objectID: inner.stringValue.flatMap { ObjectID($0) }.map { .objectID($0) }
        case .symbol: inner.stringValue.map { .symbol(BSONSymbol($0)) }
        case .int32: integerText(inner).flatMap { Int32($0) }.map { .int32($0) }
        case .int64: integerText(inner).flatMap { Int64($0) }.map { .int64($0) }
        case .double: inner.stringValue.flatMap(double).map { .double($0) }
        case .decimal128: inner.stringValue.flatMap { Decimal128($0) }.map { .decimal128($0) }
        case .binary: binary(inner)
        case .uuid: uuid(inner)
        case .timestamp: timestamp(inner)
        case .regularExpression: regularExpression(inner)
        case .dbPointer: dbPointer(inner)
        case .date: date(inner, isInnerWrapped)
        case .minKey: inner == .int32(1) ? .minKey : nil
        case .maxKey: inner == .int32(1) ? .maxKey : nil
        case .undefined: inner == .bool(true) ? .undefined : nil
        case .code, .regexOperator: nil
        }
    }

    private func integerText(_ inner: BSONValue) -> String? {
        inner.stringValue.flatMap { $0.hasPrefix("+") ? nil : $0 }
    }

    private func double(_ text: String) -> Double? {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default:
            // Swift accepts hexadecimal numbers and words like "inf" too.
            guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let value = Double(text),
                value.isFinite
            else { return nil }
            return value
        }
    }

    private func binary(_ inner: BSONValue) -> BSONValue? {
        guard let fields = inner.documentValue, fields.count == 2, let base64 = fields["base64"]?.stringValue,
            let data = Data(base64Encoded: base64), let subtype = fields["subType"]?.stringValue,
            (1...2).contains(subtype.utf8.count), let rawValue = UInt8(subtype, radix: 16)
        else { return nil }
        return .binary(BSONBinary([UInt8](data), subtype: .init(rawValue: rawValue)))
    }

    private func uuid(_ inner: BSONValue) -> BSONValue? {
        guard let text = inner.stringValue, text.utf8.count == 36, let uuid = UUID(uuidString: text) else {
            return nil
        }
        return BSONValue(uuid)
    }

    private func timestamp(_ inner: BSONValue) -> BSONValue? {
        guard let fields = inner.documentValue, fields.count == 2,
            let seconds = fields["t"]?.int64Value.flatMap({ UInt32(exactly: $0) }),
            let increment = fields["i"]?.int64Value.flatMap({ UInt32(exactly: $0) })
        else { return nil }
        return .timestamp(BSONTimestamp(seconds: seconds, increment: increment))
    }

    private func regularExpression(_ inner: BSONValue) -> BSONValue? {
        guard let fields = inner.documentValue, fields.count == 2, let pattern = fields["pattern"]?.stringValue,
            let options = fields["options"]?.stringValue, !pattern.utf8.contains(0), !options.utf8.contains(0)
        else { return nil }
        return .regularExpression(BSONRegularExpression(pattern, options: options))
    }

    private func dbPointer(_ inner: BSONValue) -> BSONValue? {
        guard let fields = inner.documentValue, fields.count == 2, let collection = fields["$ref"]?.stringValue,
            let id = fields["$id"]?.objectIDValue
        else { return nil }
        return .dbPointer(BSONDBPointer(collection: collection, id: id))
    }

    private func date(_ inner: BSONValue, _ isInnerWrapped: Bool) -> BSONValue? {
        switch inner {
        case .int64(let milliseconds) where isInnerWrapped: .date(milliseconds)
        case .string(let text): ISO8601.milliseconds(text).map { .date($0) }
        default: nil
        }
    }

    private func code(_ document: BSONDocument) -> BSONValue? {
        guard let code = document["$code"]?.stringValue else { return nil }
        if document.count == 1 { return .code(code) }
        guard document.count == 2, let scope = document["$scope"]?.documentValue else { return nil }
        return .codeWithScope(BSONCode(code, scope: scope))
    }

    private func regexOperator(_ document: BSONDocument) -> BSONValue? {
        let hasNUL = ["$regex", "$options"].contains { document[$0]?.stringValue?.utf8.contains(0) ?? false }
        return hasNUL ? nil : .document(document)
    }
}
