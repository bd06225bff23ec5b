import Tansu
import TansuBSON

/// What the command line leaves to the library and to the server.
enum OwnedCollection {
    /// - Throws: `CommandError` for a collection that the library keeps, such as the revisions of a replicated one.
    static func check(_ name: String) throws {
        guard name.hasPrefix("tansu.") else { return }
        throw CommandError(
            code: "INVALID_ARGUMENT",
            message: "The collection \"\(name)\" belongs to the library, which alone writes it",
            remedy: "choose another name; names that begin with \"tansu.\" are reserved", status: .usage)
    }

    /// The collection of the server's accounts.
    static let accounts = "_users"

    /// What is stored of a document: of an account with a password, its hash instead of it, as the server does.
    ///
    /// - Throws: `CommandError` when the password is no text, or this program has no server.
    static func stored(_ document: BSONDocument, in collection: String) throws -> BSONDocument {
        guard collection == accounts, let password = document["password"], !password.isNull else { return document }
        guard let text = password.stringValue else { throw clearPassword("The password of an account is text") }
        guard let hashed = try hashed(document, text) else {
            throw clearPassword("This program cannot hash the passwords of accounts")
        }
        return hashed
    }

    /// - Throws: `CommandError` for an update that would store a password as it is.
    static func check(update fields: BSONDocument, in collection: String) throws {
        guard collection == accounts, fields.contains(key: "password") else { return }
        throw clearPassword("An update does not hash the password of an account")
    }

    /// - Throws: `CommandError` for an update by a pipeline that may store a password: a member of that name which is no
    ///   flag of `$project`, or a `$setField` of it, wherever it stands.
    static func check(pipeline: BSONValue, in collection: String) throws {
        guard collection == accounts, mayStorePassword(pipeline) else { return }
        throw clearPassword("An update does not hash the password of an account")
    }

    /// - Throws: `CommandError` for operations that would store a password as it is, or fields that no replicated document has.
    static func check(operations: BSONDocument, in collection: String, isReplicated: Bool) throws {
        for fields in operations.compactMap({ $0.value.documentValue }) + [operations] {
            try check(update: fields, in: collection)
        }
        try check(pipeline: operations["$pipeline"] ?? .null, in: collection)
        guard isReplicated else { return }
        for (name, fields) in operations {
            guard let fields = fields.documentValue else { continue }
            let isRename = name == "$rename"
            let names =
                isRename ? fields.compactMap { $0.value.stringValue } : name == "$unset" ? [] : fields.keys.map { $0 }
            for name in names where name.prefixUntil(".") != "_id" {
                try SyncLayer.check([name.prefixUntil("."): 0], in: collection)
            }
        }
    }

    /// - Throws: `CommandError` for a collection that a pipeline must not write to.
    static func check(output name: String, of database: Database) throws {
        guard try name == accounts || isReplicated(name, in: database) else { return }
        throw CommandError(
            code: "INVALID_ARGUMENT",
            message: "A pipeline cannot write to the collection \"\(name)\", which is replicated or has accounts",
            remedy: "write to another collection, or save the documents with \"tansu save\"", status: .usage)
    }

    /// - Throws: `CommandError` for options of a collection by which a collection of the library, or accounts, would be
    ///   written, or would not be writable any more: its change tracking and its references.
    static func check(options: BSONDocument, of database: Database) throws {
        if let name = options["changeTracking"]?.stringValue {
            try check(name)
            if try name == accounts || isReplicated(name, in: database) {
                throw CommandError(
                    code: "INVALID_ARGUMENT",
                    message: "The collection \"\(name)\", which is replicated or has accounts, cannot get changed ids",
                    path: "changeTracking", remedy: "name another collection", status: .usage)
            }
        }
        for reference in options["references"]?.arrayValue ?? [] {
            if let name = reference.documentValue?["to"]?.stringValue { try check(name) }
        }
    }

