import Foundation
import Tansu
import TansuBSON

#if TansuSync
    import TansuSync
#endif

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
        #if TansuSync
            case let error as ReplicationError: self.init(replicating: error)
        #endif
        default:
            self.init(code: "INTERNAL", message: Self.capitalized(String(describing: error)), status: .software)
        }
    }

    /// The text with a capital first letter.
    static func capitalized(_ text: String) -> String {
        guard let first = text.first, first.isLowercase else { return text }
        return first.uppercased() + text.dropFirst()
    }

    #if TansuSync
        /// Why a collection is not replicated, or not with that document.
        init(replicating error: ReplicationError) {
            let (code, status): (String, CommandExitCode) =
                switch error.code {
                case .unreachable: ("UNREACHABLE", .temporary)
                case .unauthorized: ("UNAUTHORIZED", .noPermission)
                case .forbidden: ("FORBIDDEN", .noPermission)
                case .noSuchDatabase: ("NOT_FOUND", .noInput)
                case .invalidURL: ("INVALID_URL", .usage)
                case .invalidOptions: ("INVALID_OPTIONS", .usage)
                case .invalidAnswer: ("INVALID_ANSWER", .invalidInput)
                case .corrupt: ("CORRUPT", .corrupt)
                case .notReplicated, .unusableID, .reservedField, .refused:
                    ("NOT_REPLICABLE", .invalidInput)
                }
            // Swift's name of an option says nothing here.
            let message = error.description.replacing(
                "trustedCertificates, or --trusted-certificates of tansu", with: "--trusted-certificates")
            self.init(code: code, message: message, status: status)
        }
    #endif
}
