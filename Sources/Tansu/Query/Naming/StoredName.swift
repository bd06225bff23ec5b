/// Where a property is stored, and whether real values agree.
///
/// `@unchecked Sendable`: its state is under a lock, and `compare` has a key path only.
final class StoredName: @unchecked Sendable {
    /// How many queries ask for evidence, when documents give none.
    private static let mostAttempts = 8

    /// The path as keys, the outermost first; none for the value itself.
    let keys: [String]

    private enum State {
        case open(attempts: Int)
        case settled
    }

    private let state: Locked<State>
    private let compare: (BSONValue) -> NameEvidence

    /// - Parameters:
    ///   - isSettled: Whether it needs no evidence.
    ///   - compare: What a stored value of the type that has the property says of the name.
    init(_ keys: [String], isSettled: Bool, compare: @escaping (BSONValue) -> NameEvidence = { _ in .none }) {
        self.keys = keys
        self.compare = compare
        state = Locked(isSettled ? .settled : .open(attempts: 0))
    }

    var isSettled: Bool {
        state.withLock { if case .settled = $0 { true } else { false } }
    }

    /// Compares the name with stored values. Once one agrees, or several times none said anything, it is settled.
    ///
    /// - Throws: ``NamingFailure/otherForm(_:)`` when one disagrees.
    func check(_ values: [BSONValue]) throws {
        guard !values.isEmpty else { return }
        var agrees = false
        for value in values {
            switch compare(value) {
            case .agrees: agrees = true
            case .disagrees: throw NamingFailure.otherForm(keys)
            case .none: break
            }
        }
        state.withLock {
            guard case .open(let attempts) = $0 else { return }
            $0 = agrees || attempts + 1 >= Self.mostAttempts ? .settled : .open(attempts: attempts + 1)
        }
    }
}

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
