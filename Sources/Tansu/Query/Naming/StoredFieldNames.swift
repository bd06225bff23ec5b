import Foundation

/// A type that declares the stored names of its properties, for queries by key path.
///
/// Most types need not conform: a stored property is found by its coding key. Name a property that is computed, wrapped
/// or observed, that has another name than its coding key's case, or that is stored in another form than its own:
///
/// ```swift
/// extension Reading: StoredFieldNaming {
///     static var storedFieldNames: [PartialKeyPath<Reading>: String] { [\.celsius: "t", \.station: "s"] }
/// }
/// ```
///
/// Properties that are not in the list are found as for any other type. A name in the list is believed: no stored value is
/// compared with it.
///
/// Generic code reads a property through a protocol, and cannot see where the type stores it. Let the protocol name it:
///
/// ```swift
/// protocol SoftDeletable: StoredFieldNaming { var deletedAt: Date? { get } }
/// extension SoftDeletable {
///     static var storedFieldNames: [PartialKeyPath<Self>: String] { [\.deletedAt: "deletedAt"] }
/// }
/// ```
public protocol StoredFieldNaming: AnyIsolation {
    /// The key in the document for each property that is queried. It is not a path: a dot is part of the key.
    /// A property `id` of a document is stored as `_id`.
    static var storedFieldNames: [PartialKeyPath<Self>: String] { get }
}

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

// MARK: - Structure

// Names that follow from the types alone.
extension StoredFieldNames {
    /// The name that the root's own type lists.
    ///
    /// - Throws: ``NamingFailure/impossibleName``, ``NamingFailure/subscripted``.
    static func declaredName<Root, Value>(of keyPath: KeyPath<Root, Value>, _ isTop: Bool) throws -> String? {
        guard let type = Root.self as? any StoredFieldNaming.Type, let name = type.storedName(of: keyPath) else {
            return nil
        }
        // The name is that of a field of the document, and this is in one.
        if case .computed(let owner) = KeyPathShape(keyPath), isSubscripted(owner) {
            throw NamingFailure.subscripted
        }
        return try possible(name, in: Root.self, isTop)
    }

    /// Throws for the name `id` in a document where that is stored as `_id`.
    private static func possible(_ name: String, in type: any Any.Type, _ isTop: Bool) throws -> String {
        if isTop, name == "id", case .fields(let keys) = StoredForm.ofAny(type), !keys.hasOwnID {
            throw NamingFailure.impossibleName
        }
        return name
    }

    /// The keys of the stored properties that a key path leads through.
    ///
    /// - Throws: ``NamingFailure``.
    static func structuralKeys<Root, Value>(of keyPath: KeyPath<Root, Value>, _ isTop: Bool) throws -> [String] {
        switch KeyPathShape(keyPath) {
        case .stored(let steps):
            return try steps.enumerated().flatMap { try key(of: $1, isTop: isTop && $0 == 0) }
        case .computed(let owner):
            if let key = try identifier(of: keyPath, isTop) { return key }
            throw isSubscripted(owner) ? NamingFailure.subscripted : .computed(owner: owner)
        case .identity: throw NamingFailure.identity
        case .ambiguous: throw NamingFailure.ambiguous
        case .unreadable: throw NamingFailure.unreadable
        }
    }

    /// Whether what is computed in a type is the value of a key.
    private static func isSubscripted(_ owner: any Any.Type) -> Bool { owner is any QueryDictionary.Type }

    /// The last optional property that a key path leads through, as in `\.home?.city`; `nil` when there is none.
    static func optional<Root, Value>(on keyPath: KeyPath<Root, Value>) -> OptionalPart? {
        // A path with an offset leads through no optional.
        guard MemoryLayout<Root>.offset(of: keyPath) == nil, case .stored(let steps) = KeyPathShape(keyPath),
            let last = steps.dropLast().lastIndex(where: { $0.property.type is any OptionalValue.Type }),
            let keys = try? steps[...last].enumerated().flatMap({ try key(of: $1, isTop: $0 == 0) })
        else { return nil }
        return OptionalPart(keys: keys, canBeNil: steps.last?.property.type is any OptionalValue.Type)
    }

