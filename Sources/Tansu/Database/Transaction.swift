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
    }
}
