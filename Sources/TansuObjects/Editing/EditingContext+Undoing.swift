import Tansu

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
