import CTansu

/// Calls the engine, and throws its error unless the call succeeded.
///
/// - Returns: `TANSU_OK` or `TANSU_DONE`.
@discardableResult
func engineCall(_ body: (UnsafeMutablePointer<tansu_error>) throws -> tansu_status) throws -> tansu_status {
    var error = tansu_error()
    error.offset = -1
    let status = try body(&error)
    guard status == TANSU_OK || status == TANSU_DONE else {
        throw TansuError(status: status, error: error)
    }
    return status
}

extension TansuError {
    /// The engine's error as Swift's. The status is authoritative; message and context may be empty.
    init(status: tansu_status, error: tansu_error) {
        let message = EngineMessages.translated(text(inBytesOf: error.message))
        self.init(
            Code(rawValue: UInt32(status.rawValue)),
            message.isEmpty ? "The engine returned \(String(cString: tansu_status_name(status)))" : message,
            context: EngineMessages.translated(context: text(inBytesOf: error.context)),
            offset: error.offset < 0 ? nil : error.offset,
            systemErrno: error.sys_errno == 0 ? nil : error.sys_errno
        )
    }
}

/// Swift imports a C array as a tuple: this reads the NUL-terminated text in one.
private func text<Tuple>(inBytesOf tuple: Tuple) -> String {
    withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
