public import Tansu

extension EditingContext {
    /// Saves all unsaved changes in one commit.
    ///
    /// - Returns: How many documents were saved or removed.
    /// - Throws: ``EditingConflictError``, and what the closure of ``EditingConflictPolicy/ask(_:)`` throws; `TansuError` with
    ///   `.notUnique` (also where two stored documents swap their values of a unique index) or `.invalidDocument`, or what a
    ///   commit can throw; `CancellationError`. Then nothing is saved, and the context keeps its changes.
    @discardableResult
    public func save() async throws -> Int {
        await enterSave()
        defer { leaveSave() }
        autosaveTask?.cancel()
        autosaveTask = nil
        var resolutions: [EditingConflict: EditingConflict.Resolution] = [:]
        while true {
            let attempt = try await write(resolutions)
            if attempt.open.isEmpty { return adopt(attempt) }
            guard case .ask(let decide) = policy else { throw EditingConflictError(conflicts: attempt.open) }
            for conflict in attempt.open { resolutions[conflict] = try await decide(conflict) }
        }
    }

    /// What one attempt to save has done.
    private struct Attempt: Sendable {
        /// The conflicts without a resolution; when there are some, nothing was saved.
        var open: [EditingConflict] = []
        /// What was written: the context's versions, and what is stored now.
        var written: [(key: ObjectKey, mine: BSONDocument?, stored: BSONDocument?)] = []
        /// The number of the last change that it has.
        var lastChange = 0
        var count = 0
    }

    /// Rolls an attempt back.
    private struct OpenConflicts: Error {
        let attempt: Attempt
    }

    private func write(_ resolutions: [EditingConflict: EditingConflict.Resolution]) async throws -> Attempt {
        guard hasChanges else { return Attempt(lastChange: changeNumber) }
        do {
            return try await database.write(isolation: self) { transaction in
                let attempt = try self.write(resolutions, in: transaction)
                if !attempt.open.isEmpty { throw OpenConflicts(attempt: attempt) }
                return attempt
            }
        } catch let open as OpenConflicts {
            return open.attempt
        }
    }

    private func write(
        _ resolutions: [EditingConflict: EditingConflict.Resolution], in transaction: Database.Transaction
    ) throws -> Attempt {
        var attempt = Attempt()
        attempt.lastChange = changeNumber
        var changes: [Change] = []
        // All conflicts are found before anything is written: delete rules change documents as well.
        for key in changed({ _ in true }) {
            guard let entry = entries[key] else { continue }
            let theirs = try transaction.collection(key.collection).get(key.id)
            var document = entry.current
            if theirs != entry.stored {
                let conflict = EditingConflict(key: key, base: entry.stored, mine: entry.current, theirs: theirs)
                guard let resolution = resolve(conflict, resolutions) else {
                    attempt.open.append(conflict)
                    continue
                }
                document = try resolution.document(of: conflict)
            }
            attempt.written.append((key, entry.current, document))
            if document != theirs { changes.append(Change(key: key, document: document)) }
        }
        guard attempt.open.isEmpty else { return attempt }
        attempt.count = changes.count
        try apply(changes, in: transaction)
        try noteEffects(of: changes, &attempt, in: transaction)
        return attempt
    }

    /// What is to be written of one document.
    private struct Change {
        let key: ObjectKey
        let document: BSONDocument?
    }

    /// Writes changes in an order in which all can be written, if there is one: an inserted document may have a unique value
    /// of one that is removed, and a removed one may be in the way of another by a delete rule.
    ///
    /// Removals are last, so that the rules see what is saved with them: documents that do not refer to a removed one any more
    /// stay, and those that now do are treated by the rule.
    private func apply(_ changes: [Change], in transaction: Database.Transaction) throws {
        var left = changes.filter { $0.document != nil } + changes.filter { $0.document == nil }
        while !left.isEmpty {
            var postponed: [Change] = []
            var fault: (any Error)?
            for change in left {
                do {
                    try save(change.document, change.key, in: transaction)
                } catch let error as TansuError where error.code == .notUnique || error.code == .referenced {
                    fault = fault ?? error
                    postponed.append(change)
                }
            }
            if let fault, postponed.count == left.count { throw fault }
            left = postponed
        }
    }

    /// Reads what the engine has made of the documents that the context knows: it dates those that are saved, and applies
    /// delete rules.
    private func noteEffects(
        of changes: [Change], _ attempt: inout Attempt, in transaction: Database.Transaction
    ) throws {
        let collections = try transaction.collections()
        let dated = collections.filter { $0.timestamps != nil }.map(\.name).bytewiseSet
        let hasRules =
            changes.contains { $0.document == nil }
            && collections.contains { $0.references.contains { $0.onDelete != .ignore } }
        for (index, written) in attempt.written.enumerated()
        where hasRules || dated.contains(BytewiseText(written.key.collection)) {
            attempt.written[index].stored = try transaction.collection(written.key.collection).get(written.key.id)
        }
        guard hasRules else { return }
        for (key, entry) in entries where !entry.isChanged {
            let stored = try transaction.collection(key.collection).get(key.id)
            if stored != entry.stored { attempt.written.append((key, entry.current, stored)) }
        }
    }

    /// Saves a document, or removes it where there is none.
    func save(_ document: BSONDocument?, _ key: ObjectKey, in transaction: Database.Transaction) throws {
        let collection = try transaction.collection(key.collection)
        if let document {
            try collection.save(document)
        } else {
            try collection.remove(id: key.id)
        }
    }

