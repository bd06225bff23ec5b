import Foundation

/// How a type is stored, as far as its `init(from:)` shows it before it gets any value: in fields with coding keys, as
/// one value, or as an array.
enum StoredForm: Sendable {
    /// In fields, one for each key.
    case fields(StoredKeys)
    /// As one value, such as the raw value of an enum.
    case value
    /// As an array.
    case elements
    /// It asked for no container.
    case unknown(reason: String)

    /// The form of a type; its `init(from:)` is entered once, up to the first container that it cannot do without.
    static func of(_ type: any Decodable.Type) -> StoredForm {
        let id = ObjectIdentifier(type)
        if let form = known.withLock({ $0[id] }) { return form }
        let form = probe(type)
        known.withLock { $0[id] = form }
        return form
    }

    /// Whether values of an `Identifiable` type certainly have no key for an `_id`.
    static func lacksID(_ type: any Any.Type) -> Bool {
        let id = ObjectIdentifier(type)
        if let lacks = lackingID.withLock({ $0[id] }) { return lacks }
        let lacks = findsNoID(type)
        lackingID.withLock { $0[id] = lacks }
        return lacks
    }

    private static let lackingID = Locked<[ObjectIdentifier: Bool]>([:])

    private static func findsNoID(_ type: any Any.Type) -> Bool {
        guard type is any Identifiable.Type else { return false }
        guard case .fields(let keys)? = ofAny(type), let texts = keys.texts, keys.mayBelong(to: type) else {
            return false
        }
        guard !texts.values.contains(where: { keys.stored($0, isTop: true).utf8.elementsEqual("_id".utf8) }) else {
            return false
        }
        // A property without a key may be stored beside the keys: by a superclass, flattened as a part of the document, or with
        // other keys.
        if let superclass = (type as? AnyClass).flatMap({ _getSuperclass($0) }), superclass is any Encodable.Type {
            return false
        }
        let properties = RuntimeReflection.properties(of: type)
        return !properties.isEmpty
            && properties.allSatisfy { property in
                if texts[property.name] ?? texts[unwrappedName(property.name)] != nil { return true }
                return keys.areSynthesized && !isStoredInFields(property.type)
            }
    }

    /// The name of a wrapped property, which is stored with an underscore before it.
    static func unwrappedName(_ name: String) -> String {
        name.utf8.first == UInt8(ascii: "_") ? String(name.dropFirst()) : name
    }

    private static func isStoredInFields(_ type: any Any.Type) -> Bool {
        if case .fields? = ofAny((type as? any OptionalValue.Type)?.wrappedType ?? type) { return true }
        return false
    }

    /// Whether values are stored as arrays though they are none in Swift, such as a `Duration` and a `Range`.
    static func isTakenApart(_ type: any Any.Type) -> Bool {
        guard !(type is any QueryArray.Type), case .elements? = ofAny(type) else { return false }
        return true
    }

    private static let known = Locked<[ObjectIdentifier: StoredForm]>([:])

    private static func probe<Value: Decodable>(_ type: Value.Type) -> StoredForm {
        let seen = SeenContainers(of: type)
        do {
            _ = try Value(from: ContainerProbe(seen: seen))
            return seen.form ?? .unknown(reason: "its init(from:) reads nothing")
        } catch {
            return seen.form ?? .unknown(reason: "its init(from:) throws: \(failureReason(of: error))")
        }
    }
}

/// The keys of a type that is stored in fields.
struct StoredKeys: Sendable {
    /// The type of the keys.
    let type: any Any.Type
    /// The text of each key by the name of its case; `nil` for keys that are not an enum.
    let texts: [String: String]?
    /// Whether `_id` is a key of its own, so that `id` is stored under that name.
    let hasOwnID: Bool
    /// The text of the key of a case.
    private let find: @Sendable (String) -> String?

    init<Key: CodingKey>(_ type: Key.Type) {
        self.type = type
        texts = RuntimeReflection.keys(of: type)?.mapValues(\.stringValue)
        hasOwnID = Key(stringValue: "_id") != nil
        find = { RuntimeReflection.key($0, of: type)?.stringValue }
    }

    /// The text of the key for a property; `nil` when there is none.
    func text(for property: String) -> String? {
        texts == nil ? find(property) : texts?[property]
    }

    /// The key as it is stored: in a whole document, `id` is `_id`.
    func stored(_ text: String, isTop: Bool) -> String {
        isTop && text == "id" && !hasOwnID ? "_id" : text
    }

    /// Whether the compiler's own `encode(to:)` would use them, by their name.
    var areSynthesized: Bool { "\(type)" == "CodingKeys" }

    /// Whether they can be the keys of the properties that a type declares: they are declared in that type itself,
    /// or in no type. A type may ask for the keys of another type first, to decode a value of that.
    func mayBelong(to declaringType: any Any.Type) -> Bool {
        let (own, other) = (Self.path(of: type), Self.path(of: declaringType))
        if own.hasPrefix(other + ".") { return !own.dropFirst(other.count + 1).contains(".") }
        return own.filter { $0 == "." }.count == 1
    }

    /// The qualified name of a type, without the unnamed contexts of private and local types.
    private static func path(of type: any Any.Type) -> String {
        String(reflecting: type).replacingOccurrences(
            of: #"\(unknown context at \$[0-9a-f]+\)\."#, with: "", options: .regularExpression)
    }
}

/// The containers that a type asked for.
private final class SeenContainers: Sendable {
    private let type: any Any.Type
    private let found = Locked<StoredForm?>(nil)

    init(of type: any Any.Type) {
        self.type = type
    }

    /// The first one; of several with keys, which may be those of an older layout or of another type, the one whose keys are
    /// the type's own `CodingKeys`, which the compiler's `encode(to:)` uses. Keys of its own after another container mean that
    /// this one is of an older layout, without which the type can do.
    var form: StoredForm? { found.withLock { $0 } }

    func note(_ form: @autoclosure () -> StoredForm) {
        let form = form()
        found.withLock { first in
            switch (first, form) {
            case (nil, _): first = form
            case (.fields(let old)?, .fields(let new)) where rank(of: new) > rank(of: old): first = form
            case (.value?, .fields(let new)), (.elements?, .fields(let new)): if rank(of: new) > 0 { first = form }
            default: break
            }
        }
    }

    private func rank(of keys: StoredKeys) -> Int {
        guard keys.mayBelong(to: type) else { return 0 }
        return keys.areSynthesized ? 2 : 1
    }
}

/// A decoder without values: it notes which containers are asked for, and throws for each. So the code of a type that is being
/// decoded never gets a value that nobody stored.
private struct ContainerProbe: Decoder {
    let seen: SeenContainers

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        seen.note(.fields(StoredKeys(type)))
        throw NoValue()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        seen.note(.elements)
        throw NoValue()
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        seen.note(.value)
        throw NoValue()
    }
}

/// What the probe throws.
private struct NoValue: Error, CustomStringConvertible {
    var description: String { "a query by key path asks for the names of the fields; there is no value to decode" }
}
