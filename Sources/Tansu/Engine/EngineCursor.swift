import CTansu
import Foundation

/// A cursor of the engine: closed at its end, when the last reference goes, or with its transaction.
///
/// `@unchecked Sendable`: the engine wants one thread at a time in a cursor, and the lock sees to that: its
/// own, or its transaction's, for what the transaction does must not meet the cursor either.
final class EngineCursor: @unchecked Sendable {
    /// What is open in the engine; shared with the transaction, which may close it first.
    final class Handle {
        var pointer: OpaquePointer?
        let interrupt = EngineInterrupt { tansu_cursor_cancel($0) }
        /// While a document's bytes are read; closing then would pull them away, and waits for its end.
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

    private let scope: EngineScope
    private let handle: Handle
    private let lock = NSRecursiveLock()
    /// What its steps took; `nil` when nobody wants to know.
    private let meter: CursorMeter?

    /// Starts a query.
    init(_ scope: EngineScope, collection: String, query: BSONDocument, hints: BSONDocument) throws {
        self.scope = scope
        handle = Handle()
        meter = scope.engine.instruments.map {
            CursorMeter($0, MeasuredCall(kind: .find, collection: collection, query: query, hints: hints))
        }
        let began = meter.map { _ in ContinuousClock.now }
        defer { meter?.add(since: began, failed: handle.pointer == nil) }
        if let transaction = scope.transaction {
            try transaction.call { database, transactionPointer in
                try start(database, transactionPointer, collection, query, hints)
                // Still alone in the transaction: its end cannot slip in between.
                transaction.adopt(handle)
            }
        } else {
            try scope.engine.open { database in try start(database, nil, collection, query, hints) }
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

    /// Stops it for good, from any thread: the step that goes on, and later ones, throw `.cancelled`. Harmless at
    /// any time.
    func cancel() {
        handle.interrupt.ask()
    }

    /// Ends it early. Harmless at any time.
    func close() {
        defer { meter?.end(on: scope.engine) }
        if let transaction = scope.transaction {
            transaction.close(handle)
        } else {
            lock.withLock {
                guard handle.pointer != nil else { return }
                scope.engine.end { handle.close() }
            }
        }
    }

    private func start(
        _ database: OpaquePointer, _ transaction: OpaquePointer?, _ collection: String, _ query: BSONDocument,
        _ hints: BSONDocument
    ) throws {
        try withBytes(query, hints) { query, hints in
            _ = try engineCall {
                tansu_find(
                    database, transaction, collection, query.baseAddress, query.count, hints.baseAddress, hints.count,
                    &handle.pointer, $0)
            }
        }
        handle.interrupt.begin(handle.pointer)
    }

    private func step<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        guard let pointer = handle.pointer else { return nil }
        // A decoder that steps the very cursor whose bytes it reads would pull them away under itself.
        guard !handle.isStepping else {
            throw TansuError(.misuse, "a cursor was used from inside the decoding of its own document")
        }
        handle.isStepping = true
        defer {
            handle.isStepping = false
            if handle.closesAfterStep { close() }
        }
        var document = tansu_document()
        let began = meter.map { _ in ContinuousClock.now }
        let status: tansu_status
        do {
            status = try engineCall { tansu_cursor_next(pointer, &document, $0) }
            meter?.add(since: began, failed: false)
        } catch {
            meter?.add(since: began, failed: true)
            throw error
        }
        guard status == TANSU_OK else {
            handle.closesAfterStep = true
            return nil
        }
        return try body(document.bytes)
    }
}
