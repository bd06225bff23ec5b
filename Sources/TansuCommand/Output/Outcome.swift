/// What the process tells the shell when it ends: the numbers of sysexits.h, each for one class of
/// failure, so that a script can act on them.
enum Outcome: Int32, CaseIterable, Sendable {
    /// Everything was done.
    case success = 0
    /// Nothing was found, or some documents of an import were bad and the others are saved.
    case incomplete = 1
    /// The command line itself is wrong (EX_USAGE).
    case usage = 64
    /// The input is bad: JSON, a document, a query, a name or an index (EX_DATAERR).
    case badData = 65
    /// There is no such database, file, collection or index (EX_NOINPUT).
    case noInput = 66
    /// This version of the program cannot do that (EX_UNAVAILABLE).
    case unavailable = 69
    /// A mistake inside the program (EX_SOFTWARE).
    case software = 70
    /// The operating system refused memory or another resource (EX_OSERR).
    case system = 71
    /// The stored files are damaged, or of a newer format (EX_OSFILE).
    case damaged = 72
    /// The database cannot be created there (EX_CANTCREAT).
    case cannotCreate = 73
    /// Reading or writing failed, or the disk is full (EX_IOERR).
    case inputOutput = 74
    /// Another process has it open, or the time ran out: try again (EX_TEMPFAIL).
    case temporary = 75
    /// It may be read but not written (EX_NOPERM).
    case noPermission = 77

    /// What the help says of it.
    var explanation: String {
        switch self {
        case .success: "done"
        case .incomplete: "nothing found, or some of the lines were bad"
        case .usage: "the command line is wrong"
        case .badData: "bad input: JSON, document, query, name or index"
        case .noInput: "no such database, file, collection or index"
        case .unavailable: "not in this version"
        case .software: "a mistake inside tansu; please report it"
        case .system: "out of memory or another resource"
        case .damaged: "the database's files are damaged or newer than this tansu"
        case .cannotCreate: "the database cannot be created there"
        case .inputOutput: "reading or writing failed, or the disk is full"
        case .temporary: "the database is in use, or time ran out: try again"
        case .noPermission: "the database may be read but not written"
        }
    }

    /// The list of all of them as it stands in the help.
    static var helpText: String {
        allCases.map { status in
            let number = String(status.rawValue)
            let padding = String(repeating: " ", count: 4 - number.count)
            return "  \(number)\(padding)\(status.explanation)"
        }
        .joined(separator: "\n")
    }

    /// The status for an engine error, by the lasting name of its code such as "NOT_UNIQUE".
    init(errorCode: String) {
        self =
            switch errorCode {
            case "INVALID_NAME", "INVALID_BSON", "INVALID_DOCUMENT", "INVALID_ID", "INVALID_QUERY",
                "INVALID_INDEX", "INVALID_JSON", "INVALID_COMMAND", "TOO_LARGE", "NOT_UNIQUE",
                "EXISTS":
                .badData
            case "NOT_FOUND": .noInput
            case "UNSUPPORTED": .unavailable
            case "MEMORY": .system
            case "CORRUPT", "VERSION": .damaged
            case "IO", "FULL", "FAILED": .inputOutput
            case "LOCKED", "BUSY", "TIMEOUT", "CANCELLED": .temporary
            case "READ_ONLY": .noPermission
            default: .software
            }
    }
}
