extension Database.Query {
    /// Figures about all the documents.
    ///
    /// For example:
    ///
    /// ```swift
    /// let (number, mean) = try people.find { $0.age >= 18 }.figures(.count, .average(\.age))
    /// ```
    ///
    /// - Parameter figures: What to tell of the documents.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of a property is not known, or the query has a
    ///   sort or fields, which figures know nothing of; `DecodingError`.
    public func figures<each Value: Sendable>(
        _ figures: repeat Database.Figure<Element, each Value>
    ) throws -> (repeat each Value) {
        let names = FigureNames()
        let fields = try Self.fields(repeat each figures)
        let answer = try aggregated(["fields": .document(fields)]).first ?? [:]
        return (repeat try (each figures).decode(answer[names.next()] ?? .null))
    }

    /// Figures about groups of the documents, one for each value of a property, in the order of these values.
    ///
    /// For example:
    ///
    /// ```swift
    /// for (species, number, mean) in try people.find().groups(by: \.pet?.species, .count, .average(\.age)) { … }
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: The property that makes the groups.
    ///   - figures: What to tell of each.
    /// - Throws: As `figures(_:)`.
    public func groups<Key: Decodable & Sendable, each Value: Sendable>(
        by keyPath: KeyPath<Element, Key>, _ figures: repeat Database.Figure<Element, each Value>
    ) throws -> [(Key, repeat each Value)] {
        let path = try Self.path(of: keyPath)
        let fields = try Self.fields(repeat each figures)
        return try aggregated(["by": ["key": .string(path)], "fields": .document(fields)]).map { group in
            let names = FigureNames()
            let key = try BSONDecoder().decodeValue(Key.self, from: group["key"] ?? .null)
            return (key, repeat try (each figures).decode(group[names.next()] ?? .null))
        }
    }

    private static func fields<each Value>(
        _ figures: repeat Database.Figure<Element, each Value>
    ) throws -> BSONDocument {
        let names = FigureNames()
        var fields: BSONDocument = [:]
        for figure in repeat each figures { fields[names.next()] = .document(try figure.operation.get()) }
        return fields
    }

    private func aggregated(_ group: BSONDocument) throws -> [BSONDocument] {
        let answer = try session.reading.aggregate(filter, group, hints, in: collection)
        return answer["groups"]?.arrayValue?.compactMap(\.documentValue) ?? []
    }

    /// The different values of a property in the documents, in their order.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `figures(_:)`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Value>) throws -> [Value] {
        try distinct(path: Self.path(of: keyPath))
    }

    /// The different values that an optional property has.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `figures(_:)`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Value?>) throws -> [Value] {
        try distinct(path: Self.path(of: keyPath))
    }

    /// The different elements of an array property in all the documents.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `figures(_:)`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, [Value]>) throws -> [Value] {
        try distinct(path: Self.path(of: keyPath))
    }

    func distinct<Value: Decodable>(path: String) throws -> [Value] {
        let answer = try session.reading.distinct(path, filter, hints, in: collection)
        let values = answer["values"]?.arrayValue.map(Array.init) ?? []
        return try values.filter { !$0.isNull }.map { try BSONDecoder().decodeValue(Value.self, from: $0) }
    }

    /// The same query, run elsewhere.
    func moved(to session: Session) -> Self {
        Self(session: session, collection: collection, codec: codec, filter: filter, hints: hints)
    }
}

/// The names of figures in a group: "0", "1" and so on.
private final class FigureNames {
    private var number = 0

    func next() -> String {
        defer { number += 1 }
        return "f\(number)"
    }
}
