import Foundation

extension BSONCodingStrategies {
    /// What values of a type are stored as when that does not have their order, such as "text"; `nil` for all others.
    package func unorderedForm(of type: any Any.Type) -> String? {
        switch type {
        case is Date.Type: date.unorderedForm
        case is Decimal.Type: decimal == .string ? "text" : nil
        case is Data.Type: data == .base64 ? "text in base64" : nil
        default: nil
        }
    }

    /// What a value of a query is stored as when that does not have its order.
    package func unorderedForm(of value: BSONValue) -> String? {
        switch value {
        case .date: unorderedForm(of: Date.self)
        case .decimal128: unorderedForm(of: Decimal.self)
        case .binary(let binary) where binary.subtype == .generic: unorderedForm(of: Data.self)
        case .array(let values): values.lazy.compactMap { unorderedForm(of: $0) }.first
        default: nil
        }
    }

    /// The operators of queries that compare by order.
    package static let rangeOperators: Set<String> = ["$gt", "$gte", "$lt", "$lte", "$bt", "$between"]

    /// The operators of updates that compare by order or compute, each with a document of operands by path.
    private static let computingOperators: Set<String> = ["$min", "$max", "$inc", "$mul"]

    /// The first operand in the hints of a query or in an update that is compared by order, or computed with, though what is stored for
    /// it does not have its order; and what that is.
    package func unorderedOperand(in document: BSONDocument) -> (operator: String, form: String)? {
        isStandard ? nil : operand(in: document, depth: 1)
    }

    private func operand(in document: BSONDocument, depth: Int) -> (operator: String, form: String)? {
        for (key, value) in document {
            if Self.rangeOperators.contains(key), let form = unorderedForm(of: value) { return (key, form) }
            if Self.computingOperators.contains(key), case .document(let operands) = value,
                let form = operands.lazy.compactMap({ unorderedForm(of: $0.value) }).first
            {
                return (key, form)
            }
            guard depth < BSONDocument.maximumDepth else { continue }
            switch value {
            case .document(let inner):
                if let found = operand(in: inner, depth: depth + 1) { return found }
            case .array(let elements):
                for case .document(let inner) in elements {
                    if let found = operand(in: inner, depth: depth + 2) { return found }
                }
            default: continue
            }
        }
        return nil
    }
}

extension BSONCodingStrategies {
    /// Whether other strategies store values of a type in the same form; `nil` for types that no strategy is about.
    package func storesAlike(_ type: any Any.Type, as other: Self) -> Bool? {
        switch type {
        case is Date.Type: date.isLike(other.date)
        case is Data.Type: data == other.data
        case is UUID.Type: uuid == other.uuid
        case is URL.Type: url == other.url
        case is Decimal.Type: (decimal == .string) == (other.decimal == .string)
        default: nil
        }
    }
}

extension BSONDateStrategy {
    /// Whether dates are stored as other dates of BSON, by closures.
    package var shiftsDates: Bool {
        guard case .custom(let encode, _) = self, case .date(let stored)? = try? encode(Date(timeIntervalSince1970: 0))
        else { return false }
        return stored != 0
    }

    /// Whether both are the same, as far as that can be seen of closures.
    fileprivate func isLike(_ other: Self) -> Bool {
        switch (self, other) {
        case (.bsonDate, .bsonDate), (.iso8601, .iso8601), (.secondsSince1970, .secondsSince1970),
            (.millisecondsSince1970, .millisecondsSince1970), (.deferredToDate, .deferredToDate), (.custom, .custom):
            true
        default: false
        }
    }

    /// What dates are stored as by closures, unless it is a number or a date that grows with them.
    fileprivate var unorderedForm: String? {
        guard case .custom(let encode, _) = self else { return nil }
        var previous: Double?
        for seconds in [-1e9, -1.5, 0, 1e8, 1e9, 2e9] {
            // It may refuse some dates.
            guard let value = try? encode(Date(timeIntervalSince1970: seconds)) else { continue }
            let number: Double
            switch value {
            case .date(let milliseconds): number = Double(milliseconds)
            case .int32(let value): number = Double(value)
            case .int64(let value): number = Double(value)
            case .double(let value): number = value
            case .decimal128(let value): number = Double(value)
            case .string: return "text by a strategy of its own"
            default: return "a value of type \(value.type) by a strategy of its own"
            }
            if let previous, !(previous <= number) { return "numbers that do not grow with them" }
            previous = number
        }
        return nil
    }
}
