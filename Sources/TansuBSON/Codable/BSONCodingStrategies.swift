import Foundation

/// How `Date` values are stored.
public enum BSONDateStrategy: Sendable {
    /// As BSON's date: milliseconds since 1970, rounded.
    case bsonDate
    /// As text in milliseconds, rounded, such as `2024-05-01T12:00:00.250Z`, for the years 0 to 9999.
    ///
    /// The text always has three digits of milliseconds, so that it has the order of the dates. Text with another
    /// fraction, with none, or in another time zone is read, too, but is compared as text in queries; only equality with
    /// whole seconds also finds `2024-05-01T12:00:00Z`.
    case iso8601
    /// As a double: seconds since 1970.
    case secondsSince1970
    /// As an int64: milliseconds since 1970, rounded.
    case millisecondsSince1970
    /// As `Date` encodes itself: a double, seconds since 2001.
    case deferredToDate
    /// As a value that the first closure makes of a date and the second closure converts back.
    ///
    /// Queries use the order of what is stored when it is a number or a date; comparing text by order is an error.
    ///
    /// An `EncodingError` or a `DecodingError` that a closure throws is rethrown. Any other error is wrapped in one
    /// that has the path of the field.
    indirect case custom(
        encode: @Sendable (Date) throws -> BSONValue, decode: @Sendable (BSONValue) throws -> Date)
}

/// How `Data` values are stored.
public enum BSONDataStrategy: Sendable, Hashable {
    /// As binary of the generic subtype.
    case binary
    /// As text in base64, which is not in the order of the bytes: queries that compare or sort by it are errors.
    case base64
}

/// How `UUID` values are stored.
public enum BSONUUIDStrategy: Sendable, Hashable {
    /// As binary of subtype 4.
    case binary
    /// As text, such as `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
    case string
}

/// How `Decimal` values are stored.
///
/// A `Decimal` has up to 38 digits, such as the result of a division, and a decimal128 has 34.
///
/// Whatever the strategy, except for text, numbers of all types are read: a double with a fraction as its shortest text,
/// so that 7.1 is 7.1, all others exactly.
public enum BSONDecimalStrategy: Sendable, Hashable {
    /// As decimal128. Digits after the decimal point are rounded, half to even, when the number has more than 34 digits;
    /// more than 34 digits before the point are an error.
    case decimal128
    /// As decimal128. A number of more than 34 digits is an error.
    case exactDecimal128
    /// As decimal128, rounded when the number has more than 34 digits.
    case roundedDecimal128(BSONRoundingRule)
    /// As a double, for documents that others write. A number that is not the shortest text of a double is an error:
    /// it would be read as another one.
    case double
    /// As text, which is not in the order of the numbers: queries that compare, sort or compute with it are errors.
    case string
}

/// How numbers are read as `Double` that it does not represent exactly.
public enum BSONDoubleStrategy: Sendable, Hashable {
    /// They are errors, except that a decimal may be the shortest text of the double: 7.1 is read as 7.1.
    case exact
    /// As the nearest double. A number out of the range of doubles is an error.
    case rounded
}

/// How `URL` values are stored.
public enum BSONURLStrategy: Sendable, Hashable {
    /// As text: the absolute string. A relative URL becomes absolute.
    case string
    /// As `URL` encodes itself: a document of the relative string and the base.
    case deferredToURL
}

/// The mapping between a property `id` and the document's `_id`.
public enum BSONIDMapping: Sendable, Hashable {
    /// At the top level a coding key `id` is stored as `_id`, unless the type has its own coding key `_id`.
    ///
    /// It is read from `_id` at every level, so that a document that a query joined is decoded as in its own
    /// collection; in a nested document without `_id` it is read from `id`. Keys of dictionaries are stored as they are.
    case automatic
    /// Keys are stored as they are.
    case none
}

/// How values of Foundation's types are stored, for an encoder, a decoder or a collection.
///
/// For example, for a database that other programs write as JSON:
///
/// ```swift
/// let visits = try db.collection("visits", of: Visit.self, coding: BSONCodingStrategies(date: .iso8601, uuid: .string))
/// ```
public struct BSONCodingStrategies: Sendable {
    /// How `Date` values are stored.
    public var date: BSONDateStrategy
    /// How `Data` values are stored.
    public var data: BSONDataStrategy
    /// How `UUID` values are stored.
    public var uuid: BSONUUIDStrategy
    /// How `URL` values are stored.
    public var url: BSONURLStrategy
    /// How `Decimal` values are stored.
    public var decimal: BSONDecimalStrategy
    /// How numbers are read as `Double` that it does not represent exactly.
    public var double: BSONDoubleStrategy

    /// Makes strategies: BSON's own types unless set.
    public init(
        date: BSONDateStrategy = .bsonDate, data: BSONDataStrategy = .binary, uuid: BSONUUIDStrategy = .binary,
        url: BSONURLStrategy = .string, decimal: BSONDecimalStrategy = .decimal128,
        double: BSONDoubleStrategy = .exact
    ) {
        self.date = date
        self.data = data
        self.uuid = uuid
        self.url = url
        self.decimal = decimal
        self.double = double
    }

    /// What documents have that come from plain JSON: dates as text of ISO 8601, bytes in base64, UUIDs as text and
    /// decimals as doubles.
    public static var json: Self { Self(date: .iso8601, data: .base64, uuid: .string, decimal: .double) }
}

/// The options that an encoder and a decoder have in common.
struct BSONCodingOptions: Sendable {
    var date = BSONDateStrategy.bsonDate
    var data = BSONDataStrategy.binary
    var uuid = BSONUUIDStrategy.binary
    var url = BSONURLStrategy.string
    var decimal = BSONDecimalStrategy.decimal128
    var double = BSONDoubleStrategy.exact
    var idMapping = BSONIDMapping.automatic
    var usesDirectCoding = true
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    var strategies: BSONCodingStrategies {
        get {
            BSONCodingStrategies(date: date, data: data, uuid: uuid, url: url, decimal: decimal, double: double)
        }
        set {
            (date, data, uuid) = (newValue.date, newValue.data, newValue.uuid)
            (url, decimal, double) = (newValue.url, newValue.decimal, newValue.double)
        }
    }

    /// Whether the options retain objects of the caller, so that a cached state must not keep them.
    var holdsReferences: Bool {
        if case .custom = date { return true }
        return !userInfo.isEmpty
    }
}

// MARK: - Order

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
