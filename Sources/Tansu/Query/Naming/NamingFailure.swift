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
    case foreignKeys(owner: any Any.Type)
    /// The type that has the property is not stored in fields.
    case noFields(owner: any Any.Type, StoredForm)
    /// What is stored is not what the property is.
    case otherForm([String])
    /// A listed name that no field has.
    case impossibleName
    /// It leads to the value of a key in a dictionary, and does not say which.
    case subscripted

    /// The error for a key path.
    func error(_ keyPath: AnyKeyPath) -> TansuError {
        let root = Swift.type(of: keyPath).rootType
        let naming =
            "name it in a StoredFieldNaming conformance of \"\(root)\", or write the query as a document literal"
        return TansuError(
            .invalidQuery,
            "The stored name of a property is not known: \(reason(root, keyPath)); "
                + (remedy(keyPath) ?? naming),
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
        case .foreignKeys(let owner):
            "init(from:) of \"\(owner)\" does not begin with an enum of coding keys of its own"
        case .noFields(let owner, let form): "\"\(owner)\" is not stored in fields: \(form.reason)"
        case .otherForm(let keys):
            "no field of the document holds what it reads (\"\(keys.joined(separator: "."))\" holds another value)"
        case .subscripted: "a key path does not say which key of a dictionary it leads to"
        case .impossibleName: "its name in storedFieldNames is \"id\", which is stored as \"_id\""
        }
    }

    /// What to do when it is not to name the property, which would not help.
    private func remedy(_ keyPath: AnyKeyPath) -> String? {
        let root = Swift.type(of: keyPath).rootType
        switch self {
        case .impossibleName: return "name it \"_id\" there"
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
                return "name it in a StoredFieldNaming conformance of \"\(root)\" (of the protocol that declares it,"
                    + " where generic code reads it), give \"\(root)\" a querySample (QuerySampleProviding), or write"
                    + " the query as a document literal"
            }
        case .noKey, .foreignKeys:
            return "name it in a StoredFieldNaming conformance of \"\(root)\", give \"\(root)\" a querySample"
                + " (QuerySampleProviding), or write the query as a document literal"
        case .noFields(let owner, _):
            return "compare the property whose type is \"\(owner)\" itself, or write the query as a document literal"
        default: return nil
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
