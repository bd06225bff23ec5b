import Foundation
import TansuBSON

// A query document has its values as BSON's own types. What is stored may have another form: each value is converted once, by the
// coding strategies of the collection that has it, and checked for comparisons by order that the form does not allow.
extension NamingScope {
    /// Where a value of a query is: a collection, and the keys below its documents.
    private struct Place {
        let scope: NamingScope
        var keys: [String]
        var strategies: BSONCodingStrategies { scope.strategies }

        /// The place of a path below this one, which may lead through references to other collections.
        func below(_ path: String) -> Place {
            var place = Place(scope: scope, keys: keys + FieldPath.keys(of: path))
            while let (collection, count) = place.reference() {
                place = Place(scope: place.scope.scope(of: collection), keys: Array(place.keys.dropFirst(count)))
            }
            return place
        }

        /// The first reference that the keys lead through, as the collection that it is to and the number of its keys.
        private func reference() -> (String, Int)? {
            guard keys.count > 1 else { return nil }
            for count in 1..<keys.count {
                // A position in an array is no part of a declared path.
                let names = keys.prefix(count).filter { Int($0) == nil }
                if let target = scope.target(at: names) { return (target, count) }
            }
            return nil
        }

        /// A value that is no document or array, as it is stored here.
        func stored(_ value: BSONValue) -> BSONValue {
            if case .date = value, isDated { return value }
            return strategies.stored(value)
        }

        /// The forms of a date that equals a value, when there are several.
        func forms(_ value: BSONValue) -> [BSONValue]? {
            guard case .date = value, !isDated else { return nil }
            let forms = strategies.forms(ofDate: strategies.stored(value))
            return forms.count > 1 ? forms : nil
        }

        /// What a value is stored as when a query cannot compare it by order.
        func unorderedForm(of value: BSONValue) -> String? {
            if case .date = value, isDated { return nil }
            return strategies.unorderedForm(of: value)
        }

        private var isDated: Bool { scope.storesDate(at: FieldPath(keys: keys)) }
    }

    /// A query on documents of the collection with its values in the form in which they are stored.
    ///
    /// - Parameters:
    ///   - keys: Where the documents are that its paths begin in, for elements of arrays.
    ///   - isInserted: Whether an upsert may insert its values, so that each of them has one form only.
    /// - Throws: ``TansuError`` with `.invalidQuery`: it compares by order what is not stored in its order.
    func stored(_ query: BSONDocument, below keys: [String] = [], isInserted: Bool = false) throws -> BSONDocument {
        guard !strategies.isStandard || hasOtherCodings else { return query }
        return try stored(query, Place(scope: self, keys: keys), isInserted, depth: 1)
    }

    private func stored(
        _ query: BSONDocument, _ place: Place, _ isInserted: Bool, depth: Int
    ) throws -> BSONDocument {
        BSONDocument(
            try query.map { key, value in
                let isOperator = key.hasPrefix("$")
                let place = isOperator ? place : place.below(key)
                if BSONCodingStrategies.rangeOperators.contains(key), let form = place.unorderedForm(of: value) {
                    throw StoredOrder.unordered(operandsOf: key, form)
                }
                if !isInserted, let (name, forms) = equality(key, value, place, in: query) { return (name, forms) }
                switch value {
                // Paths and words of a search are not values of documents.
                case .document where key == "$text": return (key, value)
                case .document(let inner) where key == "$in" || key == "$nin":
                    return (key, .document(try subquery(inner, place, depth: depth + 1)))
                case .document(let inner):
                    guard depth < BSONDocument.maximumDepth else { return (key, value) }
                    return (key, .document(try stored(inner, place, isInserted, depth: depth + 1)))
                case .array(let elements):
                    return (key, BSONValue(try elements.map { try stored(element: $0, place, isInserted, depth + 1) }))
                default: return (key, place.stored(value))
                }
            })
    }

    private func stored(element: BSONValue, _ place: Place, _ isInserted: Bool, _ depth: Int) throws -> BSONValue {
        guard depth < BSONDocument.maximumDepth else { return element }
        return switch element {
        case .document(let inner): .document(try stored(inner, place, isInserted, depth: depth + 1))
        case .array(let elements):
            BSONValue(try elements.map { try stored(element: $0, place, isInserted, depth + 1) })
        default: place.stored(element)
        }
    }

    /// The operator and the operand that find the equal values in all their forms, where there are several.
    private func equality(
        _ key: String, _ value: BSONValue, _ place: Place, in query: BSONDocument
    ) -> (String, BSONValue)? {
        switch (key, value) {
        case ("$eq", .date) where query["$in"] == nil: place.forms(value).map { ("$in", BSONValue($0)) }
        case ("$ne", .date) where query["$nin"] == nil: place.forms(value).map { ("$nin", BSONValue($0)) }
        case ("$in", .array(let values)), ("$nin", .array(let values)):
            values.contains { place.forms($0) != nil }
                ? (key, BSONValue(values.flatMap { place.forms($0) ?? [place.stored($0)] })) : nil
        case (_, .date) where !key.hasPrefix("$"):
            place.forms(value).map { (key, .document(["$in": BSONValue($0)])) }
        default: nil
        }
    }

    /// The operand of `$in` that selects values of another collection, or a document that is compared.
    private func subquery(_ operand: BSONDocument, _ place: Place, depth: Int) throws -> BSONDocument {
        guard depth < BSONDocument.maximumDepth else { return operand }
        guard let name = operand["$from"]?.stringValue, case .document(let query)? = operand["$query"] else {
            return try stored(operand, place, false, depth: depth)
        }
        var operand = operand
        let other = Place(scope: place.scope.scope(of: name), keys: [])
        operand["$query"] = .document(try stored(query, other, false, depth: depth + 1))
        return operand
    }
}

extension Database.Collection {
    /// A query and its hints in the form in which values are stored.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: it compares or sorts by values that are not stored in their order.
    func stored(_ query: BSONDocument, _ hints: BSONDocument) throws -> (BSONDocument, BSONDocument) {
        // A collection of documents has them as they are stored.
        guard Element.self != BSONDocument.self else { return (query, hints) }
        let isUpsert = hints["$upsert"] != nil || query["$upsert"] != nil
        let query = try scope.stored(query, isInserted: isUpsert)
        try StoredOrder.check(hints, codec.strategies)
        try codec.checkOrder(hints)
        return (query, codec.strategies.stored(hints))
    }

    /// The operations of an update in the form in which values are stored.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`, likewise.
    func stored(operations: BSONDocument) throws -> BSONDocument {
        try StoredOrder.check(operations, codec.strategies)
        return codec.strategies.stored(operations)
    }

    /// For the names of properties and the values in one query.
    var scope: NamingScope { NamingScope(session, name, codec.strategies) }
}

extension Session {
    /// A query on a collection with its values in the form in which coding strategies store them.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: it compares by order what is not stored in its order.
    package func storedQuery(
        _ query: BSONDocument, of collection: String, _ strategies: BSONCodingStrategies
    ) throws -> BSONDocument {
        try NamingScope(self, collection, strategies).stored(query)
    }
}
