import Foundation

/// The names in one query: it finds them, and compares those that no real value has confirmed yet with documents of the
/// collection. After that a query reads no documents to be made.
///
/// `@unchecked Sendable`: what changes is under the lock.
final class NamingScope: @unchecked Sendable {
    /// How many documents a name is compared with, and how many an unknown one is looked for in.
    private static let fewDocuments = 4
    private static let manyDocuments = 32

    private struct Unsettled {
        let name: StoredName
        let place: FieldPath
        let keyPath: AnyKeyPath
    }

    /// For the names of all scopes: few queries have one that is not settled, and each query has a scope.
    private static let lock = NSLock()

    let session: Session
    /// How the collection stores values.
    let strategies: BSONCodingStrategies
    private let collection: String
    private var unsettled: [Unsettled] = []
    private var sawDocuments = false
    /// The scopes of the collections that the query reaches by references.
    private var others: [NamingScope] = []
    /// The fields that the engine dates, once they were asked for.
    private var dated: Set<BytewiseText>?

    /// A scope with the documents of a collection.
    init(_ session: Session, _ collection: String, _ strategies: BSONCodingStrategies) {
        self.session = session
        self.collection = collection
        self.strategies = strategies
    }

    private func documents(_ filter: BSONDocument, _ count: Int, in session: Session) -> [BSONDocument] {
        // A query that cannot be run fails when it is; and none of this may take long.
        let hints: BSONDocument = ["$max": BSONValue(count), "$maxTimeMS": 20]
        var found: [BSONDocument] = []
        try? session.engine.forEach(filter, hints: hints, in: collection) { found.append($0) }
        return found
    }

    /// The names of another collection, in the same query.
    ///
    /// - Parameter strategies: How it stores values; as the model says, without them.
    func scope(of collection: String, _ strategies: BSONCodingStrategies? = nil) -> NamingScope {
        let strategies = strategies ?? ReferenceTargets.of(session.database).coding(of: collection)
        let scope = NamingScope(session, collection, strategies ?? BSONCodingStrategies())
        Self.lock.withLock { others.append(scope) }
        return scope
    }

    /// Whether collections that the query may reach have strategies of their own.
    var hasOtherCodings: Bool { ReferenceTargets.of(session.database).hasCodings }

    /// The collection to which the references at a path of keys are; `nil` when there are none.
    func target(at keys: [String]) -> String? {
        (try? FieldPath(keys: keys).dotted()).flatMap {
            ReferenceTargets.of(session.database).target(of: collection, $0)
        }
    }

    /// Whether a field is one of the ``Database/Timestamps``, which are BSON's dates whatever the strategies.
    func storesDate(at path: FieldPath) -> Bool {
        if case .bsonDate = strategies.date { return false }
        guard path.outer.isEmpty, path.keys.count == 1 else { return false }
        return datedFields.contains(BytewiseText(path.keys[0]))
    }

    private var datedFields: Set<BytewiseText> {
        if let known = Self.lock.withLock({ dated }) { return known }
        var fields: Set<BytewiseText> = []
        if let timestamps = try? session.collectionInfo(collection)?.timestamps {
            for field in [timestamps.created, timestamps.updated] {
                if let field { fields.insert(BytewiseText(field)) }
            }
        }
        Self.lock.withLock { dated = fields }
        return fields
    }

    /// Runs a closure that makes a condition on the documents of the collection.
    func coding<Result>(_ body: () throws -> Result) rethrows -> Result {
        if QueryCoding.place.names === self { return try body() }
        let isPlain = strategies.isStandard && QueryCoding.strategies.isStandard && !hasOtherCodings
        return isPlain ? try body() : try QueryCoding.$place.withValue(.init(strategies, self), operation: body)
    }

    /// The collection of the documents to which the references at a path refer.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func referencedCollection(at place: FieldPath) throws -> String {
        let path = try FieldPath(keys: place.outer.reduce([], +) + place.keys).dotted()
        if let target = ReferenceTargets.of(session.database).target(of: collection, path) { return target }
        throw TansuError(
            .invalidQuery,
            "The collection \"\(collection)\" has no reference \"\(path)\", so that the documents that it refers to are"
                + " not known; declare it in a model, and use that", context: path)
    }

    /// The path of a property in the value at a path.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func path<Root, Value>(of keyPath: KeyPath<Root, Value>, in place: FieldPath) throws -> FieldPath {
        try path(of: keyPath, in: place) { try StoredFieldNames.shared.name(of: keyPath, isTop: $0, documents: $1) }
    }

    /// The path of the raw value of the value at a path.
    func rawValuePath<Root: RawRepresentable>(of type: Root.Type, in place: FieldPath) throws -> FieldPath {
        try path(of: \Root.rawValue, in: place) { isTop, _ in
            try StoredFieldNames.shared.rawValueName(of: type, isTop: isTop)
        }
    }

    private func path(
        of keyPath: AnyKeyPath, in place: FieldPath, _ find: (Bool, () -> [BSONValue]) throws -> StoredName
    ) throws -> FieldPath {
        do {
            let name = try find(place.isDocument) {
                documents([:], Self.manyDocuments, in: session).flatMap { place.values(in: $0) }
            }
            if !name.isSettled {
                Self.lock.withLock { unsettled.append(Unsettled(name: name, place: place, keyPath: keyPath)) }
            }
            return place.appending(name.keys)
        } catch let failure as NamingFailure {
            throw failure.error(keyPath)
        }
    }

    /// Compares the names that need it with documents that match, which the query would decode anyway; or, when there
    /// are none, with others.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: a property is stored in another form.
    func verify(_ filter: BSONDocument) throws { try verify(filter, in: session) }

    /// The same in another session.
    func verify(_ filter: BSONDocument, in session: Session) throws {
        let (names, others, saw) = Self.lock.withLock { (self.unsettled, self.others, sawDocuments) }
        for scope in others { try scope.verify([:], in: session) }
        guard !saw, names.contains(where: { !$0.name.isSettled }) else { return }
        var found = documents(filter, Self.fewDocuments, in: session)
        if found.isEmpty && !filter.isEmpty { found = documents([:], Self.fewDocuments, in: session) }
        for unsettled in names where !unsettled.name.isSettled {
            do {
                try unsettled.name.check(found.flatMap { unsettled.place.values(in: $0) })
            } catch let failure as NamingFailure {
                throw failure.error(unsettled.keyPath)
            }
        }
        if !found.isEmpty { Self.lock.withLock { sawDocuments = true } }
    }
}

extension NamingScope {
    /// Whether names were compared with documents, or need not be: a query that is kept looks again until there are some.
    var isSettled: Bool {
        let (names, others, saw) = Self.lock.withLock { (self.unsettled, self.others, sawDocuments) }
        return (saw || names.allSatisfy(\.name.isSettled)) && others.allSatisfy(\.isSettled)
    }
}

extension FieldPath {
    /// How many elements of an array stand for all.
    private static let fewElements = 4

    /// The values at the path in a document; of arrays on the way, the first elements.
    fileprivate func values(in document: BSONDocument) -> [BSONValue] {
        let elements = outer.reduce([BSONValue.document(document)]) { values, keys in
            values.flatMap { $0.value(atKeys: keys)?.arrayValue.map { Array($0.prefix(Self.fewElements)) } ?? [] }
        }
        return elements.compactMap { $0.value(atKeys: keys) }
    }
}