    /// Whether a collection is replicated.
    static func isReplicated(_ collection: String, in database: Database) throws -> Bool {
        try database.collection(OpenDatabase.replicationStates).get(collection) != nil
    }

    private static func mayStorePassword(_ value: BSONValue) -> Bool {
        if let values = value.arrayValue { return values.contains(where: mayStorePassword) }
        guard let fields = value.documentValue else { return false }
        return fields.contains { name, value in
            let isPassword = name == "password" || (name == "field" && namesPassword(value))
            return isPassword && value.boolValue == nil && value.doubleValue == nil
                || name != "$unset" && mayStorePassword(value)
        }
    }

    /// Whether the operand "field" of `$setField` is the password, as text or in `$literal`.
    private static func namesPassword(_ value: BSONValue) -> Bool {
        value.stringValue == "password" || value.documentValue?.first?.value == "password"
    }

    static func clearPassword(_ message: String) -> CommandError {
        CommandError(
            code: "CLEAR_PASSWORD", message: message,
            remedy: "save the account with \"tansu save\", or with PUT /_users/ID to \"tansu serve\"",
            status: .invalidInput)
    }
}

/// The text of a dump, or plain documents one per line, with the hashes of the passwords in accounts instead of these.
final class AccountLines {
    private let source: any ByteSource
    /// The collection of the next line.
    private var collection: String
    /// The beginning of a line.
    private var rest: [UInt8] = []
    private var isAtEnd = false

    /// - Parameter collection: That of plain documents.
    init(_ source: any ByteSource, collection: String?) {
        self.source = source
        self.collection = collection ?? ""
    }

    /// Some lines, or an empty array at the end.
    func next() throws -> [UInt8] {
        while !isAtEnd {
            let chunk = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { memory, count in
                count = try source.read(into: UnsafeMutableRawBufferPointer(memory))
            }
            isAtEnd = chunk.isEmpty
            guard let last = chunk.lastIndex(of: Self.lineFeed) else {
                rest += chunk
                continue
            }
            let lines = rest + chunk[...last]
            rest = Array(chunk[(last + 1)...])
            return try stored(lines)
        }
        defer { rest = [] }
        return try stored(rest)
    }

    private static let lineFeed = UInt8(ascii: "\n")

    /// What is loaded of some lines.
    private func stored(_ lines: [UInt8]) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(lines.count)
        var start = 0
        while start < lines.count {
            let end = lines[start...].firstIndex(of: Self.lineFeed).map { $0 + 1 } ?? lines.count
            result += try stored(line: lines[start..<end])
            start = end
        }
        return result
    }

    private func stored(line: ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
        if Self.isControl(line) {
            let document = try? BSONDocument(extendedJSON: String(decoding: line, as: UTF8.self))
            if let name = document?["$collection"]?.documentValue?["name"]?.stringValue { collection = name }
            return line
        }
        guard collection == OwnedCollection.accounts else { return line }
        let text = String(decoding: line, as: UTF8.self)
        guard let document = try? BSONDocument(extendedJSON: text) else {
            // It is refused when it is loaded, unless it is a document in an older form.
            guard text.utf8.contains(Self.password) || text.utf8.contains(UInt8(ascii: "\\")) else { return line }
            throw OwnedCollection.clearPassword("An account with a password is not extended JSON of version 2")
        }
        let stored = try OwnedCollection.stored(document, in: collection)
        return stored.bytes == document.bytes ? line : (stored.extendedJSONBytes(.canonical) + [Self.lineFeed])[...]
    }

    private static let password = "password".utf8

    /// Whether the first key begins with a dollar sign, which may be written as an escape.
    private static func isControl(_ line: ArraySlice<UInt8>) -> Bool {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let start = line.drop(while: isSpace)
        guard start.first == UInt8(ascii: "{") else { return false }
        let key = start.dropFirst().drop(while: isSpace)
        return ["\"$dump\"", "\"$collection\"", "\"$end\""].contains { key.starts(with: $0.utf8) }
    }
}
