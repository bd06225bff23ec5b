import Foundation
#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

/// A cursor of the engine over the documents of a query or a pipeline: closed at its end, when the last reference goes,
/// or with its transaction.
///
/// `@unchecked Sendable`: the engine allows one thread at a time in a cursor, which the lock ensures: its own, or that
/// of its transaction, whose calls must not run concurrently with the cursor either.
final class EngineCursor: @unchecked Sendable {
    /// What is open in the engine; shared with the transaction, which may close it first.
    final class Handle {
        var pointer: OpaquePointer?
        let interrupt = EngineInterrupt { tansu_cursor_cancel($0) }
        /// While a document's bytes are read; closing is then deferred, because it would free them.
        var isStepping = false
        var closesAfterStep = false

        func close() {
            closesAfterStep = isStepping
            guard !isStepping else { return }
            interrupt.end()
            tansu_cursor_close(pointer)
            pointer = nil
        }
    }

    /// What its documents are.
    enum Source {
        /// Those of a collection that match a query.
        case query(BSONDocument, hints: BSONDocument, collection: String)
        /// Those that the stages of a pipeline make; without a collection the first stage has them.
        case pipeline([BSONDocument], hints: BSONDocument, collection: String?)
    }

    private let scope: EngineScope
    private let handle: Handle
    private let holder: EngineDatabase.Holder
    /// Whether the rest of the call goes on with it and closes it.
    private(set) var isHandedOver = false
    private let lock = NSRecursiveLock()

    /// Starts a query or a pipeline.
    init(_ scope: EngineScope, _ source: Source, for holder: EngineDatabase.Holder = .user) throws {
        scope.track(source)
        self.scope = scope
        self.holder = holder
        handle = Handle()
        if let transaction = scope.transaction {
            try transaction.call { database, transactionPointer in
                try start(database, transactionPointer, source)
                // Still under the lock of the transaction, so that it cannot end in between.
                transaction.adopt(handle)
            }
        } else {
            try scope.engine.open(for: holder) { database in try start(database, nil, source) }
        }
    }

    deinit {
        close()
    }

    /// Steps, and runs `body` on the next document's bytes, which are valid inside it only. `nil` at the end.
    func next<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        guard let transaction = scope.transaction else {
            return try lock.withLock { try step(body) }
        }
        return try transaction.call { _, _ in try step(body) }
    }

    /// Cancels it, from any thread: the running step and later ones throw `.cancelled`. It may be called at any time.
    func cancel() {
        handle.interrupt.request()
    }

    /// Leaves it open, without a time limit, when the call that opened it ends: `goOn` is the rest of the call, on another thread.
    func handOver() {
        lock.withLock {
            isHandedOver = true
            tansu_cursor_end_timeout(handle.pointer)
            if scope.transaction == nil { scope.engine.suspend() }
        }
    }

    /// Runs `body`, the rest of the call that has handed it over, and closes it.
    func goOn<Result>(_ body: () throws -> Result) throws -> Result {
        func run() throws -> Result {
            defer { close() }
            return try body()
        }
        // A transaction is open as long as its cursors.
        guard scope.transaction == nil else { return try run() }
        return try scope.engine.resume {
            lock.withLock { isHandedOver = false }
            return try run()
        }
    }

    /// Ends it early. It may be called at any time.
    func close() {
        if let transaction = scope.transaction {
            transaction.close(handle)
        } else {
            lock.withLock {
                guard handle.pointer != nil else { return }
                // It stays open until the end of the step, which calls this again.
                guard !handle.isStepping else { return handle.close() }
                // The rest of a call that is not made: its task was cancelled.
                if isHandedOver { return scope.engine.resume { handle.close() } }
                scope.engine.end(for: holder) { handle.close() }
            }
        }
    }

    private func start(_ database: OpaquePointer, _ transaction: OpaquePointer?, _ source: Source) throws {
        switch source {
        case .query(let query, let hints, let collection):
            try withBytes(query, hints) { query, hints in
                _ = try engineCall {
                    tansu_find(
                        database, transaction, collection, tansu_document(query), tansu_document(hints),
                        &handle.pointer, $0)
                }
            }
        case .pipeline(let stages, let hints, let collection):
            try withBytes(BSONArray(stages.map { .document($0) }).document, hints) { stages, hints in
                _ = try engineCall {
                    tansu_pipeline(
                        database, transaction, collection, tansu_document(stages), tansu_document(hints),
                        &handle.pointer, $0)
                }
            }
        }
        handle.interrupt.begin(handle.pointer)
    }

    private func step<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        guard let pointer = handle.pointer else { return nil }
        // A decoder that steps the cursor whose bytes it reads would free them.
        guard !handle.isStepping else {
            throw TansuError(.invalidState, "A cursor was used while its own document was decoded; use another cursor")
        }
        handle.isStepping = true
        defer {
            handle.isStepping = false
            if handle.closesAfterStep { close() }
        }
        var document = tansu_document()
        let status = try engineCall { tansu_cursor_next(pointer, &document, $0) }
        guard status == TANSU_OK else {
            handle.closesAfterStep = true
            return nil
        }
        return try body(document.bytes)
    }
}
