import CTansu

/// Where a call of the engine runs: in a transaction of its own, or in one that is open.
///
/// Its extensions are the engine's calls with Swift values. Pointers and lengths stay in this folder, except for the
/// bytes that encoders and decoders work on.
struct EngineScope: Sendable {
    let engine: EngineDatabase
    let transaction: EngineTransaction?
    /// Whether a call that exceeds its time limit is made again without one: then only the second is recorded.
    var isTrial = false
    /// The type of the collection that the calls are on; `nil` when it is not known.
    var collectionType: (any IndexSuggesting.Type)?

    /// Runs `body` with the database, the transaction or `nil`, and an error to fill.
    func call(
        _ body: (OpaquePointer, OpaquePointer?, UnsafeMutablePointer<tansu_error>) throws -> tansu_status
    ) throws {
        if let transaction {
            try transaction.call { database, handle in
                _ = try engineCall { try body(database, handle, $0) }
            }
        } else {
            try engine.call { database in
                _ = try engineCall { try body(database, nil, $0) }
            }
        }
    }

    /// The document that a call returns.
    func document(
        _ body: (OpaquePointer, OpaquePointer?, UnsafeMutablePointer<tansu_buffer>, UnsafeMutablePointer<tansu_error>)
            throws -> tansu_status
    ) throws -> BSONDocument {
        try withEngineBuffer { buffer in
            try call { try body($0, $1, &buffer, $2) }
            return BSONDocument(trustedBytes: Array(buffer.bytes))
        }
    }
}
