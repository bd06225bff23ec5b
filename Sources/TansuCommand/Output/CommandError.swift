import Foundation
import Tansu
import TansuBSON

/// An error of a command, with the text and the exit status for the user.
struct CommandError: Error, Sendable, Equatable {
    /// The stable name of the error, such as "NOT_FOUND". Most are the names of the engine.
    var code: String
    /// The description of the error: a capital first letter and no full stop.
    var message: String
    /// The file, collection or operator that the error is about, or an empty string.
    var path: String
    /// The suggested action or the consequence, in lower case, or an empty string.
    var remedy: String
    /// The exit status of the process.
    var status: CommandExitCode
    /// The number of the document at fault when several were saved, counted from 0, as in JSON commands.
    var document: Int?
    /// Where the statement at fault stands in a script, or an empty string.
    var place = ""
    /// The line that the error is about and a mark below the place, for a text that was typed; or an empty string.
    var excerpt = ""
    /// Whether the output could not be written, after all the command's work.
    var isOfOutput = false

    init(
        code: String, message: String, path: String = "", remedy: String = "",
        status: CommandExitCode? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.remedy = remedy
        self.status = status ?? CommandExitCode(errorCode: code)
    }

    /// The error as a line of text: message, remedy, code and path.
    var text: String {
        let sentence = remedy.isEmpty ? message : "\(message); \(remedy)"
        let location = path.isEmpty ? code : "\(code), \(path)"
        let start = place.isEmpty ? "" : "\(place): "
        return "tansu: \(TextTable.printable(start + sentence)) [\(TextTable.printable(location))]"
    }

    /// The error as a JSON object, in the same form as in the results of the engine's JSON commands.
    var json: String {
        var members = ["\"code\": \(jsonText(code))", "\"message\": \(jsonText(message))"]
        members.append("\"path\": \(jsonText(path))")
        if let document { members.append("\"document\": \(document)") }
        if !place.isEmpty { members.append("\"place\": \(jsonText(place))") }
        if !remedy.isEmpty { members.append("\"remedy\": \(jsonText(remedy))") }
        return "{\"ok\": false, \"error\": {\(members.joined(separator: ", "))}}"
    }

    /// Writes the error to standard error.
    func report(asJSON: Bool) {
        writeError(asJSON ? json : excerpt.isEmpty ? text : "\(text)\n\(excerpt)")
    }
}

/// A JSON string literal of a text.
func jsonText(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\r": result += "\\r"
        case "\t": result += "\\t"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}

// MARK: - Conversion

extension CommandError {
    /// What a program says that was built without a trait.
    init(builtWithout part: String, trait: String) {
        self.init(
            code: "UNSUPPORTED", message: "This \"tansu\" was built without \(part)",
            remedy: "build it with \"swift build -c release --traits \(trait)\"", status: .unavailable)
    }

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
        case let refusal as CommandRefusal:
            self.init(
                code: refusal.code.rawValue, message: refusal.message, path: refusal.path, remedy: refusal.remedy,
                status: refusal.code == .invalidArgument ? .usage : .invalidInput)
        case let error as BSONError:
            self.init(code: "INVALID_JSON", message: Self.capitalized(error.description))
        default:
            self =
                SyncLayer.commandError(error)
                ?? CommandError(
                    code: "INTERNAL", message: Self.capitalized(String(describing: error)), status: .software)
        }
    }

    /// The text with a capital first letter.
    static func capitalized(_ text: String) -> String {
        guard let first = text.first, first.isLowercase else { return text }
        return first.uppercased() + text.dropFirst()
    }
}

// MARK: - CommandExitCode

/// The exit status of the process, with the numbers of sysexits.h, so that scripts can distinguish classes of errors.
enum CommandExitCode: Int32, CaseIterable, Sendable {
    /// The command succeeded.
    case success = 0
    /// Nothing was found, or the command skipped invalid documents or lost data.
    case incomplete = 1
    /// The command line is invalid (EX_USAGE).
    case usage = 64
    /// The input is invalid: JSON, a document, a query, a name or an index (EX_DATAERR).
    case invalidInput = 65
    /// A database, file, collection or index does not exist (EX_NOINPUT).
    case noInput = 66
    /// This version does not support the operation (EX_UNAVAILABLE).
    case unavailable = 69
    /// An internal error of the program (EX_SOFTWARE).
    case software = 70
    /// Memory or another system resource is exhausted (EX_OSERR).
    case system = 71
    /// The database is corrupt or has another format (EX_OSFILE).
    case corrupt = 72
    /// The database or file cannot be created (EX_CANTCREAT).
    case cannotCreate = 73
    /// A read or a write failed, or the disk is full (EX_IOERR).
    case inputOutput = 74
    /// The database is locked, or a timeout expired (EX_TEMPFAIL).
    case temporary = 75
    /// The database is read-only, or its files may not be written or read, or its key is missing (EX_NOPERM).
    case noPermission = 77
    /// Ctrl-C ended the command. The shell's number for it.
    case interrupted = 130

    /// The explanation in the help.
    var explanation: String {
        switch self {
        case .success: "success"
        case .incomplete: "nothing found, invalid lines skipped, or data lost"
        case .usage: "invalid command line"
        case .invalidInput: "invalid input: JSON, document, query, name or index"
        case .noInput: "no such database, file, collection or index"
        case .unavailable: "not supported by this version"
        case .software: "internal error; please report it"
        case .system: "out of memory or another system resource"
        case .corrupt: "the database is corrupt or has another format"
        case .cannotCreate: "the database or file cannot be created"
        case .inputOutput: "a read or a write failed, or the disk is full"
        case .temporary: "the database is locked, or a timeout expired; try again"
        case .noPermission: "the database is read-only, or permission or the key is missing"
        case .interrupted: "interrupted; what was committed before is kept"
        }
    }

    /// The list of all exit codes for the help.
    static var helpText: String {
        allCases.map { status in
            let number = String(status.rawValue)
            let padding = String(repeating: " ", count: 5 - number.count)
            return "  \(number)\(padding)\(status.explanation)"
        }
        .joined(separator: "\n")
    }

    /// The status of an error by the stable name of its code, such as "NOT_UNIQUE".
    init(errorCode: String) {
        self =
            switch errorCode {
            case "INVALID_NAME", "INVALID_BSON", "INVALID_DOCUMENT", "INVALID_ID", "INVALID_QUERY",
                "INVALID_INDEX", "INVALID_JSON", "INVALID_COMMAND", "TOO_LARGE", "NOT_UNIQUE",
                "EXISTS", "REFERENCED":
                .invalidInput
            case "NOT_FOUND": .noInput
            case "UNSUPPORTED": .unavailable
            case "MEMORY": .system
            case "CORRUPT", "VERSION": .corrupt
            case "IO", "FULL", "SYNC_FAILED", "MOVED": .inputOutput
            case "LOCKED", "BUSY", "TIMEOUT", "CANCELLED": .temporary
            case "INVALID_ARGUMENT", "USAGE": .usage
            case "INTERRUPTED": .interrupted
            case "READ_ONLY", "ENCRYPTED", "WRONG_KEY": .noPermission
            default: .software
            }
    }
}
