import Tansu

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
