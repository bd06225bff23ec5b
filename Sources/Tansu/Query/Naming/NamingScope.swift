import Foundation

/// The names and the values in a query on a collection.
///
/// `@unchecked Sendable`: what changes is under the lock.
final class NamingScope: @unchecked Sendable {
    /// For the dated fields of all scopes: each query has a scope, and few ask for them.
    private static let lock = NSLock()

    let session: Session
    /// How the collection stores values.
    let strategies: BSONCodingStrategies
    private let collection: String
    /// The fields that the engine dates, once they were asked for.
    private var dated: Set<BytewiseText>?

    init(_ session: Session, _ collection: String, _ strategies: BSONCodingStrategies) {
        self.session = session
        self.collection = collection
        self.strategies = strategies
    }

    /// The names of another collection, in the same query.
    ///
    /// - Parameter strategies: How it stores values; as the model says, without them.
    func scope(of collection: String, _ strategies: BSONCodingStrategies? = nil) -> NamingScope {
        let strategies = strategies ?? ReferenceTargets.of(session.database).coding(of: collection)
        return NamingScope(session, collection, strategies ?? BSONCodingStrategies())
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
        try path(of: keyPath, in: place) { try StoredFieldNames.shared.keys(of: keyPath, isTop: $0) }
    }

    /// The path of the raw value of the value at a path.
    func rawValuePath<Root: RawRepresentable>(of type: Root.Type, in place: FieldPath) throws -> FieldPath {
        try path(of: \Root.rawValue, in: place) { try StoredFieldNames.shared.rawValueKeys(of: type, isTop: $0) }
    }

    private func path(
        of keyPath: AnyKeyPath, in place: FieldPath, _ find: (Bool) throws -> [String]
    ) throws -> FieldPath {
        do {
            return place.appending(try find(place.isDocument))
        } catch let failure as NamingFailure {
            throw failure.error(keyPath, isTop: place.isDocument)
        }
    }
}
