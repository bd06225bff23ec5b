/// A property whose Swift name was written where its stored name belongs.
struct PropertyName {
    /// The path up to the property, as it was written.
    let written: String
    /// The same with the name that documents have.
    let stored: String
}

extension StoredFieldNames {
    /// The first property in a path that documents have under another name; `nil` when each name may be a stored one.
    static func propertyName(inPath path: String, of type: any Any.Type) -> PropertyName? {
        // A path with an escaped dot is no path of properties.
        guard !path.contains("\\") else { return nil }
        var (type, isTop) = (type, true)
        var before: [String] = []
        for name in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
            guard !(type is any StoredFieldNaming.Type), case .fields(let keys)? = StoredForm.ofAny(type),
                let texts = keys.texts, keys.mayBelong(to: type)
            else { return nil }
            guard let property = texts.first(where: { keys.stored($0.value, isTop: isTop) == name })?.key else {
                guard let text = texts[name] else { return nil }
                return PropertyName(
                    written: (before + [name]).joined(separator: "."),
                    stored: (before + [keys.stored(text, isTop: isTop)]).joined(separator: "."))
            }
            guard let next = RuntimeReflection.properties(of: type).first(where: { $0.name == property }) else {
                return nil
            }
            type = (next.type as? any OptionalValue.Type)?.wrappedType ?? next.type
            isTop = false
            before.append(name)
        }
        return nil
    }
}

extension Database.Collection {
    /// Throws for a path that has the name of a property where documents have another, unless one of them has this, too.
    ///
    /// - Throws: ``TansuError`` with `.invalidIndex`.
    func rejectPropertyNames(_ paths: [String]) throws {
        for path in paths {
            guard let name = StoredFieldNames.propertyName(inPath: path, of: Element.self) else { continue }
            var isStored = false
            let hints: BSONDocument = ["$max": 1, "$maxTimeMS": 100, "$fields": ["_id": 1]]
            try? session.engine.forEach([name.written: ["$exists": true]], hints: hints, in: self.name) { _ in
                isStored = true
            }
            guard !isStored else { continue }
            throw TansuError(
                .invalidIndex,
                "The property \"\(name.written)\" is stored as \"\(name.stored)\", and no document has a field of its"
                    + " own name; index \"\(name.stored)\", or pass a key path", context: path)
        }
    }
}
