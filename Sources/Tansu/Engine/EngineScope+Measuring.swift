extension EngineScope {
    /// Runs `body`, a call of the engine, and records it when the database was opened with a logger or metrics.
    func measured<Result>(_ call: @autoclosure () -> MeasuredCall, _ body: () throws -> Result) throws -> Result {
        try engine.measured(recorded(call()), isTrial: isTrial, body)
    }

    /// A call as it is recorded: with the type of the collection.
    func recorded(_ call: MeasuredCall) -> MeasuredCall {
        var call = call
        call.collectionType = collectionType
        return call
    }

    /// The hints of a call as they are recorded: without the time limit of a trial.
    func recorded(_ hints: BSONDocument) -> BSONDocument {
        var hints = hints
        if isTrial { hints["$maxTimeMS"] = nil }
        return hints
    }
}

extension EngineDatabase {
    /// Runs `body`, a call of the engine, and records it when the database was opened with a logger or metrics.
    ///
    /// - Parameter isTrial: Whether the call is made again, and recorded then, when it exceeds its time limit.
    func measured<Result>(
        _ call: @autoclosure () -> MeasuredCall, isTrial: Bool = false, _ body: () throws -> Result
    ) throws -> Result {
        guard recorder != nil else { return try body() }
        let start = ContinuousClock.now
        do {
            let result = try body()
            record(call(), ContinuousClock.now - start, failed: false)
            return result
        } catch let error as TansuError where isTrial && error.code == .timeout {
            throw error
        } catch {
            record(call(), ContinuousClock.now - start, failed: true)
            throw error
        }
    }

    /// Records a call that has ended.
    func record(_ call: MeasuredCall, _ duration: Duration, failed: Bool) {
        recorder?.record(call, duration, failed: failed) { [weak self] query, hints, collection in
            self.flatMap { try? EngineScope(engine: $0, transaction: nil).explain(query, hints, in: collection) }
        }
    }
}
