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
    /// The database is read-only, or its files may not be written or read (EX_NOPERM).
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
        case .noPermission: "the database is read-only, or permission is missing"
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
            case "READ_ONLY": .noPermission
            default: .software
            }
    }
}
