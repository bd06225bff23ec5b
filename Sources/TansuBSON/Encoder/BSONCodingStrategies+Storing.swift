import Foundation

extension BSONCodingStrategies {
    /// Whether all values have BSON's own types.
    package var isStandard: Bool {
        guard case .bsonDate = date, data == .binary, uuid == .binary, url == .string else { return false }
        return decimal == .decimal128 && double == .exact
    }

    /// A document of a query or an update with its values in the form in which these strategies store them: a date as
    /// text, for example. Only so they can be compared with what is stored.
    ///
    /// A value that cannot be stored in that form stays as it is, and so does what is nested too deep for a query, and
    /// an operand of a comparison by order whose stored form does not have its order (``unorderedOperand(in:)``).
    package func stored(_ document: BSONDocument) -> BSONDocument {
        isStandard ? document : converted(document, depth: 1)
    }

    /// A value in the form in which these strategies store it.
    package func stored(_ value: BSONValue) -> BSONValue {
        isStandard ? value : converted(value, depth: 0)
    }

    private func converted(_ document: BSONDocument, depth: Int) -> BSONDocument {
        BSONDocument(
            document.map { key, value in
                let isUnordered = Self.rangeOperators.contains(key) && unorderedForm(of: value) != nil
                return (key, isUnordered ? value : converted(value, depth: depth))
            })
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
            let result = encoded(Date(timeIntervalSince1970: Double(milliseconds) / 1000))
            // A strategy of the user's own may store another date, and the value may be that already.
            if let result, result.dateValue == nil { return result }
        case .binary(let binary) where binary.subtype == .uuid:
            return binary.uuid.flatMap { encoded($0) } ?? value
        case .binary(let binary) where binary.subtype == .generic:
            return encoded(binary.data) ?? value
        case .decimal128(let number):
            return Decimal(exactly: number).flatMap { encoded($0) } ?? value
        default: break
        }
        return value
    }

    private func encoded(_ value: some Encodable) -> BSONValue? {
        var encoder = BSONEncoder()
        encoder.strategies = self
        return try? encoder.encodeValue(value)
    }
}
