#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

/// Whether a document with the `_id` may or must exist.
enum SaveMode: Sendable {
    case save
    case insert
    case replace
    /// As `save`, without setting the collection's timestamps.
    case copy

    var engineValue: tansu_save_mode {
        switch self {
        case .save: TANSU_SAVE
        case .insert: TANSU_INSERT
        case .replace: TANSU_REPLACE
        case .copy: TANSU_COPY
        }
    }
}

extension EngineScope {
    /// Saves one document, and returns its id.
    func save(_ document: UnsafeRawBufferPointer, _ mode: SaveMode, in collection: String) throws -> BSONValue {
        var id = tansu_buffer()
        defer { tansu_buffer_free(&id) }
        try call { database, transaction, error in
            tansu_save_one(
                database, transaction, collection, tansu_document(document), mode.engineValue, &id, error)
        }
        guard let value = id.bytes.firstValue else {
            throw TansuError(.invalidState, "The engine did not return the _id of the document", context: collection)
        }
        return value
    }

    /// Saves documents whose bytes follow each other, and returns their ids.
    func save(
        _ documents: UnsafeRawBufferPointer, sizes: [Int], _ mode: SaveMode, in collection: String
    ) throws -> [BSONValue] {
        var next = documents.baseAddress
        let list = sizes.map { size in
            defer { next = next?.advanced(by: size) }
            return tansu_document(data: next, size: size)
        }
        let answer = try document { database, transaction, ids, error in
            tansu_save(database, transaction, collection, list, list.count, mode.engineValue, ids, error)
        }
        return answer["ids"]?.arrayValue.map(Array.init) ?? []
    }

    /// Removes the document with an id; whether it was there.
    func remove(id: BSONValue, from collection: String) throws -> Bool {
        var removed: Int32 = 0
        try BSONDocument(key: "_id", value: id).withUnsafeBytes { id in
            try call { database, transaction, error in
                tansu_remove_id(database, transaction, collection, tansu_document(id), &removed, error)
            }
        }
        return removed != 0
    }

    /// Removes the documents that match; how many.
    func remove(_ query: BSONDocument, _ hints: BSONDocument, from collection: String) throws -> Int {
        var removed: Int64 = 0
        try withBytes(query, hints) { query, hints in
            try call { database, transaction, error in
                tansu_remove(
                    database, transaction, collection, tansu_document(query), tansu_document(hints), &removed, error
                )
            }
        }
        return Int(removed)
    }
}

/// Calls the closure with the bytes of two documents.
func withBytes<Result>(
    _ first: BSONDocument, _ second: BSONDocument,
    _ body: (_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) throws -> Result
) rethrows -> Result {
    try first.withUnsafeBytes { first in try second.withUnsafeBytes { second in try body(first, second) } }
}

/// Calls the closure with the bytes of three documents.
func withBytes<Result>(
    _ first: BSONDocument, _ second: BSONDocument, _ third: BSONDocument,
    _ body: (
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
    ) throws -> Result
) rethrows -> Result {
    try withBytes(first, second) { first, second in
        try third.withUnsafeBytes { third in try body(first, second, third) }
    }
}

// MARK: - Updating

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
        try withBytes(query, operations, hints) { query, operations, hints in
            try document { database, transaction, buffer, error in
                tansu_update(
                    database, transaction, collection, tansu_document(query), tansu_document(operations),
                    tansu_document(hints), buffer, error)
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
            return buffer.size == 0 ? nil : try body(buffer.bytes)
        }
    }
}
