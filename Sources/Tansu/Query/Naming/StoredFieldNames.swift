import Foundation

/// Finds where in a document the property of a key path is stored, and caches it for the type and the key path.
///
/// In this order: what the type itself names (``StoredFieldNaming``); the coding key of the stored property that the key
/// path names; the field that equals the property in the type's own sample (``QuerySampleProviding``); the only field that
/// equals it in documents of the collection. When none of them is certain, it is an error.
///
/// No value is made up: code of the type gets its own sample and values of stored documents, and nothing else.
///
/// `@unchecked Sendable`: the cache is accessed under the lock only, and has key paths to stored properties, which hold
/// no values.
final class StoredFieldNames: @unchecked Sendable {
    static let shared = StoredFieldNames()

    private struct Key: Hashable {
        let keyPath: AnyKeyPath
        let isTop: Bool
    }

    private let lock = NSLock()
    private var known: [Key: StoredName] = [:]

    /// Where a property is stored.
    ///
    /// - Parameters:
    ///   - isTop: Whether the root is a whole document, in which a property `id` is stored as `_id`.
    ///   - documents: Stored values of the root, for a name that is not known otherwise.
    /// - Throws: ``NamingFailure``.
    func name<Root, Value>(
        of keyPath: KeyPath<Root, Value>, isTop: Bool, documents: () -> [BSONValue]
    ) throws -> StoredName {
        try cached(keyPath, isTop) {
            if let name = try Self.declaredName(of: keyPath, isTop) { return StoredName([name], isSettled: true) }
            guard let stored = Root.self as? any Codable.Type else { throw NamingFailure.notCodable }
            guard let read = Value.self as? any Encodable.Type else {
                // A property that is not stored at all says so.
                _ = try Self.structuralKeys(of: keyPath, isTop)
                throw NamingFailure.notEncodable(Value.self)
            }
            return try Self.find(keyPath, stored, read, isTop, documents)
        }
    }

    /// Where the raw value of a type is stored: it is what the type is stored as, unless that has fields.
    ///
    /// - Throws: ``NamingFailure``.
    func rawValueName<Root: RawRepresentable>(of type: Root.Type, isTop: Bool) throws -> StoredName {
        let keyPath = \Root.rawValue
        return try cached(keyPath, isTop) {
            guard let stored = Root.self as? any Codable.Type else { throw NamingFailure.notCodable }
            guard let read = Root.RawValue.self as? any Encodable.Type else {
                throw NamingFailure.notEncodable(Root.RawValue.self)
            }
            let keys = try Self.key(of: "rawValue", declaredIn: type, StoredForm.of(stored), isTop)
            return Self.open(keyPath, stored, read, keys, isTop)
        }
    }

    private func cached(_ keyPath: AnyKeyPath, _ isTop: Bool, _ find: () throws -> StoredName) throws -> StoredName {
        let key = Key(keyPath: keyPath, isTop: isTop)
        if let name = lock.withLock({ known[key] }) { return name }
        let name = try find()
        return lock.withLock {
            // Another thread may have been first; one name counts the evidence.
            if let first = known[key] { return first }
            known[key] = name
            return name
        }
    }

    private static func find<Root, Value, Stored: Codable, Read: Encodable>(
        _ keyPath: KeyPath<Root, Value>, _ stored: Stored.Type, _ read: Read.Type, _ isTop: Bool,
        _ documents: () -> [BSONValue]
    ) throws -> StoredName {
        let sample = ((Root.self as? any QuerySampleProviding.Type)?.querySample as Any?) as? Stored
        do {
            let name = open(keyPath, stored, read, try structuralKeys(of: keyPath, isTop), isTop)
            if let sample {
                let evidence = PropertyReader(keyPath, stored, read, isTop).evidence(sample, name.keys)
                if evidence == .disagrees { throw NamingFailure.otherForm(name.keys) }
                if evidence == .agrees { return StoredName(name.keys, isSettled: true) }
            }
            return name
        } catch let failure as NamingFailure {
            guard failure.maySearch(keyPath) else { throw failure }
            let reader = PropertyReader(keyPath, stored, read, isTop)
            if let sample {
                if let keys = reader.search([sample]).result(values: 1) { return StoredName(keys, isSettled: true) }
            } else if failure.mayLearn(keyPath) {
                // One value may be equal by chance.
                let values = documents().compactMap { reader.decode($0) }
                if let keys = reader.search(values).result(values: 2) { return StoredName(keys, isSettled: true) }
            }
            throw failure
        }
    }

    private static func open<Root, Value, Stored: Codable, Read: Encodable>(
        _ keyPath: KeyPath<Root, Value>, _ stored: Stored.Type, _ read: Read.Type, _ keys: [String], _ isTop: Bool
    ) -> StoredName {
        let reader = PropertyReader(keyPath, stored, read, isTop)
        return StoredName(keys, isSettled: false) { value in
            reader.decode(value).map { reader.evidence($0, keys) } ?? .none
        }
    }
}

extension NamingFailure {
    /// Whether real values can show the name: the property is stored, or it can be set, so that it is no mere result of
    /// others.
    fileprivate func maySearch<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> Bool {
        switch self {
        case .computed, .unreadable: keyPath is WritableKeyPath<Root, Value>
        case .noKey, .foreignKeys, .ambiguous: true
        default: false
        }
    }

    /// Whether documents can show it: a struct's property that can be set may be an alias that differs at times; in a
    /// class, every property looks like that.
    fileprivate func mayLearn<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> Bool {
        if case .computed = self { return Root.self is AnyObject.Type }
        return true
    }
}

/// Reads a property of real values, and where they store it.
private struct PropertyReader<Root, Value, Stored: Codable, Read: Encodable> {
    let keyPath: KeyPath<Root, Value>
    let isTop: Bool

    init(_ keyPath: KeyPath<Root, Value>, _ stored: Stored.Type, _ read: Read.Type, _ isTop: Bool) {
        self.keyPath = keyPath
        self.isTop = isTop
    }

    /// A stored value; `nil` when it cannot be decoded.
    func decode(_ value: BSONValue) -> Stored? {
        guard isTop else { return try? BSONDecoder().decodeValue(Stored.self, from: value) }
        return value.documentValue.flatMap { try? BSONDecoder().decode(Stored.self, from: $0) }
    }

    /// The value as it is stored, and the property in it.
    private func encode(_ value: Stored) -> (BSONValue, BSONValue)? {
        guard let root = value as? Root, let property = root[keyPath: keyPath] as? Read else { return nil }
        let encoder = QueryCoding.encoder
        let whole = isTop ? (try? encoder.encode(value)).map(BSONValue.document) : try? encoder.encodeValue(value)
        guard let whole, let property = try? encoder.encodeValue(property) else { return nil }
        return (whole, property)
    }

    func evidence(_ value: Stored, _ keys: [String]) -> NameEvidence {
        encode(value).map { NameEvidence($1, $0.value(atKeys: keys)) } ?? .none
    }

    func search(_ values: [Stored]) -> NameSearch {
        values.reduce(into: NameSearch()) { search, value in
            guard let (whole, property) = encode(value), let document = whole.documentValue else { return }
            search.narrow(by: document, holding: property)
        }
    }
}
