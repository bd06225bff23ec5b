import Tansu

extension EditingContext {
    /// Inserts a value.
    ///
    /// - Parameter element: The value. Its id must not be in the context; if it is stored, that is a conflict when the
    ///   context is saved.
    /// - Throws: `TansuError` with `.exists`, `.invalidDocument`, `.invalidState` (no model) or `.invalidArgument` (the
    ///   model does not have the type); `EncodingError`; what an automatic save throws.
    public func insert<Element: Codable & Sendable & Identifiable>(_ element: Element) async throws {
        let entity = try ModelRegistry.of(database).entity(of: Element.self)
        let document = try entity.document(element)
        let key = try ObjectKey(entity, document)
        guard entries[key]?.current == nil else {
            throw TansuError(
                .exists, "The context has the document already; update it instead", context: key.description)
        }
        change(key, entity, to: document)
        try await saveIfDue()
    }

    /// Changes a value to another with the same id.
    ///
    /// - Parameter element: The value, with what it was changed to.
    /// - Throws: `TansuError` with `.notFound` (neither in the context nor stored), and as `insert` and `get`.
    public func update<Element: Codable & Sendable & Identifiable>(_ element: Element) async throws {
        let entity = try ModelRegistry.of(database).entity(of: Element.self)
        let key = try ObjectKey(entity, entity.document(element))
        guard try await change(key, entity, { $0 = element }) != nil else {
            throw TansuError(
                .notFound, "The document is neither in the context nor stored; insert it", context: key.description)
        }
    }

    /// Changes a value by a closure.
    ///
    /// - Parameters:
    ///   - type: Its type.
    ///   - id: Its id, which must stay the same.
    ///   - body: What to change.
    /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is none.
    /// - Throws: The closure's error; `TansuError` with `.invalidID` (the closure changed the id), and as `get`.
    @discardableResult
    public func update<Element: Codable & Sendable & Identifiable>(
        _ type: Element.Type, id: Element.ID, _ body: @Sendable (inout Element) throws -> Void
    ) async throws -> Element? where Element.ID: Codable & Sendable {
        let entity = try ModelRegistry.of(database).entity(of: type)
        return try await change(ObjectKey(entity, id), entity, body)
    }

    /// Removes a value.
    ///
    /// - Parameters:
    ///   - type: Its type.
    ///   - id: Its id.
    /// - Returns: Whether it existed.
    /// - Throws: As `get`; what an automatic save throws.
    @discardableResult
    public func remove<Element: Codable & Sendable & Identifiable>(
        _ type: Element.Type, id: Element.ID
    ) async throws -> Bool where Element.ID: Codable & Sendable {
        let entity = try ModelRegistry.of(database).entity(of: type)
        let key = try ObjectKey(entity, id)
        guard try await document(key, entity) != nil else { return false }
        change(key, entity, to: nil)
        try await saveIfDue()
        return true
    }

    private func change<Element: Codable & Sendable & Identifiable>(
        _ key: ObjectKey, _ entity: AnyEntity, _ body: (inout Element) throws -> Void
    ) async throws -> Element? {
        // Nothing suspends from here to the change, so that none is lost.
        guard let current = try await document(key, entity), var element = try entity.value(current) as? Element else {
            return nil
        }
        let before = try entity.document(element)
        try body(&element)
        let changed = current.applying(changesFrom: before, to: try entity.document(element))
        guard key.isKey(of: changed) else {
            throw TansuError(
                .invalidID, "The closure changed the id; keep it, or insert a new value and remove the old one",
                context: key.description)
        }
        if changed != current {
            change(key, entity, to: changed)
            try await saveIfDue()
        }
        return element
    }

    /// Changes a document in the context, so that it can be undone.
    private func change(_ key: ObjectKey, _ entity: AnyEntity, to document: BSONDocument?) {
        note(UndoGroup.Step(key: key, entity: entity, before: entries[key]?.current, after: document))
        put(key, entity, document)
    }

    /// Sets the document in the context.
    func put(_ key: ObjectKey, _ entity: AnyEntity, _ document: BSONDocument?) {
        changeNumber += 1
        var entry = entries[key] ?? Entry(entity: entity, order: changeNumber)
        if !entry.isChanged { entry.order = changeNumber }
        entry.current = document
        entries[key] = entry.stored == nil && document == nil ? nil : entry
        unsavedChanges += 1
    }
}

extension ObjectKey {
    /// The key of a document.
    fileprivate init(_ entity: AnyEntity, _ document: BSONDocument) throws {
        guard let id = document["_id"], id != .null else {
            throw TansuError(
                .invalidDocument, "The value has no id; give its type a property id", context: entity.typeName)
        }
        self.init(collection: entity.collection, id: id)
    }
}
