public import Tansu

/// A named, stored, ordered group of documents of any collections.
///
/// ```swift
/// let favourites = try db.bag("favourites")
/// try favourites.add([dispossessed, solaris])
/// for novel in try favourites.objects(of: Novel.self) { print(novel.title) }
/// ```
///
/// A document is in a bag once. Removing a document takes it out of its bags in the same commit, whichever way it is removed:
/// a membership is a document that refers to it with the delete rule `cascade`. Removing a bag leaves its documents. A bag
/// exists as long as it was added to and not removed; one that does not exist is empty.
///
/// All bags of a database together may have documents of 63 collections.
///
/// A bag of a transaction, `transaction.bag(_:)`, is changed and read in it. The first document of a collection in any
/// bag declares a reference, so that it cannot be added in a savepoint.
public struct Bag: Sendable {
    /// Its name.
    public let name: String

    /// What it is in other bags: `try shelf.add([favourites.objectKey])`. A bag can be added when it exists, and leaves the
    /// others when it is removed. Bags may be in each other.
    public var objectKey: ObjectKey { ObjectKey(collection: BagStore.bags, id: .string(name)) }

    let session: Session

    init(_ name: String, in session: Session) throws {
        guard !name.isEmpty else {
            throw TansuError(.invalidArgument, "The name of a bag is empty; give it one", context: "name")
        }
        self.name = name
        self.session = session
    }

    func read<Result>(_ body: (BagStore) throws -> Result) throws -> Result {
        try session.inSnapshot { try body(BagStore($0)) }
    }

    func readAsync<Result: Sendable>(
        _ body: @escaping @Sendable (BagStore) throws -> Result
    ) async throws -> Result {
        try await session.runCancellable(.read) { session in try session.inSnapshot { try body(BagStore($0)) } }
    }

    /// Changes bags in one commit, after the collections that are to have documents in them are declared.
    func write<Result>(
        _ collections: Set<BytewiseText> = [], in session: Session? = nil, _ body: (BagStore) throws -> Result
    ) throws -> Result {
        let session = session ?? self.session
        if session.isInTransaction {
            // A savepoint cannot undo a declaration; what is declared without documents does no harm.
            try BagStore(session).prepare(collections)
            return try session.inTransaction { try body(BagStore($0)) }
        }
        return try session.inTransaction { session in
            let store = BagStore(session)
            try store.prepare(collections)
            return try body(store)
        }
    }

    func writeAsync<Result: Sendable>(
        _ collections: Set<BytewiseText> = [], _ body: @escaping @Sendable (BagStore) throws -> Result
    ) async throws -> Result {
        try await session.runCancellable(.write) { try self.write(collections, in: $0, body) }
    }

    /// The key of a value of a type of the model.
    func key<Element: Codable & Sendable & Identifiable>(
        _ element: Element
    ) throws -> ObjectKey where Element.ID: Codable & Hashable & Sendable {
        try ObjectKey(ModelRegistry.of(session.database).entity(of: Element.self), element.id)
    }
}

// MARK: - Reading

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

// MARK: - Changing

extension Bag {
    /// Adds stored values of the model at the end. Those that the bag has stay where they are.
    ///
    /// - Parameter elements: The values.
    /// - Returns: How many are new in the bag.
    /// - Throws: `TansuError` with `.invalidState` (no model, or in a savepoint), `.invalidArgument` (the model does not have
    ///   the type), `.notFound` (a value is not stored), or what a commit can throw.
    @discardableResult
    public func add<Element: Codable & Sendable & Identifiable>(_ elements: [Element]) throws -> Int
    where Element.ID: Codable & Hashable & Sendable {
        try add(elements.map(key))
    }

    /// Adds stored values of the model at the end. Those that the bag has stay where they are.
    ///
    /// - Parameter elements: The values.
    /// - Returns: How many are new in the bag.
    /// - Throws: `CancellationError`; `TansuError` with `.invalidState` (no model, or in a savepoint), `.invalidArgument` (the model does not have
    ///   the type), `.notFound` (a value is not stored), or what a commit can throw.
    @discardableResult
    public func add<Element: Codable & Sendable & Identifiable>(_ elements: [Element]) async throws -> Int
    where Element.ID: Codable & Hashable & Sendable {
        try await add(elements.map(key))
    }

    /// Adds documents at the end. Those that the bag has stay where they are.
    ///
    /// - Parameter keys: The collections and ids of the documents.
    /// - Returns: How many are new in the bag.
    /// - Throws: `TansuError` with `.notFound` (a document does not exist), `.invalidState` (in a savepoint), or what a commit
    ///   can throw.
    @discardableResult
    public func add(_ keys: [ObjectKey]) throws -> Int {
        try write(keys.map(\.collection).bytewiseSet) { try $0.insert(keys, at: nil, of: name) }
    }

