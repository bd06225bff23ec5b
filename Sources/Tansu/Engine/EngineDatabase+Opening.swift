#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

extension EngineDatabase {
    /// Opens the engine's database.
    convenience init(opening store: Database.Store, options: Database.Options) throws {
        let recorder = CallRecorder(options)
        self.init(try Self.open(store, options, recorder), options, recorder)
    }

    /// Opens the engine's database, whose calls that recorder gets.
    static func open(
        _ store: Database.Store, _ options: Database.Options, _ recorder: CallRecorder?
    ) throws -> OpaquePointer {
        EnginePlatform.prepare()
        var handle: OpaquePointer?
        try withEngineOptions(store, options, recorder) { choices in
            _ = try engineCall { tansu_open(choices, &handle, $0) }
        }
        guard let handle else { throw TansuError(.invalidState, "The engine returned no database") }
        return handle
    }
}

/// Runs `body` with the engine's options, which are valid during this call only, but for the recorder: that must live as
/// long as the database.
func withEngineOptions<Result>(
    _ store: Database.Store, _ options: Database.Options, _ recorder: CallRecorder?,
    _ body: (UnsafePointer<tansu_options>) throws -> Result
) throws -> Result {
    let (choices, path) = try engineOptions(store, options)
    var complete = choices
    recorder?.receive(with: &complete)
    return try withKey(options.key, &complete) { complete in
        try withOptionalCString(path) { path in
            complete.path = path
            guard let progress = options.progress else { return try withUnsafePointer(to: complete, body) }
            return try withEngineProgress(progress) { callback, context in
                complete.progress = callback
                complete.progress_context = context
                return try withUnsafePointer(to: complete, body)
            }
        }
    }
}

/// Runs `body` with the options that have the key.
private func withKey<Result>(
    _ key: DatabaseKey?, _ choices: inout tansu_options, _ body: (inout tansu_options) throws -> Result
) throws -> Result {
    guard let key else { return try body(&choices) }
    return try key.withEngineKey { key in
        choices.key = key.pointee.bytes
        choices.key_size = key.pointee.size
        choices.key_kind = key.pointee.kind
        choices.key_iterations = key.pointee.iterations
        return try body(&choices)
    }
}

/// All options but the pointers, and the path.
private func engineOptions(
    _ store: Database.Store, _ options: Database.Options
) throws -> (tansu_options, path: String?) {
    try options.checkNumbers()
    var choices = tansu_options()
    tansu_options_init(&choices)
    choices.read_only = options.readOnly ? 1 : 0
    choices.allow_writer = options.allowWriter ? 1 : 0
    choices.follow = options.follow ? 1 : 0
    choices.must_exist = options.mustExist ? 1 : 0
    choices.durability = options.durability.engineValue
    choices.busy_timeout_ms = options.busyTimeout.engineMilliseconds
    choices.lock_timeout_ms = options.lockTimeout.engineMilliseconds
    if case .interval(let interval) = options.durability { choices.interval_ms = interval.engineMilliseconds }
    if let size = options.segmentSize { choices.segment_size = UInt64(clamping: size) }
    if let size = options.checkpointBytes { choices.checkpoint_bytes = UInt64(clamping: size) }
    if let size = options.indexCacheBytes { choices.index_cache_bytes = UInt64(clamping: size) }
    if let size = options.sortMemoryBytes { choices.sort_memory_bytes = UInt64(clamping: size) }
    if let size = options.groupMemoryBytes { choices.group_memory_bytes = UInt64(clamping: size) }
    if let size = options.transactionMemoryBytes { choices.transaction_memory_bytes = UInt64(clamping: size) }
    if let size = options.blockCacheBytes { choices.block_cache_bytes = UInt64(clamping: size) }
    if let size = options.maxPinnedBytes { choices.max_pinned_bytes = UInt64(clamping: size) }
    if let percent = options.compactionPercent { choices.compaction_percent = UInt32(clamping: percent) }
    if let percent = options.compactionShare { choices.compaction_share = UInt32(clamping: percent) }

    let path: String?
    switch store {
    case .persistent(let folder): (choices.store, path) = (TANSU_STORE_PERSISTENT, folder)
    case .temporary(let directory): (choices.store, path) = (TANSU_STORE_TEMPORARY, directory)
    case .memory: (choices.store, path) = (TANSU_STORE_MEMORY, nil)
    }
    return (choices, try path?.systemPath())
}

