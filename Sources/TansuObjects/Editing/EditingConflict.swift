public import Tansu

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