    /// An optional property of a document, and a property in it.
    struct OptionalPart {
        /// The keys of the optional property.
        let keys: [String]
        /// Whether the property in it is optional itself.
        let canBeNil: Bool
    }

    private static func key(of step: KeyPathShape.Step, isTop: Bool) throws -> [String] {
        if let naming = step.owner as? any StoredFieldNaming.Type, let name = naming.storedName(of: step) {
            return [try possible(name, in: step.owner, isTop)]
        }
        guard let form = StoredForm.ofAny(step.owner) else { throw NamingFailure.notCodable }
        return try key(of: step.property.name, in: step.owner, declaredIn: step.property.declaringType, form, isTop)
    }

    /// The key of a property; none where the type is stored as its raw value, and the property is that.
    static func key(
        of name: String, in owner: (any Any.Type)? = nil, declaredIn type: any Any.Type, _ form: StoredForm,
        _ isTop: Bool
    ) throws -> [String] {
        let owner = owner ?? type
        switch form {
        case .value where name == "rawValue" && owner is any RawRepresentable.Type: return []
        case .fields(let keys):
            guard keys.mayBelong(to: type) else { throw NamingFailure.foreignKeys(owner: owner) }
            if let text = keys.text(for: name) { return [keys.stored(text, isTop: isTop)] }
            throw keys.texts == nil
                ? NamingFailure.foreignKeys(owner: owner) : NamingFailure.noKey(property: name, owner: owner)
        default: throw NamingFailure.noFields(owner: owner, form)
        }
    }

    /// The key of `id`, when the key path is the one of `Identifiable`, as in generic code, and the type stores an `id`.
    private static func identifier(of keyPath: AnyKeyPath, _ isTop: Bool) throws -> [String]? {
        func identifier<Root: Identifiable>(of type: Root.Type) -> AnyKeyPath { \Root.id }
        let root = type(of: keyPath).rootType
        guard let identifiable = root as? any Identifiable.Type, identifier(of: identifiable) == keyPath else {
            return nil
        }
        let properties = RuntimeReflection.properties(of: root).filter { $0.name == "id" }
        guard properties.count == 1, properties[0].type == type(of: keyPath).valueType else { return nil }
        return try key(of: KeyPathShape.Step(owner: root, property: properties[0]), isTop: isTop)
    }
}

extension StoredFieldNames {
    /// The keys of a document that a type reads when it is decoded; `nil` when it may read others as well.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    static func keysRead<Value: Codable>(by type: Value.Type) throws -> Set<String>? {
        let form = StoredForm.of(type)
        guard case .fields(let keys) = form else {
            guard case .unknown(let reason) = form else { throw projectionError(type, "it is not stored in fields") }
            throw projectionError(type, reason)
        }
        guard let texts = keys.texts else { throw projectionError(type, "its coding keys are not an enum") }
        for property in RuntimeReflection.properties(of: type) {
            guard texts[property.name] ?? texts[StoredForm.unwrappedName(property.name)] != nil,
                keys.mayBelong(to: property.declaringType)
            else {
                return nil
            }
        }
        guard !texts.isEmpty else { return nil }
        return Set(texts.values.map { keys.stored($0, isTop: true) })
    }

    private static func projectionError(_ type: any Any.Type, _ reason: String) -> TansuError {
        TansuError(
            .invalidQuery,
            "The fields that type \"\(type)\" reads are not known: \(reason); name them with fields(_:) and use"
                + " decoded(as:)",
            context: "\(type)")
    }
}

extension StoredFieldNaming {
    /// The name for a key path of any root; `nil` when the list has none.
    fileprivate static func storedName(of keyPath: AnyKeyPath) -> String? {
        (keyPath as? PartialKeyPath<Self>).flatMap { storedFieldNames[$0] }
    }

    /// The name for a stored property on the way to another; `nil` when the list has none.
    fileprivate static func storedName(of step: KeyPathShape.Step) -> String? {
        storedFieldNames.first { keyPath, _ in
            guard case .stored(let steps) = KeyPathShape(keyPath), steps.count == 1 else { return false }
            return steps[0].property.name == step.property.name
        }?.value
    }
}
