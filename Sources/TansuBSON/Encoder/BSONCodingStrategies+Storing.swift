import Foundation

extension BSONCodingStrategies {
    /// Whether all values have BSON's own types.
    package var isStandard: Bool {
        guard case .bsonDate = date, data == .binary, uuid == .binary, url == .string else { return false }
        return decimal == .decimal128 && double == .exact
    }

    /// A document of an update with its values in the form in which these strategies store them: a date as text, for
    /// example.
    ///
    /// A value that cannot be stored in that form stays as it is, and so does what is nested too deep for a query.
    package func stored(_ document: BSONDocument) -> BSONDocument {
        isStandard ? document : converted(document, depth: 1)
    }

    /// A value in the form in which these strategies store it.
    package func stored(_ value: BSONValue) -> BSONValue {
        isStandard ? value : converted(value, depth: 0)
    }

    private func converted(_ document: BSONDocument, depth: Int) -> BSONDocument {
        BSONDocument(document.map { ($0.key, converted($0.value, depth: depth)) })
    }

    private func converted(_ value: BSONValue, depth: Int) -> BSONValue {
        switch value {
        case .document, .array: if depth >= BSONDocument.maximumDepth { return value }
        default: break
        }
        switch value {
        case .document(let document): return .document(converted(document, depth: depth + 1))
        case .array(let array): return BSONValue(array.map { converted($0, depth: depth + 1) })
        case .date(let milliseconds):
            return encoded(Date(timeIntervalSince1970: Double(milliseconds) / 1000)) ?? value
        case .binary(let binary) where binary.subtype == .uuid:
            return binary.uuid.flatMap { encoded($0) } ?? value
        case .binary(let binary) where binary.subtype == .generic:
            return encoded(binary.data) ?? value
        case .decimal128(let number):
            return Decimal(exactly: number).flatMap { encoded($0) } ?? value
        default: return value
        }
    }

    private func encoded(_ value: some Encodable) -> BSONValue? {
        var encoder = BSONEncoder()
        encoder.strategies = self
        return try? encoder.encodeValue(value)
    }
}
