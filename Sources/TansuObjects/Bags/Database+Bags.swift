public import Tansu

extension Database {
    /// The bag with a name. It need not exist: it is created when it is first added to.
    ///
    /// - Parameter name: Its name, of at least one character.
    /// - Throws: `TansuError` with `.invalidArgument` for an empty name.
    public func bag(_ name: String) throws -> Bag {
        try Bag(name, in: Session(self))
    }

    /// The names of the bags, sorted.
    ///
    /// - Throws: `TansuError` with `.closed`.
    public func bagNames() throws -> [String] {
        try Session(self).inSnapshot { try BagStore($0).names() }
    }

    /// The names of the bags, sorted.
    ///
    /// - Throws: `TansuError` with `.closed`; `CancellationError`.
    public func bagNames() async throws -> [String] {
        try await Session(self).runCancellable(.read) { session in try session.inSnapshot { try BagStore($0).names() } }
    }

    /// The names of the bags that have a document, sorted.
    ///
    /// - Parameter key: The collection and the id of the document.
    /// - Throws: `TansuError` with `.closed`.
    public func bagNames(containing key: ObjectKey) throws -> [String] {
        try Session(self).inSnapshot { try BagStore($0).names(containing: key) }
    }

    /// The names of the bags that have a document, sorted.
    ///
    /// - Parameter key: The collection and the id of the document.
    /// - Throws: `TansuError` with `.closed`; `CancellationError`.
    public func bagNames(containing key: ObjectKey) async throws -> [String] {
        try await Session(self).runCancellable(.read) { session in
            try session.inSnapshot { try BagStore($0).names(containing: key) }
        }
    }

    /// The names of the bags that have a value of the model, sorted.
    ///
    /// - Parameter element: The value.
    /// - Throws: `TansuError` with `.invalidState` (no model), `.invalidArgument` (the model does not have the type) or
    ///   `.closed`.
    public func bagNames<Element: Codable & Sendable & Identifiable>(
        containing element: Element
    ) throws -> [String] where Element.ID: Codable & Hashable & Sendable {
        try bagNames(
            containing: ObjectKey(ModelRegistry.of(Session(self).database).entity(of: Element.self), element.id))
    }

    /// The names of the bags that have a value of the model, sorted.
    ///
    /// - Parameter element: The value.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func bagNames<Element: Codable & Sendable & Identifiable>(
        containing element: Element
    ) async throws -> [String] where Element.ID: Codable & Hashable & Sendable {
        try await bagNames(
            containing: ObjectKey(ModelRegistry.of(Session(self).database).entity(of: Element.self), element.id))
    }
}

// MARK: - Transaction: bags

extension Database.Transaction {
    /// The bag with a name. It need not exist: it is created when it is first added to.
    ///
    /// - Parameter name: Its name, of at least one character.
    /// - Throws: `TansuError` with `.invalidArgument` for an empty name.
    public func bag(_ name: String) throws -> Bag {
        try Bag(name, in: session)
    }

    /// The names of the bags, sorted.
    ///
    /// - Throws: `TansuError` with `.closed`.
    public func bagNames() throws -> [String] {
        try session.inSnapshot { try BagStore($0).names() }
    }

    /// The names of the bags, sorted.
    ///
    /// - Throws: `TansuError` with `.closed`; `CancellationError`.
    public func bagNames() async throws -> [String] {
        try await session.runCancellable(.read) { session in try session.inSnapshot { try BagStore($0).names() } }
    }

    /// The names of the bags that have a document, sorted.
    ///
    /// - Parameter key: The collection and the id of the document.
    /// - Throws: `TansuError` with `.closed`.
    public func bagNames(containing key: ObjectKey) throws -> [String] {
        try session.inSnapshot { try BagStore($0).names(containing: key) }
    }

    /// The names of the bags that have a document, sorted.
    ///
    /// - Parameter key: The collection and the id of the document.
    /// - Throws: `TansuError` with `.closed`; `CancellationError`.
    public func bagNames(containing key: ObjectKey) async throws -> [String] {
        try await session.runCancellable(.read) { session in
            try session.inSnapshot { try BagStore($0).names(containing: key) }
        }
    }

    /// The names of the bags that have a value of the model, sorted.
    ///
    /// - Parameter element: The value.
    /// - Throws: `TansuError` with `.invalidState` (no model), `.invalidArgument` (the model does not have the type) or
    ///   `.closed`.
    public func bagNames<Element: Codable & Sendable & Identifiable>(
        containing element: Element
    ) throws -> [String] where Element.ID: Codable & Hashable & Sendable {
        try bagNames(containing: ObjectKey(ModelRegistry.of(session.database).entity(of: Element.self), element.id))
    }

    /// The names of the bags that have a value of the model, sorted.
    ///
    /// - Parameter element: The value.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func bagNames<Element: Codable & Sendable & Identifiable>(
        containing element: Element
    ) async throws -> [String] where Element.ID: Codable & Hashable & Sendable {
        try await bagNames(
            containing: ObjectKey(ModelRegistry.of(session.database).entity(of: Element.self), element.id))
    }
}
