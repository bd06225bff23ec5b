import CTansu

extension EngineDatabase {
    /// Opens the engine's database.
    convenience init(opening store: Database.Store, options: Database.Options) throws {
        var choices = tansu_options()
        tansu_options_init(&choices)
        choices.read_only = options.readOnly ? 1 : 0
        choices.must_exist = options.mustExist ? 1 : 0
        choices.durability = options.durability.engineValue
        choices.busy_timeout_ms = options.busyTimeout.engineMilliseconds
        if case .interval(let interval) = options.durability { choices.interval_ms = interval.engineMilliseconds }
        if let size = options.segmentSize { choices.segment_size = UInt64(clamping: size) }
        if let size = options.checkpointBytes { choices.checkpoint_bytes = UInt64(clamping: size) }
        if let size = options.indexCacheBytes { choices.index_cache_bytes = UInt64(clamping: size) }

        let path: String?
        switch store {
        case .persistent(let folder): (choices.store, path) = (TANSU_STORE_PERSISTENT, folder)
        case .temporary(let directory): (choices.store, path) = (TANSU_STORE_TEMPORARY, directory)
        case .memory: (choices.store, path) = (TANSU_STORE_MEMORY, nil)
        }
        if let path, path.utf8.contains(0) {
            throw TansuError(.misuse, "a path cannot hold a NUL character", context: path)
        }
        self.init(try openEngine(choices, path: path, progress: options.progress), Instruments(options))
    }
}

private func openEngine(
    _ choices: tansu_options, path: String?, progress: (@Sendable (UInt64, UInt64) -> Void)?
) throws -> OpaquePointer {
    var choices = choices
    var handle: OpaquePointer?
    // The engine calls back during this call only, so a pointer to a local variable is enough for a context.
    try withUnsafePointer(to: progress) { context in
        if progress != nil {
            choices.progress_context = UnsafeMutableRawPointer(mutating: context)
            choices.progress = { context, done, total in
                context?.assumingMemoryBound(to: (@Sendable (UInt64, UInt64) -> Void)?.self).pointee?(done, total)
            }
        }
        _ = try withOptionalCString(path) { path in
            choices.path = path
            return try engineCall { tansu_open(&choices, &handle, $0) }
        }
    }
    guard let handle else { throw TansuError(.misuse, "the engine opened nothing") }
    return handle
}

private func withOptionalCString<Result>(
    _ text: String?, _ body: (UnsafePointer<CChar>?) throws -> Result
) rethrows -> Result {
    guard let text else { return try body(nil) }
    return try text.withCString { try body($0) }
}

extension Database.Durability {
    /// The engine's value.
    var engineValue: tansu_durability {
        switch self {
        case .full: TANSU_DURABILITY_FULL
        case .process: TANSU_DURABILITY_PROCESS
        case .interval: TANSU_DURABILITY_INTERVAL
        }
    }
}

extension Duration {
    /// Whole milliseconds, as near as the engine's 32 bits can say.
    var engineMilliseconds: UInt32 {
        let (seconds, attoseconds) = components
        let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (seconds < 0 ? 0 : .max) : UInt32(clamping: thousands + attoseconds / 1_000_000_000_000_000)
    }
}
