import Foundation

/// What a key path says of itself: which stored properties it leads through.
///
/// It relies on `MemoryLayout.offset(of:)`, which a key path through structs has, and else on the description of key
/// paths (`\Person.home?.city`), which Swift prints since version 5.8 and macOS 13.3. Both are checked against the
/// stored properties of the types: the name, where it is, and its type. A description that does not fit is `unreadable`.
enum KeyPathShape {
    /// A stored property of a struct or a class.
    struct Step {
        /// The type in which the path finds the property; a subclass, where the property is inherited.
        let owner: any Any.Type
        let property: RuntimeReflection.Property
    }

    /// Stored properties, the outermost first; optionals in between are passed.
    case stored([Step])
    /// The value itself: `\.self`.
    case identity
    /// The path leads to or through a property without storage of its own in that type.
    case computed(owner: any Any.Type)
    /// Several stored properties fit.
    case ambiguous
    /// The runtime does not say.
    case unreadable

    init(_ keyPath: AnyKeyPath) {
        let (root, value) = (type(of: keyPath).rootType, type(of: keyPath).valueType)
        if let offset = Self.offset(of: keyPath, in: root) {
            self = root == value ? .identity : Self.only(Self.paths(from: root, offset, value))
            return
        }
        let (prefix, text) = ("\\\(root)", String(describing: keyPath))
        guard text.hasPrefix(prefix) else {
            self = .unreadable
            return
        }
        var parser = Parser(valueType: value)
        parser.parse(text.dropFirst(prefix.count), in: root, after: [])
        self = parser.computedOwner.map { .computed(owner: $0) } ?? Self.only(parser.paths)
    }

    /// The offset of what the path leads to in a struct; `nil` for other types and for computed properties.
    private static func offset<Root>(of keyPath: AnyKeyPath, in root: Root.Type) -> Int? {
        guard !(root is AnyObject.Type) else { return nil }
        return (keyPath as? PartialKeyPath<Root>).flatMap { MemoryLayout<Root>.offset(of: $0) }
    }

    private static func only(_ paths: [[Step]]) -> KeyPathShape {
        switch paths.count {
        case 0: .unreadable
        case 1: .stored(paths[0])
        default: .ambiguous
        }
    }

    /// The stored properties at an offset in a struct that have a type; properties of size 0 share one.
    private static func paths(from type: any Any.Type, _ offset: Int, _ valueType: any Any.Type) -> [[Step]] {
        RuntimeReflection.properties(of: type).flatMap { property -> [[Step]] in
            let step = Step(owner: type, property: property)
            let inner = offset - property.offset
            guard inner >= 0, inner < max(RuntimeReflection.size(of: property.type), 1) else { return [] }
            if inner == 0, property.type == valueType { return [[step]] }
            guard !(property.type is AnyObject.Type) else { return [] }
            return paths(from: property.type, inner, valueType).map { [step] + $0 }
        }
    }
}

extension KeyPathShape {
    /// Reads the description of a key path.
    private struct Parser {
        let valueType: any Any.Type
        var paths: [[Step]] = []
        var computedOwner: (any Any.Type)?

        /// Reads what follows a value of a type.
        mutating func parse(_ text: Substring, in type: any Any.Type, after path: [Step]) {
            guard text.first == "." else { return }
            let text = text.dropFirst()
            if text.hasPrefix("<computed") {
                computedOwner = type
                return
            }
            let properties = RuntimeReflection.properties(of: type)
            let names = Set(properties.map(\.name)).filter { text.hasPrefix($0) }
                .filter { text.dropFirst($0.count).first.map { ".?!".contains($0) } ?? true }
            guard let name = names.max(by: { $0.count < $1.count }) else { return }
            // The description names the first property at an offset; of size 0, it may be another.
            let offsets = Set(properties.filter { $0.name == name }.map(\.offset))
            for property in properties where offsets.contains(property.offset) {
                let step = Step(owner: type, property: property)
                follow(text.dropFirst(name.count), property.type, path + [step])
            }
        }

        private mutating func follow(_ text: Substring, _ type: any Any.Type, _ path: [Step]) {
            if text.isEmpty || text == "?" {
                if type == valueType || type == wrappedType(of: valueType) { paths.append(path) }
            } else if text.first == "?" {
                guard let wrapped = wrappedType(of: type) else { return }
                follow(text.dropFirst(), wrapped, path)
            } else if text.first == "!" {
                computedOwner = type
            } else {
                parse(text, in: type, after: path)
            }
        }

        private func wrappedType(of type: any Any.Type) -> (any Any.Type)? {
            (type as? any OptionalValue.Type)?.wrappedType
        }
    }
}

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

// MARK: - AnyKeyPath: shown

extension AnyKeyPath {
    /// The key path as a program writes it, as far as it says so itself: without addresses of what is computed.
    var shown: String {
        "\(self)".replacingOccurrences(
            of: #"<computed 0x[0-9a-f]+ \([^.]*\)>"#, with: "<computed>", options: .regularExpression
        ).replacingOccurrences(
            of: #"\(unknown context at \$[0-9a-f]+\)\."#, with: "", options: .regularExpression)
    }
}

// MARK: - ReadOnlyKeyPath

/// A key path that another thread may use.
///
/// `@unchecked Sendable`: only its name is looked up, and only those of stored properties, which hold no values, are
/// kept.
package struct ReadOnlyKeyPath<Root, Value>: @unchecked Sendable {
    package let keyPath: KeyPath<Root, Value>

    package init(keyPath: KeyPath<Root, Value>) {
        self.keyPath = keyPath
    }
}
