import Foundation

/// What a file or folder is, judged by its first bytes: for messages about a path of the wrong kind.
enum FileKind: Equatable {
    /// A file of `tansu backup --file`.
    case backup
    /// A file of `tansu dump`.
    case dump
    /// A file of `tansu backup --file` or `tansu dump` that is encrypted.
    case encrypted
    case database
    case folder
    case sqlite
    /// A database of Tokyo Cabinet, as EJDB 1 has several.
    case tokyoCabinet
    case json
    /// Text whose first line has commas, semicolons or tabs.
    case separated
    /// No text.
    case binary
    case other

    /// The number of bytes that suffice.
    static let headCount = 512

    init(path: String) {
        if let folder = FileKind(folder: path) {
            self = folder
            return
        }
        // What was read from a pipe would be missing afterwards.
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        let isFile = attributes?[.type] as? FileAttributeType == .typeRegular
        let source = isFile ? try? openByteSource(path: path) : nil
        self = (try? source.map { try DocumentReader($0).kind() }) ?? .other
    }

    /// The kind of a folder, or nil when there is none at the path.
    init?(folder path: String) {
        var isFolder: ObjCBool = false
        let files = FileManager.default
        guard files.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else { return nil }
        self = files.fileExists(atPath: path + "/MANIFEST") ? .database : .folder
    }

    /// The kind of a file with these first bytes, which are decompressed if the file is.
    init(head: [UInt8]) {
        var text = head.drop { $0.isJSONBlank || [0xEF, 0xBB, 0xBF].contains($0) }
        // An import skips the line that says why the text below it was rejected.
        while text.starts(with: RejectsFile.mark) {
            text = text.drop { $0 != .newline }.drop { $0.isJSONBlank }
        }
        func begins(_ prefix: String) -> Bool { text.starts(with: prefix.utf8) }
        if begins("TANSUBAK") {
            self = .backup
        } else if begins("TANSUENC") {
            self = .encrypted
        } else if begins("SQLite format 3") {
            self = .sqlite
        } else if begins("ToKyO CaBiNeT") {
            self = .tokyoCabinet
        } else if begins("{\"$dump\"") {
            self = .dump
        } else if begins("{") || begins("[") {
            self = .json
        } else if text.contains(0) {
            self = .binary
        } else {
            let line = text.prefix { $0 != .newline && $0 != .carriageReturn }
            self = RowParser.separators.contains { line.contains($0) } ? .separated : .other
        }
    }

    /// The kind as a noun with its article.
    var description: String {
        switch self {
        case .backup: "a backup"
        case .dump: "a dump"
        case .encrypted: "an encrypted backup or dump"
        case .database: "a database"
        case .folder: "a folder with other files"
        case .sqlite: "a SQLite database"
        case .tokyoCabinet: "a Tokyo Cabinet database"
        case .json: "a JSON file"
        case .separated: "a text file"
        case .binary: "a binary file"
        case .other: "a file"
        }
    }

    /// What to do with a file of this kind, or nil when there is no command for it.
    func remedy(for path: String) -> String? {
        let path = shellQuoted(path)
        return switch self {
        case .backup: "create a database from it with \"tansu restore \(path) FOLDER\""
        case .dump: "load it with \"tansu load DATABASE \(path)\""
        case .encrypted: "use it with \"tansu restore\" or \"tansu load\", and its key"
        case .database: "copy it with \"tansu dump \(path) | tansu load DATABASE\" or \"tansu backup\""
        case .json: "import it with \"tansu import DATABASE \(path)\""
        case .separated: "import it with \"tansu import DATABASE \(path) --format csv\""
        case .sqlite: "import its tables with \"tansu import DATABASE --sqlite \(path)\""
        case .tokyoCabinet: "import the database of EJDB with \"tansu import DATABASE --ejdb \(path)\""
        case .binary: "export it as JSON or CSV, or name the encoding of a text with \"tansu import --encoding\""
        case .folder, .other: nil
        }
    }

    /// The error for a file of this kind where another is needed, or nil when the kind has no remedy.
    func error(for path: String, wanted: String) -> CommandError? {
        guard let remedy = remedy(for: path) else { return nil }
        return .wrongFile(path, "is \(description), not \(wanted)", remedy: "\(remedy); nothing was changed")
    }
}

extension CommandError {
    /// The error for a file of another kind than the one that is needed.
    ///
    /// - Parameter fault: What follows the path: "is no database".
    static func wrongFile(_ path: String, _ fault: String, remedy: String = "nothing was changed") -> CommandError {
        CommandError(
            code: "WRONG_FILE", message: "\"\(path)\" \(fault)", path: path, remedy: remedy, status: .invalidInput)
    }
}

extension DocumentReader {
    /// What the input is. It must be called before the first `next()`.
    func kind() throws -> FileKind {
        _ = try byte(at: FileKind.headCount - 1)
        let head = buffer.withBytes(0..<min(buffer.count, FileKind.headCount)) { Array($0) }
        return FileKind(head: head)
    }

    /// Whether the input begins as a JSON object, or as an array of them. It must be called before the first `next()`.
    func hasObjects() throws -> Bool {
        _ = try byte(at: FileKind.headCount - 1)
        return buffer.withBytes(0..<min(buffer.count, FileKind.headCount)) { bytes in
            let text = bytes.drop { $0.isJSONBlank || [0xEF, 0xBB, 0xBF].contains($0) }
            if text.first == .openBracket { return text.dropFirst().drop { $0.isJSONBlank }.first == .openBrace }
            return text.first == .openBrace
        }
    }
}

/// The format of the documents of an input.
enum InputFormat: String, CaseIterable, Sendable {
    /// One JSON object after another, on one line or several, or one JSON array of objects.
    case json
    /// Comma-separated values (RFC 4180) with a header, also with semicolons, tabs or bars.
    case csv
    /// Tab-separated values with a header, quoted as CSV.
    case tsv

    /// The format by the extension of a file name, without ".gz" and ".zst".
    init(file path: String) {
        var name = (path as NSString).lastPathComponent.lowercased() as NSString
        if ["gz", "zst"].contains(name.pathExtension) { name = name.deletingPathExtension as NSString }
        switch name.pathExtension {
        case "csv": self = .csv
        case "tsv", "tab": self = .tsv
        default: self = .json
        }
    }
}
