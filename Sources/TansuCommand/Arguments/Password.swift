import Foundation
import TansuBSON

/// The text of a file that an option names.
///
/// - Throws: `CommandError` with "NOT_FOUND" when it cannot be read.
func contents(of file: String) throws -> String {
    do {
        return try String(contentsOfFile: file, encoding: .utf8)
    } catch {
        throw CommandError(
            code: "NOT_FOUND", message: "The file \"\(file)\" cannot be read", path: file,
            remedy: "check the path and the permissions")
    }
}

/// A password, which is never an argument: the first line of a file, or without one the value of an environment variable.
///
/// - Parameter whose: Who has it, such as `The user "anna"`.
/// - Throws: `CommandError` with "NO_PASSWORD" when it is empty or missing.
func password(of whose: String, file: String?, variable: String) throws -> String {
    let password =
        if let file {
            try contents(of: file).prefixUntil("\n").prefixUntil("\r")
        } else {
            ProcessInfo.processInfo.environment[variable] ?? ""
        }
    guard password.isEmpty else { return password }
    throw CommandError(
        code: "NO_PASSWORD", message: "\(whose) has no password", path: file ?? "",
        remedy: "write it to a file and name it with --password-file, or set \(variable)", status: .usage)
}
