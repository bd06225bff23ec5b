import Foundation

/// Whether values are stored in the order of their type. What compares, sorts or computes with others is an error,
/// because the engine would do that with what is stored: text of numbers, or documents.
package enum StoredOrder {
    private struct Fault {
        let type: any Any.Type
        let form: String
        let remedy: String
    }

    /// The faults of the types that were asked for with strategies that store all values as BSON's own types.
    private static let known = Locked<[ObjectIdentifier: Fault?]>([:])

    /// Checks a type of values that are compared, sorted by or computed with.
    ///
    /// - Parameter location: The path of the values, or the operator, for the error.
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    static func check(_ type: any Any.Type, _ strategies: BSONCodingStrategies, at location: String) throws {
        guard let fault = fault(of: type, strategies) else { return }
        throw unordered("values of type \"\(fault.type)\"", fault.form, fault.remedy, location)
    }

    /// Checks the operands of the hints of a query or of an update that are converted to what is stored.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    package static func check(_ document: BSONDocument, _ strategies: BSONCodingStrategies) throws {
        guard let operand = strategies.unorderedOperand(in: document) else { return }
        throw unordered(operandsOf: operand.operator, operand.form)
    }

    /// The error for operands that are stored in a form without their order.
    static func unordered(operandsOf name: String, _ form: String) -> TansuError {
        unordered("the operands of \"\(name)\"", form, strategyRemedy, name)
    }

    /// Checks a path that documents of a type are compared or sorted by. A path that no property is known for may be used.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    package static func check(
        path: String, of type: any Any.Type, _ strategies: BSONCodingStrategies
    ) throws {
        guard let property = SwiftKeyPath.propertyType(atPath: path, of: type) else { return }
        try check(property, strategies, at: path)
    }

    private static var strategyRemedy: String {
        "use another coding strategy, such as that of BSON's own type, or do that in Swift"
    }

    private static func unordered(_ values: String, _ form: String, _ remedy: String, _ location: String) -> TansuError
    {
        TansuError(
            .invalidQuery,
            "A query cannot compare, sort or compute with \(values), which are stored as \(form), not in their order; "
                + remedy, context: location)
    }

    private static func fault(of type: any Any.Type, _ strategies: BSONCodingStrategies) -> Fault? {
        guard strategies.isStandard else { return find(type, strategies) }
        if let fault = known.withLock({ $0[ObjectIdentifier(type)] }) { return fault }
        let fault = find(type, strategies)
        known.withLock { $0[ObjectIdentifier(type)] = .some(fault) }
        return fault
    }

    private static func find(_ type: any Any.Type, _ strategies: BSONCodingStrategies) -> Fault? {
        if let wrapped = (type as? any OptionalValue.Type)?.wrappedType { return find(wrapped, strategies) }
        if let form = strategies.unorderedForm(of: type) {
            return Fault(type: type, form: form, remedy: strategyRemedy)
        }
        if let type = type as? any BSONTransparent.Type { return find(type.storedPropertyType, strategies) }
        if let element = element(ofArray: type) { return find(element, strategies) }
        if let raw = type as? any RawRepresentable.Type {
            if let type = type as? any (RawRepresentable & CaseIterable & Comparable).Type, !hasRawOrder(type) {
                return Fault(
                    type: type, form: "raw values of another order",
                    remedy: "use raw values that sort like the cases, such as numbers, or do that in Swift")
            }
            return find(rawType(of: raw), strategies)
        }
        if type is any QueryComparable.Type || type is any Numeric.Type || type == UUID.self { return nil }
        guard type is any Comparable.Type else { return nil }
        return Fault(
            type: type, form: "a form of their own",
            remedy: "store a number, a text or a date that sorts like them, let the type conform to QueryComparable if"
                + " what it is stored as does, or do that in Swift")
    }

    /// The type of the elements of an array or a set; `nil` for other types.
    static func element(ofArray type: any Any.Type) -> (any Any.Type)? {
        func element<Values: QueryArray>(of type: Values.Type) -> any Any.Type { Values.QueryElement.self }
        return (type as? any QueryArray.Type).map { element(of: $0) }
    }

    private static func rawType<Value: RawRepresentable>(of type: Value.Type) -> any Any.Type { Value.RawValue.self }

    /// Whether the raw values of all cases sort like the cases.
    private static func hasRawOrder<Value: RawRepresentable & CaseIterable & Comparable>(_ type: Value.Type) -> Bool {
        let raw = Value.allCases.sorted().map(\.rawValue)
        if let texts = raw as? [String] {
            return zip(texts, texts.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
        if let numbers = raw as? [Int] { return zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } }
        return true
    }
}

extension Database.Query {
    /// Checks a property that is compared, sorted by or computed with.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func checkOrder<Value>(of keyPath: KeyPath<Element, Value>) throws {
        try StoredOrder.check(Value.self, codec.strategies, at: keyPath.shown)
    }
}
