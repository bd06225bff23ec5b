public import Tansu

extension Bag {
    /// The collections and ids of the documents, in the order of the bag.
    ///
    /// - Throws: `TansuError` with `.closed`.
    public func keys() throws -> [ObjectKey] {
        try read { try $0.keys(of: name) }
    }

    /// The collections and ids of the documents, in the order of the bag.
    ///
    /// - Throws: `CancellationError`; `TansuError` with `.closed`.
    public func keys() async throws -> [ObjectKey] {
        try await readAsync { [name] in try $0.keys(of: name) }
    }

    /// The bags in it, in its order.
    ///
    /// - Throws: `TansuError` with `.closed`.
    public func bags() throws -> [Bag] {
        try bags(among: keys())
    }

    /// The bags in it, in its order.
    ///
    /// - Throws: `CancellationError`; `TansuError` with `.closed`.
    public func bags() async throws -> [Bag] {
        try await bags(among: keys())
    }

    private func bags(among keys: [ObjectKey]) throws -> [Bag] {
        try keys.filter { $0.collection == BagStore.bags }.compactMap { key in
            try key.id.stringValue.map { try Bag($0, in: session) }
        }
    }

    /// How many documents it has.
    ///
    /// - Throws: `TansuError` with `.closed`.
    public func count() throws -> Int {
        try read { try $0.count(of: name) }
    }

    /// How many documents it has.
    ///
    /// - Throws: `CancellationError`; `TansuError` with `.closed`.
    public func count() async throws -> Int {
        try await readAsync { [name] in try $0.count(of: name) }
    }

    /// Whether it has a value of the model.
    ///
    /// - Parameter element: The value.
    /// - Throws: `TansuError` with `.invalidState` (no model), `.invalidArgument` (the model does not have the type) or
    ///   `.closed`.
    public func contains<Element: Codable & Sendable & Identifiable>(_ element: Element) throws -> Bool
    where Element.ID: Codable & Hashable & Sendable {
        try contains(key(element))
    }

    /// Whether it has a value of the model.
    ///
    /// - Parameter element: The value.
    /// - Throws: `CancellationError`; `TansuError` with `.invalidState` (no model), `.invalidArgument` (the model does not have the type) or
    ///   `.closed`.
    public func contains<Element: Codable & Sendable & Identifiable>(_ element: Element) async throws -> Bool
    where Element.ID: Codable & Hashable & Sendable {
        try await contains(key(element))
    }

    /// Whether it has a document.
    ///
    /// - Parameter key: The collection and the id of the document.
    /// - Throws: `TansuError` with `.closed`.
    public func contains(_ key: ObjectKey) throws -> Bool {
        try read { try $0.contains(key, name) }
    }

    /// Whether it has a document.
    ///
    /// - Parameter key: The collection and the id of the document.
    /// - Throws: `CancellationError`; `TansuError` with `.closed`.
    public func contains(_ key: ObjectKey) async throws -> Bool {
        try await readAsync { [name] in try $0.contains(key, name) }
    }

    /// Its values of a type of the model, in the order of the bag; in one batch.
    ///
    /// - Parameter type: The type.
    /// - Throws: `TansuError` with `.invalidState` (no model), `.invalidArgument` (the model does not have the type) or
    ///   `.closed`; `DecodingError`.
    public func objects<Element: Codable & Sendable & Identifiable>(of type: Element.Type) throws -> [Element]
    where Element.ID: Codable & Hashable & Sendable {
        try read { try $0.objects(of: type, name) }
    }

    /// Its values of a type of the model, in the order of the bag; in one batch.
    ///
    /// - Parameter type: The type.
    /// - Throws: `CancellationError`; `TansuError` with `.invalidState` (no model), `.invalidArgument` (the model does not have the type) or
    ///   `.closed`; `DecodingError`.
    public func objects<Element: Codable & Sendable & Identifiable>(of type: Element.Type) async throws -> [Element]
    where Element.ID: Codable & Hashable & Sendable {
        try await readAsync { [name] in try $0.objects(of: type, name) }
    }

    /// Its documents of all collections, in the order of the bag; in one batch for each collection.
    ///
    /// - Throws: `TansuError` with `.closed`.
    public func documents() throws -> [(key: ObjectKey, document: BSONDocument)] {
        try read { try $0.documents(of: name) }
    }

    /// Its documents of all collections, in the order of the bag; in one batch for each collection.
    ///
    /// - Throws: `CancellationError`; `TansuError` with `.closed`.
    public func documents() async throws -> [(key: ObjectKey, document: BSONDocument)] {
        try await readAsync { [name] in try $0.documents(of: name) }
    }

    /// A query on its values of a type of the model, in the order of their collection: a subquery finds those that are in the
    /// bag.
    ///
    /// ```swift
    /// let recent = try bag.find(Novel.self).all { $0.year > 2000 }
    /// ```
    ///
    /// - Parameter type: The type.
    /// - Throws: `TansuError` with `.invalidState` (no model) or `.invalidArgument` (the model does not have the type).
    public func find<Element: Codable & Sendable & Identifiable>(
        _ type: Element.Type
    ) throws -> Database.Query<Element> {
        let collection = try ModelRegistry.of(session.database).collection(of: type, in: session)
        return collection.find(try read { try $0.filter(collection.name, name) })
    }

    /// The keys, now and after each change of the bag. Of a bag of a transaction it is the stored one.
    ///
    /// ```swift
    /// for try await keys in bag.observe() { print(keys.count) }
    /// ```
    public func observe() -> Database.ValueObservation<[ObjectKey]> {
        session.database.observe { [name] in try $0.bag(name).keys() }
    }
}
