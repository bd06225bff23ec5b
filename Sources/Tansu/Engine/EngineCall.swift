import CTansu

/// Calls the engine with an error to fill in, and throws that error unless the call succeeded.
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
    /// Turns the engine's error into Swift's; the status rules, for it is always there.
    init(status: tansu_status, error: tansu_error) {
        let message = text(inBytesOf: error.message)
        self.init(
            Code(rawValue: UInt32(status.rawValue)),
            message.isEmpty ? "the engine answered \(String(cString: tansu_status_name(status)))" : message,
            context: text(inBytesOf: error.context),
            offset: error.offset < 0 ? nil : error.offset,
            systemErrno: error.sys_errno == 0 ? nil : error.sys_errno
        )
    }
}

/// Swift imports a C array as a tuple: this reads the NUL-terminated text in one.
private func text<Tuple>(inBytesOf tuple: Tuple) -> String {
    withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
