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

// MARK: - Undoing

/// Changes that are undone together.
struct UndoGroup: Sendable {
    struct Step: Sendable {
        let key: ObjectKey
        let entity: AnyEntity
        let before: BSONDocument?
        let after: BSONDocument?
    }

    var steps: [Step] = []
}

extension EditingContext {
    /// Whether there is something to undo.
    public var canUndo: Bool { !undoGroups.isEmpty }

    /// Whether there is something to redo.
    public var canRedo: Bool { !redoGroups.isEmpty }

    /// Undoes the last group of changes: those of one ``groupingUndo(_:)``, or else of one call. Saved changes are undone
    /// in the context, as new unsaved changes. What others have changed in a document meanwhile stays.
    ///
    /// - Returns: Whether there was something to undo.
    /// - Throws: `TansuError` with `.invalidState` inside ``groupingUndo(_:)``; what an automatic save throws.
    @discardableResult
    public func undo() async throws -> Bool {
        try checkNoOpenGroup()
        guard let group = undoGroups.popLast() else { return false }
        for step in group.steps.reversed() { revert(step) }
        redoGroups.append(group)
        try await saveIfDue()
        return true
    }

    /// Makes the changes again that were undone last. A new change ends that.
    ///
    /// - Returns: Whether there was something to redo.
    /// - Throws: As ``undo()``.
    @discardableResult
    public func redo() async throws -> Bool {
        try checkNoOpenGroup()
        guard let group = redoGroups.popLast() else { return false }
        for step in group.steps {
            revert(UndoGroup.Step(key: step.key, entity: step.entity, before: step.after, after: step.before))
        }
        undoGroups.append(group)
        try await saveIfDue()
        return true
    }

    /// Undoes all changes of the closure by one ``undo()``. Groups can be nested; the outermost counts.
    ///
    /// Changes that other tasks make in the context meanwhile belong to the group as well.
    ///
    /// - Parameter body: What to do with the context. When it throws, its changes stay.
    /// - Returns: What the closure returns.
    /// - Throws: The closure's error.
    public func groupingUndo<Result: Sendable>(
        _ body: @Sendable (EditingContext) async throws -> Result
    ) async throws -> Result {
        if groupDepth == 0 { openGroup = UndoGroup() }
        groupDepth += 1
        defer {
            groupDepth -= 1
            if groupDepth == 0, let group = openGroup {
                openGroup = nil
                if !group.steps.isEmpty { keep(group) }
            }
        }
        return try await body(self)
    }

    /// Notes a change for ``undo()``.
    func note(_ step: UndoGroup.Step) {
        redoGroups = []
        if openGroup == nil {
            keep(UndoGroup(steps: [step]))
        } else {
            openGroup?.steps.append(step)
        }
    }

    private func keep(_ group: UndoGroup) {
        undoGroups.append(group)
        if undoGroups.count > undoLevels { undoGroups.removeFirst(undoGroups.count - undoLevels) }
    }

    private func revert(_ step: UndoGroup.Step) {
        let current = entries[step.key]?.current
        switch (step.before, step.after, current) {
        case (let before?, let after?, let current?):
            put(step.key, step.entity, current.applying(changesFrom: after, to: before))
        default:
            put(step.key, step.entity, step.before)
        }
    }

    private func checkNoOpenGroup() throws {
        guard openGroup == nil else {
            throw TansuError(.invalidState, "A group of changes is open; undo or redo after its end")
        }
    }
}
