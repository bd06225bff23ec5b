/// Why the stored name of a property is not known, and what to do about it.
enum NamingFailure: Error {
    case notCodable
    case notEncodable(any Any.Type)
    /// It has no storage of its own in a type.
    case computed(owner: any Any.Type)
    case identity
    case ambiguous
    case unreadable
    /// The type's coding keys have no case for it.
    case noKey(property: String, owner: any Any.Type)
    /// The keys of the type are no enum, or are those of another type.
    case foreignKeys(property: String, owner: any Any.Type)
    /// The type that has the property is not stored in fields.
    case noFields(property: String, owner: any Any.Type, StoredForm)
    /// In the sample, what is stored is not what the property is.
    case otherForm([String])
    /// A listed name that no field has.
    case impossibleName
    /// It leads to the value of a key in a dictionary, and does not say which.
    case subscripted

    /// The error for a key path.
    ///
    /// - Parameter isTop: Whether the root is a whole document.
    func error(_ keyPath: AnyKeyPath, isTop: Bool) -> TansuError {
        TansuError(
            .invalidQuery,
            "The stored name of a property is not known: \(reason(Swift.type(of: keyPath).rootType, keyPath)); "
                + remedy(keyPath, isTop),
            context: keyPath.shown)
    }

    private func reason(_ root: any Any.Type, _ keyPath: AnyKeyPath) -> String {
        switch self {
        case .notCodable: "\"\(root)\" is not Codable, or on its actor only"
        case .notEncodable(let type): "its type \"\(type)\" is not Encodable"
        case .computed(let owner): Self.computedReason(owner, keyPath)
        case .identity: "no field of the document holds the whole value"
        case .ambiguous: "several stored properties of size 0 fit"
        case .unreadable: "the program has no metadata for it"
        case .noKey(let property, let owner): "no coding key of \"\(owner)\" has a case \"\(property)\""
        case .foreignKeys(_, let owner):
            "init(from:) of \"\(owner)\" does not begin with an enum of coding keys of its own"
        case .noFields(_, let owner, let form): "\"\(owner)\" is not stored in fields: \(form.reason)"
        case .otherForm(let keys):
            "no field of the document holds what it reads (\"\(keys.joined(separator: "."))\" holds another value)"
        case .subscripted: "a key path does not say which key of a dictionary it leads to"
        case .impossibleName: "its name in storedFieldNames is \"id\", which is stored as \"_id\""
        }
    }

    private func remedy(_ keyPath: AnyKeyPath, _ isTop: Bool) -> String {
        let root = Swift.type(of: keyPath).rootType
        switch self {
        case .impossibleName: return "name it \"_id\" there"
        case .identity: return "compare a property of it, or write the query as a document literal"
        case .otherForm:
            return "name it in a StoredFieldNaming conformance of \"\(root)\", or write the query as a document literal"
        case .subscripted:
            return
                "compare it in find { }, as in { $0.scores[\"a\"] == 1 }, or write the path in a document literal or as text,"
                + " as in [\"$set\": [\"scores.a\": 1]]"
        case .notCodable:
            return "declare it Codable, and nonisolated in a module that is isolated to the main actor, or write the"
                + " query as a document literal"
        case .computed(let owner):
            switch StoredForm.ofAny(owner) {
            case .value where owner is any RawRepresentable.Type:
                return "use the property whose type is \"\(owner)\" itself, because it is stored as its raw value;"
                    + " find { } also understands .rawValue"
            case .value where owner == String.self:
                return "use ==, isEmpty, hasPrefix, hasSuffix, contains, matches or ignoringCase of the text, or"
                    + " filter the results in Swift"
            case .value, .elements:
                return "compare the property whose type is \"\(owner)\" itself, or filter the results in Swift"
            default:
                // A conformance cannot name a property of a property.
                guard owner == root else { return "write its path as text, or the query as a document literal" }
                return NamingAdvice(keyPath, isTop).text
            }
        case .noFields(_, let owner, .value), .noFields(_, let owner, .elements):
            return "compare the property whose type is \"\(owner)\" itself, or write the query as a document literal"
        case .noKey(let property, let owner), .foreignKeys(let property, let owner),
            .noFields(let property, let owner, _):
            return NamingAdvice(property, of: owner, isTop && owner == root).text
        case .notEncodable, .ambiguous, .unreadable: return NamingAdvice(keyPath, isTop).text
        }
    }

