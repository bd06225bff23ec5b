extension Database.Query {
    /// Aggregates of all the documents.
    ///
    /// For example:
    ///
    /// ```swift
    /// let (number, mean) = try people.find { $0.age >= 18 }.aggregate(.count, .average(\.age))
    /// ```
    ///
    /// - Parameter aggregates: What to compute.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of a property is not known, or the query has a
    ///   sort or fields, which aggregates do not take; `DecodingError`.
    public func aggregate<each Value: Sendable>(
        _ aggregates: repeat Database.Aggregate<Element, each Value>
    ) throws -> (repeat each Value) {
        let names = AggregateNames()
        let fields = try fields(repeat each aggregates)
        let answer = try aggregated(["fields": .document(fields)]).first ?? [:]
        return try codec.coding { (repeat try decoded(each aggregates, answer[names.next()])) }
    }

    /// One aggregate of all the documents.
    ///
    /// For example, a mean of decimals as the nearest double:
    ///
    /// ```swift
    /// let mean: Double? = try items.find().aggregate(.average(\.price))
    /// ```
    ///
    /// - Parameter aggregate: What to compute.
    /// - Throws: As with several.
    public func aggregate<Value: Sendable>(_ aggregate: Database.Aggregate<Element, Value>) throws -> Value {
        let fields = try fields(aggregate)
        let answer = try aggregated(["fields": .document(fields)]).first ?? [:]
        return try codec.coding { try decoded(aggregate, answer[AggregateNames().next()]) }
    }

    /// Aggregates of groups of the documents, one group for each value of a property, in the order of the values.
    ///
    /// For example:
    ///
    /// ```swift
    /// for (species, number, mean) in try people.find().groups(by: \.pet?.species, .count, .average(\.age)) { … }
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: The property that makes the groups.
    ///   - aggregates: What to compute of each group.
    /// - Throws: As `aggregate(_:)`.
    public func groups<Key: Decodable & Sendable, each Value: Sendable>(
        by keyPath: KeyPath<Element, Key>, _ aggregates: repeat Database.Aggregate<Element, each Value>
    ) throws -> [(Key, repeat each Value)] {
        let path = try path(of: keyPath)
        let fields = try fields(repeat each aggregates)
        let groups = try aggregated(["by": ["key": .string(path)], "fields": .document(fields)])
        return try codec.coding {
            try groups.map { group in
                let names = AggregateNames()
                let key: Key = try QueryCoding.decoded(group["key"] ?? .null)
                return (key, repeat try decoded(each aggregates, group[names.next()]))
            }
        }
    }

    private func fields<each Value>(
        _ aggregates: repeat Database.Aggregate<Element, each Value>
    ) throws -> BSONDocument {
        let names = AggregateNames()
        var fields: BSONDocument = [:]
        for aggregate in repeat each aggregates { fields[names.next()] = .document(try aggregate.operation(self)) }
        return fields
    }

    /// The value of an aggregate; an error, such as a sum out of the range of its type, names it.
    func decoded<Value>(_ aggregate: Database.Aggregate<Element, Value>, _ value: BSONValue?) throws -> Value {
        do {
            return try aggregate.decode(value ?? .null)
        } catch let error as DecodingError {
            let operation = try aggregate.operation(self).first
            let operand = operation?.value.stringValue.map { " of \"\($0)\"" } ?? ""
            throw error.with(
                "\(error.context.debugDescription), in the aggregate \"\(operation?.key ?? "")\"\(operand) of collection"
                    + " \"\(collection)\"")
        }
    }

    func aggregated(_ group: BSONDocument) throws -> [BSONDocument] {
        try checkOrder()
        let answer = try session.engine.aggregate(filter, group, hints, in: collection)
        return answer["groups"]?.arrayValue?.compactMap(\.documentValue) ?? []
    }

    /// The distinct values of a property in the documents, in their order.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `aggregate(_:)`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Value>) throws -> [Value] {
        try distinct(path: path(of: keyPath))
    }

    /// The distinct values that an optional property has.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `aggregate(_:)`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Value?>) throws -> [Value] {
        try distinct(path: path(of: keyPath))
    }

    /// The distinct elements of an array property in all the documents.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `aggregate(_:)`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, [Value]>) throws -> [Value] {
        try distinct(path: path(of: keyPath))
    }

    /// The distinct elements of an optional array property in all the documents.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `aggregate(_:)`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, [Value]?>) throws -> [Value] {
        try distinct(path: path(of: keyPath))
    }

    /// The distinct elements of a property that is a set in all the documents.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `aggregate(_:)`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Set<Value>>) throws -> [Value] {
        try distinct(path: path(of: keyPath))
    }

    /// The distinct elements of a property that is an optional set in all the documents.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `aggregate(_:)`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Set<Value>?>) throws -> [Value] {
        try distinct(path: path(of: keyPath))
    }

    func distinct<Value: Decodable>(path: String) throws -> [Value] {
        try checkOrder()
        let answer = try session.engine.distinct(path, filter, hints, in: collection)
        let values = answer["values"]?.arrayValue.map(Array.init) ?? []
        do {
            return try codec.coding { try values.filter { !$0.isNull }.map { try QueryCoding.decoded($0) } }
        } catch let error as DecodingError {
            guard StoredForm.isTakenApart(Value.self) else { throw error }
            throw TansuError(
                .invalidQuery,
                "Values of type \"\(Value.self)\" are stored as arrays, of which distinct has the elements; group the"
                    + " documents by the property, or find them and make a set in Swift", context: path)
        }
    }
}

