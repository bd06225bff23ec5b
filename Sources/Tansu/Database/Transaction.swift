extension Database {
    /// One transaction, inside the closure of `write` or `read`.
    ///
    /// Its collections work in it. After the end of the closure they and their cursors throw `.invalidState`. Several
    /// tasks may use it; their calls are serialized.
    ///
    /// To cancel a long synchronous call, such as a count or an update, from another thread, make it in a `read` or
    /// `write`, and call ``cancel()`` of its transaction on the other thread.
    ///
    /// ```swift
    /// let count = try db.read { tx in
    ///     stopButton.onPress { tx.cancel() }
    ///     return try tx.collection("people").count(["name": ["$regex": "x"]])
    /// }
    /// ```
    public final class Transaction: Sendable {
        let engine: EngineTransaction
        package let session: Session

        init(_ database: Database, _ engine: EngineTransaction, queue: WorkQueue) {
            self.engine = engine
            session = Session(database, engine, queue: queue)
        }

        /// Cancels it, from any thread: the running call and every later one throw `.cancelled` (a long call soon), and
        /// so does the `read` or `write` itself at its end; a `write` then rolls back.
        ///
        /// It may be called at any time. A commit that has begun is not cancelled.
        public func cancel() {
            engine.cancel()
        }

        /// Checks documents by their checksums where they are read from now on, for copies of them: one that is not intact is
        /// an error then. Other reads trust what was written.
        package func checkDocuments() throws { try engine.checkDocuments() }

        /// The number of its commit, as ``Database/Change`` has it; nil until it is committed.
        package var commitSequence: Int? { engine.commitSequence }

        /// Runs the closure in a savepoint: when it throws, its changes of documents are rolled back, and the
        /// transaction continues if the error is caught.
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
        /// Savepoints can be nested. Inside, creating and dropping indexes, and dropping and renaming collections,
        /// throws `.invalidState`: those cannot be rolled back. Tasks that share the transaction wait for the end of
        /// the closure.
        ///
        /// - Parameter body: What to do, through the transaction's collections.
        /// - Returns: What the closure returns.
        /// - Throws: The closure's error; ``TansuError`` with `.readOnly` (in a `read`) or `.invalidState` (after the
        ///   end).
        public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
            try engine.savepoint(body)
        }
    }
}
