/// An array or a set of any type.
private protocol ElementArray {
    static var elementType: any Any.Type { get }
}

extension Array: ElementArray {
    static var elementType: any Any.Type { Element.self }
}

extension Set: ElementArray {
    static var elementType: any Any.Type { Element.self }
}

/// Stored paths as key paths in the text of a program: the inverse of ``StoredFieldNames``.
enum SwiftKeyPath {
    /// The name of a type without that of its module; `nil` when a program cannot write it, such as that of a type in a
    /// function.
    static func name(of type: any Any.Type) -> String? {
        let name = String(reflecting: type)
        guard !name.contains("("), let dot = name.firstIndex(of: ".") else { return nil }
        return String(name[name.index(after: dot)...])
    }

    /// The key path of the property that is stored at a path of documents of a type; `nil` when there is none.
    ///
    /// The type must be a struct whose names follow from its coding keys, and so must those on the way. What cannot be
    /// seen from here is whether a property is private or has observers; such a key path does not compile or is rejected.
    static func text(ofPath path: String, in type: any Any.Type) -> String? {
        // An escaped dot is part of a name that no property has.
        guard !path.contains("\\") else { return nil }
        var (type, isTop) = (type, true)
        var text = "\\"
        for key in path.split(separator: ".", omittingEmptySubsequences: false) {
            if let wrapped = (type as? any OptionalValue.Type)?.wrappedType {
                type = wrapped
                text += "?"
            }
            guard let property = property(String(key), of: type, isTop) else { return nil }
            text += ".\(property.name)"
            type = property.type
            isTop = false
        }
        return text
    }

    /// The type of the property that is stored at a path of documents of a type, or of elements of arrays on the way; `nil`
    /// when it is not known.
    static func propertyType(atPath path: String, of type: any Any.Type) -> (any Any.Type)? {
        let key = Place(type: ObjectIdentifier(type), path: path)
        if let known = known.withLock({ $0[key] }) { return known }
        let found = findProperty(path, in: type)
        known.withLock { $0[key] = .some(found) }
        return found
    }

    private struct Place: Hashable {
        let type: ObjectIdentifier
        let path: String
    }

    private static let known = Locked<[Place: (any Any.Type)?]>([:])

    private static func findProperty(_ path: String, in type: any Any.Type) -> (any Any.Type)? {
        guard !path.contains("\\") else { return nil }
        var (type, isTop) = (type, true)
        for key in path.split(separator: ".", omittingEmptySubsequences: false) {
            if let wrapped = (type as? any OptionalValue.Type)?.wrappedType { type = wrapped }
            if let element = (type as? any ElementArray.Type)?.elementType { type = element }
            guard let property = property(String(key), of: type, isTop) else { return nil }
            (type, isTop) = (property.type, false)
        }
        return type
    }

    private static func property(
        _ key: String, of type: any Any.Type, _ isTop: Bool
    ) -> RuntimeReflection.Property? {
        guard !(type is AnyObject.Type), !(type is any StoredFieldNaming.Type),
            case .fields(let keys)? = StoredForm.ofAny(type), let texts = keys.texts, keys.mayBelong(to: type),
            let name = texts.first(where: { keys.stored($0.value, isTop: isTop) == key })?.key, isPlain(name)
        else { return nil }
        return RuntimeReflection.properties(of: type).first { $0.name == name }
    }

    /// Whether a name is written in a key path as it is.
    private static func isPlain(_ name: String) -> Bool {
        !["init", "self", "Type", "Protocol"].contains(name)
            && !name.contains { !$0.isLetter && !$0.isNumber && $0 != "_" }
    }
}
