extension EngineScope {
    /// Runs `body`, a call of the engine, and measures it where somebody wants to know.
    func measured<Result>(_ call: @autoclosure () -> MeasuredCall, _ body: () throws -> Result) throws -> Result {
        try engine.measured(call(), body)
    }
}

extension EngineDatabase {
    /// Runs `body`, a call of the engine, and measures it where somebody wants to know.
    func measured<Result>(_ call: @autoclosure () -> MeasuredCall, _ body: () throws -> Result) throws -> Result {
        guard let instruments else { return try body() }
        let start = ContinuousClock.now
        do {
            let result = try body()
            instruments.note(call(), ContinuousClock.now - start, failed: false, on: self)
            return result
        } catch {
            instruments.note(call(), ContinuousClock.now - start, failed: true, on: self)
            throw error
        }
    }
}
