import CTansu

/// A change event of the engine. The bytes of its documents are valid only during the call that delivers it.
struct EngineChange {
    /// What happened.
    enum Kind {
        case insert
        case update
        case remove
        case collectionCreated
        case collectionDropped
        case collectionRenamed(to: String)
        /// Of a newer engine.
        case unknown
    }

    let kind: Kind
    let collection: String
    let id: BSONValue?
    let sequence: Int
    let isLastOfCommit: Bool
    let before: UnsafeRawBufferPointer?
    let after: UnsafeRawBufferPointer?
}

extension EngineChange {
    fileprivate init(_ change: tansu_change) {
        kind = Kind(change)
        collection = String(cString: change.collection)
        id = change.id.data == nil ? nil : BSONDocument(trustedBytes: Array(change.id.bytes))["_id"]
        sequence = Int(clamping: change.sequence)
        isLastOfCommit = change.last != 0
        before = change.before.data == nil ? nil : change.before.bytes
        after = change.after.data == nil ? nil : change.after.bytes
    }
}

extension EngineChange.Kind {
    fileprivate init(_ change: tansu_change) {
        switch change.kind {
        case TANSU_CHANGE_INSERT: self = .insert
        case TANSU_CHANGE_UPDATE: self = .update
        case TANSU_CHANGE_REMOVE: self = .remove
        case TANSU_CHANGE_COLLECTION_CREATED: self = .collectionCreated
        case TANSU_CHANGE_COLLECTION_DROPPED: self = .collectionDropped
        case TANSU_CHANGE_COLLECTION_RENAMED:
            self = .collectionRenamed(to: change.new_name.map { String(cString: $0) } ?? "")
        default: self = .unknown
        }
    }
}

extension EngineFeed {
    /// Runs `body` on the next change event. `nil` when there is none now.
    func nextChange<Result>(_ body: (EngineChange) throws -> Result) throws -> Result? {
        try next { change in try body(EngineChange(change)) }
    }

    /// The number of the commit of the next event, and whether the event is its last one, when the event is of a document and the
    /// commit one of some; otherwise what `body` makes of the event.
    func nextChange<Result>(
        omitting commits: Set<Int>, _ body: (EngineChange) throws -> Result
    ) throws -> (result: Result?, sequence: Int, isLastOfCommit: Bool)? {
        try next { change in
            let sequence = Int(clamping: change.sequence)
            let isLast = change.last != 0
            // Only events of documents have an id.
            if change.id.data != nil, commits.contains(sequence) { return (nil, sequence, isLast) }
            return (try body(EngineChange(change)), sequence, isLast)
        }
    }

    /// Whether there is an event that is wanted now; it and all before it are skipped.
    func skip(through isWanted: (EngineChange) -> Bool) throws -> Bool {
        while let wasWanted = try nextChange(isWanted) {
            if wasWanted { return true }
        }
        return false
    }

    /// Whether there was a next event, which is skipped.
    func skipOne() throws -> Bool {
        try next { _ in true } ?? false
    }
}
