// Short reads run where their task is, because a switch to a thread of the database and back takes much longer than they
// do. Nothing here waits for a writer or for another task.

/// What a read on the executor of its caller may take at most.
enum InPlace {
    /// Documents.
    static let documents = 64
    /// Bytes of documents, because decoding takes time, too.
    static let bytes = 64 << 10
    /// Milliseconds of a query, until it is run again on a thread of the database.
    static let milliseconds = 1
}

extension Session {
    /// Runs a read of some microseconds on the executor of the caller.
    ///
    /// - Returns: What `body` returns; `nil` when the read must run on a thread of the database, because another thread
    ///   uses the transaction now or `body` returned `nil`.
    /// - Throws: What `body` throws; `CancellationError`, without calling it, when the task is cancelled.
    func inPlace<Result>(_ body: () throws -> Result?) throws -> Result? {
        try Task.checkCancellation()
        guard let transaction else { return try body() }
        return try transaction.aloneUnlessBusy(body).flatMap { $0 }
    }
}