    /// Adds documents at the end. Those that the bag has stay where they are.
    ///
    /// - Parameter keys: The collections and ids of the documents.
    /// - Returns: How many are new in the bag.
    /// - Throws: `CancellationError`; `TansuError` with `.notFound` (a document does not exist), `.invalidState` (in a savepoint), or what a commit
    ///   can throw.
    @discardableResult
    public func add(_ keys: [ObjectKey]) async throws -> Int {
        try await writeAsync(keys.map(\.collection).bytewiseSet) { [name] in try $0.insert(keys, at: nil, of: name) }
    }

    /// Inserts stored values of the model at a position; those that the bag has are moved there.
    ///
    /// - Parameters:
    ///   - elements: The values.
    ///   - position: From 0 to `count()`, as the bag is before.
    /// - Returns: How many are new in the bag.
    /// - Throws: `TansuError` with `.invalidState` (no model, or in a savepoint), `.invalidArgument` (the model does not have
    ///   the type), `.notFound` (a value is not stored), or what a commit can throw.
    @discardableResult
    public func insert<Element: Codable & Sendable & Identifiable>(_ elements: [Element], at position: Int) throws
        -> Int where Element.ID: Codable & Hashable & Sendable
    {
        try insert(elements.map(key), at: position)
    }

    /// Inserts stored values of the model at a position; those that the bag has are moved there.
    ///
    /// - Parameters:
    ///   - elements: The values.
    ///   - position: From 0 to `count()`, as the bag is before.
    /// - Returns: How many are new in the bag.
    /// - Throws: `CancellationError`; `TansuError` with `.invalidState` (no model, or in a savepoint), `.invalidArgument` (the model does not have
    ///   the type), `.notFound` (a value is not stored), or what a commit can throw.
    @discardableResult
    public func insert<Element: Codable & Sendable & Identifiable>(_ elements: [Element], at position: Int) async throws
        -> Int where Element.ID: Codable & Hashable & Sendable
    {
        try await insert(elements.map(key), at: position)
    }

    /// Inserts documents at a position; those that the bag has are moved there.
    ///
    /// - Parameters:
    ///   - keys: The collections and ids of the documents.
    ///   - position: From 0 to `count()`, as the bag is before.
    /// - Returns: How many are new in the bag.
    /// - Throws: `TansuError` with `.invalidArgument` (the position), `.notFound` (a document does not exist),
    ///   `.invalidState` (in a savepoint), or what a commit can throw.
    @discardableResult
    public func insert(_ keys: [ObjectKey], at position: Int) throws -> Int {
        try write(keys.map(\.collection).bytewiseSet) { try $0.insert(keys, at: position, of: name) }
    }

    /// Inserts documents at a position; those that the bag has are moved there.
    ///
    /// - Parameters:
    ///   - keys: The collections and ids of the documents.
    ///   - position: From 0 to `count()`, as the bag is before.
    /// - Returns: How many are new in the bag.
    /// - Throws: `CancellationError`; `TansuError` with `.invalidArgument` (the position), `.notFound` (a document does not exist),
    ///   `.invalidState` (in a savepoint), or what a commit can throw.
    @discardableResult
    public func insert(_ keys: [ObjectKey], at position: Int) async throws -> Int {
        try await writeAsync(keys.map(\.collection).bytewiseSet) { [name] in try $0.insert(keys, at: position, of: name)
        }
    }

    /// Takes values of the model out of the bag. They stay stored.
    ///
    /// - Parameter elements: The values.
    /// - Returns: How many the bag had.
    /// - Throws: `TansuError` with `.invalidState` (no model), `.invalidArgument` (the model does not have the type), or what a
    ///   commit can throw.
    @discardableResult
    public func remove<Element: Codable & Sendable & Identifiable>(_ elements: [Element]) throws -> Int
    where Element.ID: Codable & Hashable & Sendable {
        try remove(elements.map(key))
    }

    /// Takes values of the model out of the bag. They stay stored.
    ///
    /// - Parameter elements: The values.
    /// - Returns: How many the bag had.
    /// - Throws: `CancellationError`; `TansuError` with `.invalidState` (no model), `.invalidArgument` (the model does not have the type), or what a
    ///   commit can throw.
    @discardableResult
    public func remove<Element: Codable & Sendable & Identifiable>(_ elements: [Element]) async throws -> Int
    where Element.ID: Codable & Hashable & Sendable {
        try await remove(elements.map(key))
    }

    /// Takes documents out of the bag. They stay stored.
    ///
    /// - Parameter keys: The collections and ids of the documents.
    /// - Returns: How many the bag had.
    /// - Throws: `TansuError` with what a commit can throw.
    @discardableResult
    public func remove(_ keys: [ObjectKey]) throws -> Int {
        try write { try $0.remove(keys, of: name) }
    }

    /// Takes documents out of the bag. They stay stored.
    ///
    /// - Parameter keys: The collections and ids of the documents.
    /// - Returns: How many the bag had.
    /// - Throws: `CancellationError`; `TansuError` with what a commit can throw.
    @discardableResult
    public func remove(_ keys: [ObjectKey]) async throws -> Int {
        try await writeAsync { [name] in try $0.remove(keys, of: name) }
    }

