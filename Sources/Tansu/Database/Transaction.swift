extension Database {
    /// One transaction, inside the closure of `write` or `read`.
    ///
    /// Its collections work in it. After the closure ended, they and their cursors throw `.misuse`. Several
    /// tasks may use it, one waiting for another.
    public final class Transaction: Sendable {
        let engine: EngineTransaction
        let session: Session

        init(_ database: Database, _ engine: EngineTransaction, lane: WorkLane) {
            self.engine = engine
            session = Session(database, engine, lane: lane)
        }
    }
}