    private static func computedReason(_ owner: any Any.Type, _ keyPath: AnyKeyPath) -> String {
        switch StoredForm.ofAny(owner) {
        case .value, .elements:
            "\(memberOfText(keyPath).map { "\"\($0)\"" } ?? "it") is computed by \"\(owner)\""
        default:
            "in \"\(owner)\" it is computed, has observers or a property wrapper, is read through a protocol, or belongs"
                + " to a class that is not final"
        }
    }
}

extension NamingFailure {
    /// The name of a property of `String`, which key paths do not say.
    private static func memberOfText(_ keyPath: AnyKeyPath) -> String? {
        let names: [AnyKeyPath: String] = [
            \String.utf8: "utf8", \String.utf16: "utf16", \String.unicodeScalars: "unicodeScalars",
            \String.description: "description", \String.debugDescription: "debugDescription",
            \String.hashValue: "hashValue", \String.count: "count", \String.first: "first", \String.last: "last",
            \String.isEmpty: "isEmpty",
        ]
        return names[keyPath]
    }
}

extension StoredForm {
    /// The form of any type; `nil` when it cannot be decoded.
    static func ofAny(_ type: any Any.Type) -> StoredForm? {
        (type as? any Decodable.Type).map(of)
    }

    fileprivate var reason: String {
        switch self {
        case .fields: "its keys are not known"
        case .value: "it is stored as one value"
        case .elements: "it is stored as an array"
        case .unknown(let reason): reason
        }
    }
}

/// The conformance to ``StoredFieldNaming`` that names properties of a type whose names are not known.
private struct NamingAdvice {
    private let type: any Any.Type
    /// The properties with their keys; empty when not even the property is known.
    private let names: [(property: String, key: String?)]

    /// All stored properties to which a key path may lead, of which it says only the type.
    init(_ keyPath: AnyKeyPath, _ isTop: Bool) {
        let (root, value) = (Swift.type(of: keyPath).rootType, Swift.type(of: keyPath).valueType)
        type = root
        names = RuntimeReflection.properties(of: root).compactMap { property in
            let name = StoredForm.unwrappedName(property.name)
            guard property.type == value || name != property.name else { return nil }
            return (name, Self.key(of: name, property.declaringType, isTop))
        }
    }

    /// A property whose key is not known.
    init(_ property: String, of owner: any Any.Type, _ isTop: Bool) {
        type = owner
        let properties = RuntimeReflection.properties(of: owner)
        let declaringType = properties.first { $0.name == property }?.declaringType ?? owner
        names = [
            (property, Self.key(of: property, declaringType, isTop) ?? Self.onlyOtherKey(owner, properties, isTop))
        ]
    }

    /// The key of a property in the type that declares it, which a subclass may have in addition to its own.
    private static func key(of property: String, _ declaringType: any Any.Type, _ isTop: Bool) -> String? {
        guard case .fields(let keys)? = StoredForm.ofAny(declaringType), keys.mayBelong(to: declaringType) else {
            return nil
        }
        return keys.text(for: property).map { keys.stored($0, isTop: isTop) }
    }

    /// The only key of a type that is no property's.
    private static func onlyOtherKey(
        _ type: any Any.Type, _ properties: [RuntimeReflection.Property], _ isTop: Bool
    ) -> String? {
        guard case .fields(let keys)? = StoredForm.ofAny(type), keys.mayBelong(to: type), let texts = keys.texts else {
            return nil
        }
        let others = texts.filter { text in !properties.contains { $0.name == text.key } }
        return others.count == 1 ? others.first.map { keys.stored($0.value, isTop: isTop) } : nil
    }

    var text: String {
        let name = SwiftKeyPath.name(of: type) ?? "\(type)"
        let known = names.map { "\\.\($0.property): \($0.key.map { "\"\($0)\"" } ?? "\"<its key in the document>\"")" }
        let list = known.isEmpty ? "\\.<property>: \"<its key in the document>\"" : known.joined(separator: ", ")
        return (type is AnyObject.Type ? "declare it or its class final; if it is, " : "")
            + "write the query as a document literal, give \"\(type)\" a querySample (QuerySampleProviding), or add this"
            + " conformance (that of the protocol that declares it, where generic code reads it):\n"
                + """
                extension \(name): StoredFieldNaming {
                    static var storedFieldNames: [PartialKeyPath<\(name)>: String] { [\(list)] }
                }
                """
    }
}