    /// Takes all documents out of the bag. They stay stored, and so does the bag.
    ///
    /// - Returns: How many it had.
    /// - Throws: `TansuError` with what a commit can throw.
    @discardableResult
    public func removeAll() throws -> Int {
        try write { try $0.removeAll(of: name) }
    }

    /// Takes all documents out of the bag. They stay stored, and so does the bag.
    ///
    /// - Returns: How many it had.
    /// - Throws: `CancellationError`; `TansuError` with what a commit can throw.
    @discardableResult
    public func removeAll() async throws -> Int {
        try await writeAsync { [name] in try $0.removeAll(of: name) }
    }

    /// Adds the documents of another bag at the end, in their order.
    ///
    /// - Parameter other: The other bag.
    /// - Returns: How many are new in this one.
    /// - Throws: `TansuError` with what a commit can throw.
    @discardableResult
    public func formUnion(_ other: Bag) throws -> Int {
        try write { try $0.insert($0.keys(of: other.name), at: nil, of: name) }
    }

    /// Adds the documents of another bag at the end, in their order.
    ///
    /// - Parameter other: The other bag.
    /// - Returns: How many are new in this one.
    /// - Throws: `CancellationError`; `TansuError` with what a commit can throw.
    @discardableResult
    public func formUnion(_ other: Bag) async throws -> Int {
        try await writeAsync { [name] in try $0.insert($0.keys(of: other.name), at: nil, of: name) }
    }

    /// Takes out the documents that another bag does not have.
    ///
    /// - Parameter other: The other bag.
    /// - Returns: How many were taken out.
    /// - Throws: `TansuError` with what a commit can throw.
    @discardableResult
    public func formIntersection(_ other: Bag) throws -> Int {
        try write { store in
            let others = Set(try store.keys(of: other.name))
            return try store.remove(store.keys(of: name).filter { !others.contains($0) }, of: name)
        }
    }

    /// Takes out the documents that another bag does not have.
    ///
    /// - Parameter other: The other bag.
    /// - Returns: How many were taken out.
    /// - Throws: `CancellationError`; `TansuError` with what a commit can throw.
    @discardableResult
    public func formIntersection(_ other: Bag) async throws -> Int {
        try await writeAsync { [name] store in
            let others = Set(try store.keys(of: other.name))
            return try store.remove(store.keys(of: name).filter { !others.contains($0) }, of: name)
        }
    }

    /// Takes out the documents that another bag has.
    ///
    /// - Parameter other: The other bag.
    /// - Returns: How many were taken out.
    /// - Throws: `TansuError` with what a commit can throw.
    @discardableResult
    public func subtract(_ other: Bag) throws -> Int {
        try write { try $0.remove($0.keys(of: other.name), of: name) }
    }

    /// Takes out the documents that another bag has.
    ///
    /// - Parameter other: The other bag.
    /// - Returns: How many were taken out.
    /// - Throws: `CancellationError`; `TansuError` with what a commit can throw.
    @discardableResult
    public func subtract(_ other: Bag) async throws -> Int {
        try await writeAsync { [name] in try $0.remove($0.keys(of: other.name), of: name) }
    }

    /// Gives the bag another name, under which it is then found: this value is of a bag that does not exist.
    ///
    /// - Parameter newName: The new name.
    /// - Returns: The bag of that name.
    /// - Throws: `TansuError` with `.notFound`, `.exists` (a bag has the name), `.invalidArgument` (an empty name), or what a
    ///   commit can throw.
    @discardableResult
    public func rename(to newName: String) throws -> Bag {
        let renamed = try Bag(newName, in: session)
        try write { try $0.rename(name, to: newName) }
        return renamed
    }

    /// Gives the bag another name, under which it is then found: this value is of a bag that does not exist.
    ///
    /// - Parameter newName: The new name.
    /// - Returns: The bag of that name.
    /// - Throws: `CancellationError`; `TansuError` with `.notFound`, `.exists` (a bag has the name), `.invalidArgument` (an empty name), or what a
    ///   commit can throw.
    @discardableResult
    public func rename(to newName: String) async throws -> Bag {
        let renamed = try Bag(newName, in: session)
        try await writeAsync { [name] in try $0.rename(name, to: newName) }
        return renamed
    }

    /// Removes the bag. Its documents stay stored.
    ///
    /// - Returns: Whether it existed.
    /// - Throws: `TansuError` with what a commit can throw.
    @discardableResult
    public func remove() throws -> Bool {
        try write { try $0.remove(name) }
    }

    /// Removes the bag. Its documents stay stored.
    ///
    /// - Returns: Whether it existed.
    /// - Throws: `CancellationError`; `TansuError` with what a commit can throw.
    @discardableResult
    public func remove() async throws -> Bool {
        try await writeAsync { [name] in try $0.remove(name) }
    }
}