/// The names of aggregates in a group: "f0", "f1" and so on.
private final class AggregateNames {
    private var number = 0

    func next() -> String {
        defer { number += 1 }
        return "f\(number)"
    }
}

// MARK: - Async aggregates

extension Database.Query {
    /// Aggregates of all the documents.
    ///
    /// - Parameter aggregates: What to compute.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func aggregate<each Value: Sendable>(
        _ aggregates: repeat Database.Aggregate<Element, each Value>
    ) async throws -> (repeat each Value) {
        try await session.runCancellable(.read) { try self.using($0).aggregate(repeat each aggregates) }
    }

    /// One aggregate of all the documents.
    ///
    /// - Parameter aggregate: What to compute.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func aggregate<Value: Sendable>(_ aggregate: Database.Aggregate<Element, Value>) async throws -> Value {
        try await session.runCancellable(.read) { try self.using($0).aggregate(aggregate) }
    }

    /// Aggregates of groups of the documents, one group for each value of a property, in the order of the values.
    ///
    /// - Parameters:
    ///   - keyPath: The property that makes the groups.
    ///   - aggregates: What to compute of each group.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func groups<Key: Decodable & Sendable, each Value: Sendable>(
        by keyPath: KeyPath<Element, Key> & Sendable, _ aggregates: repeat Database.Aggregate<Element, each Value>
    ) async throws -> [(Key, repeat each Value)] {
        try await session.runCancellable(.read) {
            try self.using($0).groups(by: keyPath, repeat each aggregates)
        }
    }

    /// The distinct values of a property in the documents, in their order.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Value>) async throws -> [Value] {
        let path = try self.path(of: keyPath)
        return try await session.runCancellable(.read) { try self.using($0).distinct(path: path) }
    }

    /// The distinct values that an optional property has.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Value?>) async throws -> [Value] {
        let path = try self.path(of: keyPath)
        return try await session.runCancellable(.read) { try self.using($0).distinct(path: path) }
    }

    /// The distinct elements of an array property in all the documents.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, [Value]>) async throws -> [Value] {
        let path = try self.path(of: keyPath)
        return try await session.runCancellable(.read) { try self.using($0).distinct(path: path) }
    }

    /// The distinct elements of an optional array property in all the documents.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, [Value]?>) async throws -> [Value] {
        let path = try self.path(of: keyPath)
        return try await session.runCancellable(.read) { try self.using($0).distinct(path: path) }
    }

    /// The distinct elements of a property that is a set in all the documents.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Set<Value>>) async throws -> [Value] {
        let path = try self.path(of: keyPath)
        return try await session.runCancellable(.read) { try self.using($0).distinct(path: path) }
    }

    /// The distinct elements of a property that is an optional set in all the documents.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Set<Value>?>) async throws -> [Value]
    {
        let path = try self.path(of: keyPath)
        return try await session.runCancellable(.read) { try self.using($0).distinct(path: path) }
    }
}

