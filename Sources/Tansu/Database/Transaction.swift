extension Database {
    /// One transaction, inside the closure of `write` or `read`.
    ///
    /// Its collections work in it. After the closure ended, they and their cursors throw `.misuse`. Several
    /// tasks may use it, one waiting for another.
    ///
    /// This is how to stop a long call that is not async, such as a count or an update, from another thread:
    /// make it in a `read` or `write` whose transaction the other thread knows, and call ``cancel()`` there.
    ///
    /// ```swift
    /// let count = try db.read { tx in
    ///     stopButton.onPress { tx.cancel() }
    ///     return try tx.collection("people").count(["name": ["$regex": "x"]])
    /// }
    /// ```
    public final class Transaction: Sendable {
        let engine: EngineTransaction
        let session: Session

        init(_ database: Database, _ engine: EngineTransaction, lane: WorkLane) {
            self.engine = engine
            session = Session(database, engine, lane: lane)
        }

        /// Stops it for good, from any thread: the call that is in it now and every later one throw `.cancelled`
        /// (a long one soon), and so does the `write` itself at its end, which then keeps nothing.
        ///
        /// Harmless at any time. A transaction whose commit has begun is past being stopped.
        public func cancel() {
            engine.cancel()
        }

        /// A part of a `write` that may fail alone: when the closure throws, what it did to documents is taken back, and
        /// the transaction goes on for whoever catches the error.
        ///
        /// For example:
        ///
        /// ```swift
        /// try db.write { tx in
        ///     let people = try tx.collection("people")
        ///     for order in orders {
        ///         do {
        ///             try tx.savepoint { try book(order, in: people) }
        ///         } catch { rejected.append(order) }
        ///     }
        /// }
        /// ```
        ///
        /// One may stand in another. Inside, making and dropping indexes, and removing and renaming collections, throws
        /// `.misuse`: those could not be taken back. Tasks that share the transaction wait for the closure's end.
        ///
        /// - Parameter body: What to do, through the transaction's collections.
        /// - Returns: What the closure returns.
        /// - Throws: The closure's error; ``TansuError`` with `.readOnly` (in a `read`) or `.misuse` (after the end).
        public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
            try engine.savepoint(body)
        }
    }
}
