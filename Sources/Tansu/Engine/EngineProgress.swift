import CTansu

/// Runs `body` with a function and its context, through which the engine tells `progress` how far it is.
///
/// What `progress` throws ends the engine's work, and is thrown on in the place of the engine's own error.
func withEngineProgress(
    _ progress: (Database.Progress) throws -> Void,
    _ body: (_ tell: tansu_build_progress, _ context: UnsafeMutableRawPointer) throws -> Void
) throws {
    // The engine calls back during this call only, so a pointer to a local variable is enough for a context.
    try withoutActuallyEscaping(progress) { progress in
        var listener = ProgressListener(progress: progress)
        do {
            try withUnsafeMutablePointer(to: &listener) { pointer in
                try body(
                    { context, done, total in
                        let listener = context?.assumingMemoryBound(to: ProgressListener.self)
                        return listener?.pointee.hear(done, total) ?? true ? 1 : 0
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

    /// Whether to go on.
    mutating func hear(_ done: UInt64, _ total: UInt64) -> Bool {
        do {
            try progress(Database.Progress(done: Int(clamping: done), total: total == 0 ? nil : Int(clamping: total)))
            return true
        } catch {
            self.error = error
            return false
        }
    }
}
