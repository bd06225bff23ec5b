import Foundation
import Tansu
import TansuBSON

extension CommandError {
    /// Converts any error.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandError: self = failure
        case let error as TansuError:
            self.init(code: error.code.description, message: Self.capitalized(error.message), path: error.context)
            // The same answer as on a file system that is mounted read-only.
            if error.code == .io, let number = error.systemErrno, [EACCES, EPERM].contains(number) {
                code = TansuError.Code.readOnly.description
                remedy = "check the permissions"
                status = .noPermission
            }
        case let error as BSONError:
            self.init(code: "INVALID_JSON", message: Self.capitalized(error.description))
        default:
            self.init(code: "INTERNAL", message: Self.capitalized(String(describing: error)), status: .software)
        }
    }

    /// The text with a capital first letter.
    static func capitalized(_ text: String) -> String {
        guard let first = text.first, first.isLowercase else { return text }
        return first.uppercased() + text.dropFirst()
    }
}