// MARK: - Collection: aggregates

extension Database.Collection {
    /// The distinct values of a path in the documents that match; of an array, its elements.
    ///
    /// - Parameters:
    ///   - path: The dotted path.
    ///   - query: Which documents; all when empty.
    ///   - hints: Options; `$skip` and `$max` apply to the values. With `$explain` it is the plan.
    /// - Returns: The values in ascending order; of equal ones (1 and 1.0) the one inserted first.
    /// - Throws: ``TansuError`` with `.invalidQuery`, or `.tooLarge` (values over the memory limit).
    public func distinct(
        _ path: String, _ query: BSONDocument = [:], hints: BSONDocument = [:]
    ) throws -> [BSONValue] {
        let (query, hints) = try stored(query, hints)
        let answer = try session.engine.distinct(path, query, hints, in: name)
        return answer["values"]?.arrayValue.map(Array.init) ?? [.document(answer)]
    }

    /// Aggregates of groups of the documents that match.
    ///
    /// For example:
    ///
    /// ```swift
    /// let bySpecies = try people.aggregate(
    ///     ["age": ["$gte": 18]],
    ///     group: ["by": "pet.species", "fields": ["people": ["$count": true], "meanAge": ["$avg": "age"]]])
    /// ```
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - group: `by`, a path, an array of paths or `[name: path]`, without which all documents are one group; and
    ///     `fields`, `[name: [operator: path]]` with `$count $sum $avg $min $max $first $last $distinct`.
    ///   - hints: Options; `$orderby`, `$skip` and `$max` apply to the groups. With `$explain` it is the plan.
    /// - Returns: A document for each group, in the order of the group keys.
    /// - Throws: ``TansuError`` with `.invalidQuery` (the context names the member of the group), or `.tooLarge`
    ///   (groups over the memory limit).
    public func aggregate(
        _ query: BSONDocument = [:], group: BSONDocument, hints: BSONDocument = [:]
    ) throws -> [BSONDocument] {
        let (query, _) = try stored(query, [:])
        let answer = try session.engine.aggregate(query, group, hints, in: name)
        return answer["groups"]?.arrayValue?.compactMap(\.documentValue) ?? [answer]
    }
}

// MARK: - Collection: async aggregates

extension Database.Collection {
    /// The distinct values of a path in the documents that match; of an array, its elements.
    ///
    /// - Parameters:
    ///   - path: The dotted path.
    ///   - query: Which documents; all when empty.
    ///   - hints: Options; `$skip` and `$max` apply to the values. With `$explain` it is the plan.
    /// - Returns: The values in ascending order.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func distinct(
        _ path: String, _ query: BSONDocument = [:], hints: BSONDocument = [:]
    ) async throws -> [BSONValue] {
        try await session.runCancellable(.read) { try self.using($0).distinct(path, query, hints: hints) }
    }

    /// Aggregates of groups of the documents that match.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - group: `by`, what they are grouped by, and `fields`, the aggregates.
    ///   - hints: Options; `$orderby`, `$skip` and `$max` apply to the groups. With `$explain` it is the plan.
    /// - Returns: A document for each group, in the order of the group keys.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func aggregate(
        _ query: BSONDocument = [:], group: BSONDocument, hints: BSONDocument = [:]
    ) async throws -> [BSONDocument] {
        try await session.runCancellable(.read) {
            try self.using($0).aggregate(query, group: group, hints: hints)
        }
    }
}
