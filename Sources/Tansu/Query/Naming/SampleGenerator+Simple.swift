import Foundation

extension SampleGenerator {
    /// A value of a type that documents hold as it is; `nil` for any other type.
    func simple(_ type: any Any.Type) -> Any? {
        if let type = type as? any FixedWidthInteger.Type { return integer(type) }
        switch type {
        case is Bool.Type: return flip()
        case is String.Type: return word()
        case is Double.Type: return Double(number()) + 0.5
        case is Float.Type: return Float(number()) + 0.5
        case is Date.Type: return Date(timeIntervalSince1970: Double(number()) * 86_400)
        case is UUID.Type: return uuid()
        case is Data.Type: return Data(word().utf8)
        case is URL.Type: return URL(string: "https://example.com/\(number())")
        case is Decimal.Type: return Decimal(number())
        default: return own(type)
        }
    }

    /// A short text of letters and digits.
    func word() -> String {
        let edges = ["", "", "", " ", "A", "é", " a b", "0"]
        if isWide && flip() { return edges[Int(next() % UInt64(edges.count))] }
        return "w" + String(next() % 1_000_000, radix: 36)
    }

    /// A small number that every type of integer holds.
    private func number() -> Int {
        if isWide && flip() { return Int(next() % 3) }
        return Int(next() % 126) + 1
    }

    private func integer<I: FixedWidthInteger>(_ type: I.Type) -> I {
        if I.isSigned && isWide && isNil() { return 0 - I(clamping: number()) }
        return I(clamping: number())
    }

    private func uuid() -> UUID {
        let digits = String(next() % (1 << 48), radix: 16)
        let last = String(repeating: "0", count: 12 - digits.count) + digits
        return UUID(uuidString: "6BA7B810-9DAD-41D1-80B4-\(last)") ?? UUID()
    }

    /// A value of one of the BSON types.
    private func own(_ type: any Any.Type) -> Any? {
        switch type {
        case is ObjectID.Type: return ObjectID(bytes: (0..<12).map { _ in UInt8(truncatingIfNeeded: next()) })
        case is BSONValue.Type: return BSONValue(number())
        case is BSONDocument.Type: return ["made": BSONValue(number())] as BSONDocument
        case is BSONArray.Type: return [BSONValue(number())] as BSONArray
        case is Decimal128.Type: return Decimal128(number())
        case is BSONBinary.Type: return BSONBinary(Array(word().utf8))
        case is BSONTimestamp.Type: return BSONTimestamp(seconds: UInt32(number()), increment: 0)
        default: return nil
        }
    }
}
