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
            guard texts[property.name] ?? texts[StoredForm.unwrappedName(property.name)] != nil, keys.mayBelong(to: property.declaringType) else {
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
