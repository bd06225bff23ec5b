// The async variants of Query+Aggregates.swift.
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
