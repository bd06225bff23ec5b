import CTansu

extension EngineFeed {
    /// The next change as a value, or why it could not be decoded. `nil` when there is none now.
    ///
    /// - Parameter count: Told how many bytes were decoded.
    func nextChange<Element>(
        _ codec: DocumentCodec<Element>, count: (Int) -> Void
    ) throws -> Result<Database.Change<Element>, any Error>? {
        try next { change in
            count(change.before.size + change.after.size)
            return Result { try Database.Change(change, codec) }
        }
    }
}

extension Database.Change {
    /// Copies what the engine shows.
    fileprivate init(_ change: tansu_change, _ codec: DocumentCodec<Element>) throws {
        kind = try Kind(change)
        collection = String(cString: change.collection)
        id =
            change.id.data == nil ? nil : BSONDocument(trustedBytes: Array(change.id.bytes))["_id"]
        sequence = Int(clamping: change.sequence)
        isLastOfCommit = change.last != 0
        before = change.before.data == nil ? nil : try codec.decode(change.before.bytes)
        after = change.after.data == nil ? nil : try codec.decode(change.after.bytes)
    }
}

extension Database.Change.Kind {
    fileprivate init(_ change: tansu_change) throws {
        switch change.kind {
        case TANSU_CHANGE_INSERT: self = .insert
        case TANSU_CHANGE_UPDATE: self = .update
        case TANSU_CHANGE_DELETE: self = .delete
        case TANSU_CHANGE_COLLECTION_CREATED: self = .collectionCreated
        case TANSU_CHANGE_COLLECTION_DROPPED: self = .collectionDropped
        case TANSU_CHANGE_COLLECTION_RENAMED:
            self = .collectionRenamed(to: change.new_name.map { String(cString: $0) } ?? "")
        default: throw TansuError(.unsupported, "a newer engine tells of a change that this library does not know")
        }
    }
}