extension DatabaseKey {
    /// What the engine gets; its pointers are valid during this call only.
    func withEngineKey<Result>(_ body: (UnsafePointer<tansu_key>) throws -> Result) throws -> Result {
        let count = try iterations.map { number in
            guard let count = UInt32(exactly: number), count > 0 else {
                throw TansuError(
                    .invalidArgument, "The iterations for a key must be from 256000 to 10000000", context: "key")
            }
            return count
        }
        let kind = kind == .bytes ? TANSU_KEY_BYTES : TANSU_KEY_PASSPHRASE
        return try withExtendedLifetime(secret) {
            let key = tansu_key(
                bytes: UnsafeRawPointer(secret.bytes.baseAddress), size: secret.size, kind: kind,
                iterations: count ?? 0)
            return try withUnsafePointer(to: key, body)
        }
    }
}

extension CallRecorder {
    /// Has the engine pass the calls of a database that is being opened.
    fileprivate func receive(with choices: inout tansu_options) {
        // The engine counts whole milliseconds.
        choices.slow_operation_ms = shortest.engineMilliseconds
        choices.log_all = choices.slow_operation_ms == 0 ? 1 : 0
        choices.log_context = Unmanaged.passUnretained(self).toOpaque()
        choices.log = { context, event in
            guard let context, let event = event?.pointee else { return }
            let recorder = Unmanaged<CallRecorder>.fromOpaque(context).takeUnretainedValue()
            if event.kind == TANSU_LOG_VALIDATION {
                return recorder.warn(
                    of: BSONDocument(trustedBytes: Array(event.query.bytes)),
                    BSONDocument(trustedBytes: Array(event.hints.bytes)), in: String(cString: event.collection))
            }
            guard let kind = CallKind(rawValue: event.kind.rawValue) else { return }
            let isMiss = kind == .get && event.status == TANSU_E_NOT_FOUND
            var call = RecordedCall(
                kind: kind, nanoseconds: Int64(clamping: event.nanoseconds),
                failed: event.status != TANSU_OK && event.status != TANSU_DONE && !isMiss,
                collection: event.collection.map { String(cString: $0) } ?? "")
            // Metrics need no more of every call.
            if recorder.logs(call) {
                if event.query.data != nil { call.query = BSONDocument(trustedBytes: Array(event.query.bytes)) }
                if event.hints.data != nil { call.hints = BSONDocument(trustedBytes: Array(event.hints.bytes)) }
            }
            recorder.receive(call)
        }
    }
}

extension Database.Options {
    /// The same with a key, unless it is `nil`.
    func with(_ key: DatabaseKey?) -> Self {
        guard let key else { return self }
        var options = self
        options.key = key
        return options
    }

    /// Rejects negative numbers, which the engine's types do not have.
    fileprivate func checkNumbers() throws {
        let sizes = [
            ("segmentSize", segmentSize), ("checkpointBytes", checkpointBytes), ("indexCacheBytes", indexCacheBytes),
            ("sortMemoryBytes", sortMemoryBytes), ("groupMemoryBytes", groupMemoryBytes),
            ("transactionMemoryBytes", transactionMemoryBytes), ("blockCacheBytes", blockCacheBytes),
            ("maxPinnedBytes", maxPinnedBytes), ("compactionPercent", compactionPercent),
            ("compactionShare", compactionShare),
        ]
        for case (let name, let number?) in sizes where number < 0 {
            throw TansuError(
                .invalidArgument, "The option \"\(name)\" is \(number) and must not be negative", context: "options")
        }
    }
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
    /// Whole milliseconds, clamped to the engine's 32 bits.
    var engineMilliseconds: UInt32 {
        let (seconds, attoseconds) = components
        let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (seconds < 0 ? 0 : .max) : UInt32(clamping: thousands + attoseconds / 1_000_000_000_000_000)
    }
}
