import CTansu

/// What happens to the first document that matches, and which version is returned.
enum ModifyMode: Sendable {
    /// It is updated with these operations.
    case update(BSONDocument, returnsNew: Bool)
    /// It is removed.
    case remove

    var engineValue: tansu_modify_mode {
        switch self {
        case .update(_, returnsNew: false): TANSU_MODIFY_RETURN_BEFORE
        case .update(_, returnsNew: true): TANSU_MODIFY_RETURN_AFTER
        case .remove: TANSU_MODIFY_REMOVE
        }
    }

    /// Calls the closure with the bytes of the operations, or with none: the engine accepts no update with a removal.
    func withOperations<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        switch self {
        case .update(let operations, _): try operations.withUnsafeBytes(body)
        case .remove: try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }
}

extension EngineScope {
    /// Updates the documents that match, and returns the engine's report.
    func update(
        _ query: BSONDocument, _ operations: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        try measured(MeasuredCall(kind: .update, collection: collection, query: query, hints: hints)) {
            try withBytes(query, operations, hints) { query, operations, hints in
                try document { database, transaction, buffer, error in
                    tansu_update(
                        database, transaction, collection, tansu_document(query), tansu_document(operations),
                        tansu_document(hints), buffer, error)
                }
            }
        }
    }

    /// Updates or removes the first document that matches, and runs `body` on it; `nil` when there is none.
    ///
    /// `body` runs after the call, because it may be a decoder that makes calls itself.
    func findAndModify<Result>(
        _ query: BSONDocument, _ mode: ModifyMode, _ hints: BSONDocument, in collection: String,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        try withEngineBuffer { buffer in
            let measure = MeasuredCall(kind: .findAndModify, collection: collection, query: query, hints: hints)
            try measured(measure) {
                try withBytes(query, hints) { query, hints in
                    try mode.withOperations { operations in
                        try call { database, transaction, error in
                            tansu_find_and_modify(
                                database, transaction, collection, tansu_document(query),
                                tansu_document(operations), tansu_document(hints),
                                mode.engineValue, &buffer, error)
                        }
                    }
                }
            }
            return buffer.size == 0 ? nil : try body(buffer.bytes)
        }
    }
}
