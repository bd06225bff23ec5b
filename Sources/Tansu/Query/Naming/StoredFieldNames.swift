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
/// Properties that are not in the list are found as for any other type.
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
/// path names; the field that equals the property in the type's own sample (``QuerySampleProviding``). When none of them is
/// certain, it is an error. No document is read, so that a query means the same whatever is stored.
///
/// No value is made up: code of the type gets its own sample and nothing else.
///
/// `@unchecked Sendable`: the cache is accessed under the lock only, and has key paths to stored properties, which hold
/// no values.
final class StoredFieldNames: @unchecked Sendable {
    static let shared = StoredFieldNames()

    private struct Place: Hashable {
        let keyPath: AnyKeyPath
        let isTop: Bool
    }

    private let lock = NSLock()
    private var known: [Place: [String]] = [:]

    /// The keys under which a property is stored, the outermost first; none for the value itself.
    ///
    /// - Parameter isTop: Whether the root is a whole document, in which a property `id` is stored as `_id`.
    /// - Throws: ``NamingFailure``.
    func keys<Root, Value>(of keyPath: KeyPath<Root, Value>, isTop: Bool) throws -> [String] {
        try cached(keyPath, isTop) {
            if let name = try Self.declaredName(of: keyPath, isTop) { return [name] }
            guard let stored = Root.self as? any Codable.Type else { throw NamingFailure.notCodable }
            guard let read = Value.self as? any Encodable.Type else {
                // A property that is not stored at all says so.
                _ = try Self.structuralKeys(of: keyPath, isTop)
                throw NamingFailure.notEncodable(Value.self)
            }
            return try Self.find(keyPath, stored, read, isTop)
        }
    }

    /// The keys of the raw value of a type: it is what the type is stored as, unless that has fields.
    ///
    /// - Throws: ``NamingFailure``.
    func rawValueKeys<Root: RawRepresentable>(of type: Root.Type, isTop: Bool) throws -> [String] {
        try cached(\Root.rawValue, isTop) {
            guard let stored = Root.self as? any Codable.Type else { throw NamingFailure.notCodable }
            guard Root.RawValue.self is any Encodable.Type else { throw NamingFailure.notEncodable(Root.RawValue.self) }
            return try Self.key(of: "rawValue", declaredIn: type, StoredForm.of(stored), isTop)
        }
    }

    private func cached(_ keyPath: AnyKeyPath, _ isTop: Bool, _ find: () throws -> [String]) throws -> [String] {
        let place = Place(keyPath: keyPath, isTop: isTop)
        if let keys = lock.withLock({ known[place] }) { return keys }
        let keys = try find()
        lock.withLock { known[place] = keys }
        return keys
    }

    private static func find<Root, Value, Stored: Codable, Read: Encodable>(
        _ keyPath: KeyPath<Root, Value>, _ stored: Stored.Type, _ read: Read.Type, _ isTop: Bool
    ) throws -> [String] {
        let sample = SampledProperty(keyPath, stored, read, isTop)
        do {
            let keys = try structuralKeys(of: keyPath, isTop)
            if sample?.contradicts(keys) ?? false { throw NamingFailure.otherForm(keys) }
            return keys
        } catch let failure as NamingFailure {
            guard failure.mayBeSampled(keyPath), let keys = sample?.keys else { throw failure }
            return keys
        }
    }
}

extension NamingFailure {
    /// Whether a sample can show the name: the property is stored, or it can be set, so that it is no mere result of
    /// others.
    fileprivate func mayBeSampled<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> Bool {
        switch self {
        case .computed, .unreadable: keyPath is WritableKeyPath<Root, Value>
        case .noKey, .foreignKeys, .ambiguous: true
        default: false
        }
    }
}

/// A property of the sample of a type, and the sample as it is stored.
private struct SampledProperty {
    private static let deepest = 16

    private let document: BSONDocument
    private let property: BSONValue

    /// `nil` when the type has no sample, or one that is not stored in fields.
    init?<Root, Value, Stored: Codable, Read: Encodable>(
        _ keyPath: KeyPath<Root, Value>, _ stored: Stored.Type, _ read: Read.Type, _ isTop: Bool
    ) {
        guard let sample = (Root.self as? any QuerySampleProviding.Type)?.querySample as Any? as? Stored,
            let root = sample as? Root, let read = root[keyPath: keyPath] as? Read,
            let property = try? QueryCoding.encoder.encodeValue(read)
        else { return nil }
        let encoder = QueryCoding.encoder
        let document = isTop ? try? encoder.encode(sample) : try? encoder.encodeValue(sample).documentValue
        guard let document else { return nil }
        (self.document, self.property) = (document, property)
    }

    /// Whether the field that the keys lead to holds something else.
    ///
    /// The order of elements and fields may differ, because a Set has none; so of arrays and documents only the kind is
    /// compared.
    func contradicts(_ keys: [String]) -> Bool {
        let field = keys.reduce(BSONValue.document(document) as BSONValue?) { $0?.documentValue?[$1] }
        switch (property, field) {
        case (.double(let number), _) where number.isNaN: return false
        case (_, nil), (_, .null), (.array, .array), (.document, .document): return false
        case (_, let field?): return property != field
        }
    }

    /// The keys of the only field that equals the property; `nil` when there are none or several.
    var keys: [String]? {
        guard !property.isNull else { return nil }
        var found: [[String]] = []
        collect(document, below: [], into: &found)
        return found.count == 1 ? found[0] : nil
    }

    private func collect(_ document: BSONDocument, below path: [String], into found: inout [[String]]) {
        for (key, value) in document {
            if value == property { found.append(path + [key]) }
            if let inner = value.documentValue, path.count < Self.deepest {
                collect(inner, below: path + [key], into: &found)
            }
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
            guard keys.mayBelong(to: type) else { throw NamingFailure.foreignKeys(property: name, owner: owner) }
            if let text = keys.text(for: name) { return [keys.stored(text, isTop: isTop)] }
            throw keys.texts == nil
                ? NamingFailure.foreignKeys(property: name, owner: owner)
                : NamingFailure.noKey(property: name, owner: owner)
        default: throw NamingFailure.noFields(property: name, owner: owner, form)
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
