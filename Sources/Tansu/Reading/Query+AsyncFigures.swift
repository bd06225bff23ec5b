// The twins of Query+Figures.swift; what is said there holds here.
extension Database.Query {
    /// Figures about all the documents.
    ///
    /// - Parameter figures: What to tell of the documents.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func figures<each Value: Sendable>(
        _ figures: repeat Database.Figure<Element, each Value>
    ) async throws -> (repeat each Value) {
        try await session.suspendStoppable(.read) { try self.moved(to: $0).figures(repeat each figures) }
    }

    /// Figures about groups of the documents, one for each value of a property, in the order of these values.
    ///
    /// - Parameters:
    ///   - keyPath: The property that makes the groups.
    ///   - figures: What to tell of each.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func groups<Key: Decodable & Sendable, each Value: Sendable>(
        by keyPath: KeyPath<Element, Key> & Sendable, _ figures: repeat Database.Figure<Element, each Value>
    ) async throws -> [(Key, repeat each Value)] {
        try await session.suspendStoppable(.read) {
            try self.moved(to: $0).groups(by: keyPath, repeat each figures)
        }
    }

    /// The different values of a property in the documents, in their order.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Value>) async throws -> [Value] {
        let path = try Self.path(of: keyPath)
        return try await session.suspendStoppable(.read) { try self.moved(to: $0).distinct(path: path) }
    }

    /// The different values that an optional property has.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, Value?>) async throws -> [Value] {
        let path = try Self.path(of: keyPath)
        return try await session.suspendStoppable(.read) { try self.moved(to: $0).distinct(path: path) }
    }

    /// The different elements of an array property in all the documents.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func distinct<Value: Decodable & Sendable>(_ keyPath: KeyPath<Element, [Value]>) async throws -> [Value] {
        let path = try Self.path(of: keyPath)
        return try await session.suspendStoppable(.read) { try self.moved(to: $0).distinct(path: path) }
    }
}