    private func resolve(
        _ conflict: EditingConflict, _ resolutions: [EditingConflict: EditingConflict.Resolution]
    ) -> EditingConflict.Resolution? {
        // Both sides did the same.
        if conflict.mine == conflict.theirs { return .theirs }
        return switch policy {
        case .fail: nil
        case .mine: .mine
        case .theirs: .theirs
        case .mergeFields: conflict.merged().map { .merged($0) }
        case .ask: resolutions[conflict]
        }
    }

    /// Notes what is stored now. Changes that were made while the commit was under way stay unsaved.
    private func adopt(_ attempt: Attempt) -> Int {
        for (key, mine, stored) in attempt.written {
            guard var entry = entries[key] else {
                // It was undone to nothing meanwhile.
                continue
            }
            let isChangedSince = entry.current != mine
            entry.stored = stored
            if !isChangedSince { entry.current = stored }
            entries[key] = entry.stored == nil && entry.current == nil ? nil : entry
        }
        // Changes may have been discarded while the commit was under way.
        settledChanges = max(settledChanges, attempt.lastChange)
        autosaveError = nil
        return attempt.count
    }

    /// One save at a time: another one would take what this one commits for the change of someone else.
    private func enterSave() async {
        if isSaving { await withCheckedContinuation { waitingSaves.append($0) } }
        isSaving = true
    }

    private func leaveSave() {
        if waitingSaves.isEmpty {
            isSaving = false
        } else {
            waitingSaves.removeFirst().resume()
        }
    }
}

extension EditingConflict.Resolution {
    /// What is to be stored.
    fileprivate func document(of conflict: EditingConflict) throws -> BSONDocument? {
        switch self {
        case .mine: return conflict.mine
        case .theirs: return conflict.theirs
        case .merged(let document):
            guard conflict.key.isKey(of: document) else {
                throw TansuError(
                    .invalidID, "The merged document has another _id; keep that of the conflict",
                    context: conflict.key.description)
            }
            return document
        }
    }
}

extension EditingContext {
    /// Saves after a change, if the context does so by itself and it is time.
    func saveIfDue() async throws {
        switch autosave {
        case .never: break
        case .every(let count):
            if unsavedChanges >= max(count, 1), groupDepth == 0 { try await save() }
        case .after(let duration):
            guard autosaveTask == nil, hasChanges else { return }
            autosaveTask = Task { [weak self] in
                guard (try? await Task.sleep(for: duration)) != nil else { return }
                await self?.autosaveNow()
            }
        }
    }

    private func autosaveNow() async {
        autosaveTask = nil
        do {
            try await save()
        } catch {
            autosaveError = error
        }
    }
}

/// A document that was changed in an ``EditingContext`` and, since the context read it, by someone else.
public struct EditingConflict: Sendable, Hashable {
    /// Which document.
    public let key: ObjectKey

    /// The document as the context had read it; `nil` when there was none.
    public let base: BSONDocument?

    /// The document as it was changed in the context; `nil` when it was removed.
    public let mine: BSONDocument?

    /// The document as it is stored now; `nil` when there is none.
    public let theirs: BSONDocument?

    /// How it is resolved.
    public enum Resolution: Sendable, Hashable {
        /// The context's version is saved.
        case mine
        /// The stored version stays, and the context has it.
        case theirs
        /// This document is saved; its `_id` must be the same.
        case merged(BSONDocument)
    }

    /// Both changes in one document: each field, at any depth of documents, has the value of the side that changed it.
    /// `nil` when both sides changed a field to different values, or one side removed the document.
    public func merged() -> BSONDocument? {
        guard let mine, let theirs else { return nil }
        return theirs.merging(changesFrom: base ?? [:], to: mine)
    }
}

extension BSONDocument {
    /// This document, which was made of `base`, with the changes from `base` to another; `nil` where both differ.
    fileprivate func merging(changesFrom base: BSONDocument, to other: BSONDocument) -> BSONDocument? {
        var result = self
        for key in Array(other.keys) + base.keys {
            let (before, own, theirs) = (base[key], self[key], other[key])
            if theirs == before || theirs == own { continue }
            if own == before {
                result[key] = theirs
                continue
            }
            guard case .document(let before)? = before, case .document(let own)? = own,
                case .document(let theirs)? = theirs, let merged = own.merging(changesFrom: before, to: theirs)
            else { return nil }
            result[key] = .document(merged)
        }
        return result
    }
}

/// What `save()` of an ``EditingContext`` throws when documents were changed by someone else meanwhile: nothing was
/// saved, and the context keeps its changes.
public struct EditingConflictError: Error, Sendable, Hashable {
    /// The documents, in the order in which they were changed in the context.
    public let conflicts: [EditingConflict]
}

extension EditingConflictError: CustomStringConvertible {
    /// How many documents, which of them first, and what to do.
    public var description: String {
        let names = conflicts.prefix(3).map(\.key.description).joined(separator: ", ")
        return "Documents were changed by someone else since they were fetched: \(conflicts.count), first \(names);"
            + " save with another conflict policy, or reload"
    }
}

/// How an ``EditingContext`` resolves conflicts when it is saved.
public enum EditingConflictPolicy: Sendable {
    /// The save fails with an ``EditingConflictError``, and nothing is saved. The default.
    case fail

    /// The context's version is saved.
    case mine

    /// The stored version stays, and the context takes it.
    case theirs

    /// Both changes are combined field by field, as ``EditingConflict/merged()`` does; where that is not possible, the
    /// save fails.
    case mergeFields

    /// The closure decides. It is called outside of any transaction, and again if the document has changed once more
    /// meanwhile.
    case ask(@Sendable (EditingConflict) async throws -> EditingConflict.Resolution)
}
