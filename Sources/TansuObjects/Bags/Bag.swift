import Tansu

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
