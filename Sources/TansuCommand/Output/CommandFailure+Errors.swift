import Tansu
import TansuBSON

extension CommandFailure {
    /// Any error in the form that users read.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as TansuError:
            self.init(code: error.code.description, message: Self.sentence(error.message), path: error.context)
        case let error as BSONError:
            self.init(code: "INVALID_JSON", message: Self.sentence(error.description))
        default:
            self.init(code: "INTERNAL", message: Self.sentence(String(describing: error)), status: .software)
        }
    }

    /// With a capital at its beginning, unless it begins with a name or a sign.
    static func sentence(_ text: String) -> String {
        guard let first = text.first, first.isLowercase else { return text }
        return first.uppercased() + text.dropFirst()
    }
}
