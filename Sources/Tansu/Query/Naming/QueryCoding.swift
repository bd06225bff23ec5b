import Foundation

/// Encodes the values in a query as they are stored, so that they can be compared.
enum QueryCoding {
    /// The encoder of collections of Codable types.
    static let encoder = BSONEncoder()

    /// The collection that values are made for.
    struct Place: Sendable {
        let strategies: BSONCodingStrategies
        let names: NamingScope?

        init(_ strategies: BSONCodingStrategies, _ names: NamingScope? = nil) {
            self.strategies = strategies
            self.names = names
        }
    }

    /// The collection for which a query is made.
    ///
    /// Conditions are made by closures of the user, from operators that know no collection.
    @TaskLocal static var place = Place(BSONCodingStrategies())

    /// Its strategies.
    static var strategies: BSONCodingStrategies { place.strategies }

    /// The value as a document holds it; nil as null.
    static func value(of operand: any Encodable) throws -> BSONValue {
        do {
            var encoder = encoder
            encoder.strategies = strategies
            return try encoder.encodeValue(operand)
        } catch {
            throw TansuError(
                .invalidQuery, "A value in the query cannot be stored: \(failureReason(of: error))",
                context: safeDescription(of: operand))
        }
    }

    /// The value in all the forms in which documents may hold it at a path; that in which it is stored is the first.
    static func forms(of operand: any Encodable, at path: FieldPath) throws -> [BSONValue] {
        if let date = operand as? Date, isDated(path) { return [BSONValue(date)] }
        let value = try value(of: operand)
        return operand is Date ? strategies.forms(ofDate: value) : [value]
    }

    /// Checks that values of a type are stored in their order at a path.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    static func checkOrder(of type: any Any.Type, at path: FieldPath) throws {
        if type is Date.Type, isDated(path) { return }
        try StoredOrder.check(type, strategies, at: path.keys.joined(separator: "."))
    }

    /// Whether the engine dates documents there.
    private static func isDated(_ path: FieldPath) -> Bool { place.names?.storesDate(at: path) ?? false }

    /// A query document as a part of a query, with its values as they are stored.
    ///
    /// - Parameter keys: Where the documents are that its paths begin in.
    /// - Throws: ``TansuError`` with `.invalidQuery`: it compares by order what is not stored in its order.
    static func stored(_ document: BSONDocument, below keys: [String]) throws -> BSONDocument {
        try place.names?.stored(document, below: keys) ?? document
    }

    /// A value of a result, such as an aggregate.
    ///
    /// - Parameter isComputed: Whether it is computed of several values, so that a `Double` of it is rounded.
    static func decoded<Value: Decodable>(_ value: BSONValue, isComputed: Bool = false) throws -> Value {
        var decoder = BSONDecoder()
        decoder.strategies = strategies
        if isComputed { decoder.doubleStrategy = .rounded }
        return try decoder.decodeValue(Value.self, from: value)
    }
}

extension DocumentCodec {
    /// Runs a closure that decodes results of the collection.
    func coding<Result>(_ body: () throws -> Result) rethrows -> Result {
        strategies.isStandard && QueryCoding.strategies.isStandard
            ? try body() : try QueryCoding.$place.withValue(.init(strategies), operation: body)
    }
}

/// An optional of any type.
protocol OptionalValue {
    /// The type of the wrapped value.
    static var wrappedType: any Any.Type { get }

    /// The wrapped value, if any.
    var content: Any? { get }
}

extension Optional: OptionalValue {
    static var wrappedType: any Any.Type { Wrapped.self }

    var content: Any? { self }
}

/// A type that gives a sample of itself, for queries by key path on properties whose stored names its coding keys do
/// not show.
///
/// Most types need not conform. Conform a type with property wrappers, observed properties or a class that is not final,
/// or with an `init(from:)` that reads other keys than its properties have:
///
/// ```swift
/// extension Article: QuerySampleProviding {
///     static var querySample: Article { Article(id: 1, title: "a title", body: "a body") }
/// }
/// ```
///
/// The sample is encoded as a collection would encode it: a property is stored in the field that equals it. So give each
/// property another value, and no nil. A computed property that can be set is found in the same way, in the field that it
/// equals in the sample; one that cannot be set is not.
///
/// Names that ``StoredFieldNaming`` lists come first.
public protocol QuerySampleProviding: AnyIsolation {
    /// A value in which each property has another value. It is encoded, and never saved.
    static var querySample: Self { get }
}
