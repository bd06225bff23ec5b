import CTansu

/// Runs `body` with a callback and its context, through which the engine reports its progress.
///
/// An error that `progress` throws ends the engine's work, and is rethrown instead of the engine's error.
func withEngineProgress<Result>(
    _ progress: (Database.Progress) throws -> Void,
    _ body: (_ callback: tansu_progress, _ context: UnsafeMutableRawPointer) throws -> Result
) throws -> Result {
    // The engine calls back only during this call, so that the context can be a pointer to a local variable.
    try withoutActuallyEscaping(progress) { progress in
        var listener = ProgressListener(progress: progress)
        do {
            return try withUnsafeMutablePointer(to: &listener) { pointer in
                return try body(
                    { context, done, total in
                        let listener = context?.assumingMemoryBound(to: ProgressListener.self)
                        return listener?.pointee.report(done, total) ?? true ? 1 : 0
                    }, pointer)
            }
        } catch {
            throw listener.error ?? error
        }
    }
}

private struct ProgressListener {
    let progress: (Database.Progress) throws -> Void
    /// What `progress` threw.
    var error: (any Error)?

    /// Whether to continue.
    mutating func report(_ done: UInt64, _ total: UInt64) -> Bool {
        do {
            try progress(Database.Progress(done: Int(clamping: done), total: total == 0 ? nil : Int(clamping: total)))
            return true
        } catch {
            self.error = error
            return false
        }
    }
}
