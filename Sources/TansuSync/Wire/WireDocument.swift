#if TansuSync
import TansuBSON

/// What CouchDB takes as the id of a document and as the name of an attachment.
package enum DocumentName {
    /// What the ids of design documents begin with.
    package static let designPrefix = "_design/"
    /// What the ids of documents that are not replicated begin with.
    package static let localPrefix = "_local/"

    /// Whether a member that begins with `_` is one that CouchDB's replicator writes into its documents, which is kept.
    static func isReplicatorMember(_ name: String) -> Bool {
        [
            "_replication_id", "_replication_state", "_replication_state_time", "_replication_state_reason",
            "_replication_stats",
        ].contains(name)
    }

    /// Checks an id.
    ///
    /// - Throws: ``WireError`` when CouchDB refuses it.
    package static func validate(id: String) throws(WireError) {
        guard !id.isEmpty else { throw WireError(.illegalDocumentID, "Document id must not be empty") }
        guard id.utf8.first == UInt8(ascii: "_") else { return }
        for prefix in [designPrefix, localPrefix] where id.utf8.starts(with: prefix.utf8) {
            guard id != prefix else { throw WireError(.illegalDocumentID, "Illegal document id `\(prefix)`") }
            return
        }
        throw WireError(.illegalDocumentID, "Only reserved document ids may start with underscore.")
    }

    /// Checks the name of an attachment.
    ///
    /// - Throws: ``WireError`` when it begins with `_`, or has a zero byte: names are keys in JSON.
    package static func validate(attachment name: String) throws(WireError) {
        guard name.utf8.first != UInt8(ascii: "_") else {
            throw WireError(.badRequest, "Attachment name '\(name)' starts with prohibited character '_'")
        }
        guard !name.utf8.contains(0) else {
            throw WireError(.badRequest, "Attachment name '\(name)' has a NUL character")
        }
    }
}

/// A JSON object whose keys may be any text, such as the ids of documents: the keys of BSON have no zero byte.
package enum WireObject {
    /// Reads the JSON text. Of several equal keys the last one wins.
    ///
    /// - Returns: The members in their order; nil when the text is no object.
    /// - Throws: ``BSONError`` when it is no JSON.
    package static func members(json utf8: [UInt8]) throws -> [(key: String, value: BSONValue)]? {
        do {
            guard case .document(let document) = try BSONValue(plainJSON: utf8) else { return nil }
            return document.map { ($0.key, $0.value) }
        } catch let error as BSONError where error.code == .invalidKey {
            return try members(cutting: utf8, error)
        }
    }

    /// Cuts the text at the colons and commas between the members of the outer object.
    ///
    /// - Parameter error: What is thrown for a text that is no object.
    private static func members(
        cutting text: [UInt8], _ error: BSONError
    ) throws -> [(key: String, value: BSONValue)] {
        var members: [(key: String, value: BSONValue)] = []
        var positions: [BytewiseText: Int] = [:]
        var key: String?
        var start = 0
        var depth = 0
        var isInString = false
        var isEscaped = false
        for (index, byte) in text.enumerated() {
            if isInString {
                (isInString, isEscaped) = (
                    isEscaped || byte != UInt8(ascii: "\""), !isEscaped && byte == UInt8(ascii: "\\")
                )
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth == 1 {
                    guard byte == UInt8(ascii: "{"), start == 0 else { throw error }
                    start = index + 1
                }
            case UInt8(ascii: ":") where depth == 1 && key == nil:
                guard case .string(let name) = try BSONValue(plainJSON: text[start..<index]) else { throw error }
                key = name
                start = index + 1
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == 1 {
                    guard let name = key, byte != UInt8(ascii: "]") else { throw error }
                    let value = try BSONValue(plainJSON: text[start..<index])
                    if let position = positions[BytewiseText(name)] {
                        members[position].value = value
                    } else {
                        positions[BytewiseText(name)] = members.count
                        members.append((name, value))
                    }
                    key = nil
                    start = index + 1
                }
                if byte != UInt8(ascii: ",") { depth -= 1 }
            case 0x20, 0x09, 0x0A, 0x0D: break
            default: if depth < 1 { throw error }
            }
        }
        guard depth == 0, !isInString, key == nil else { throw error }
        return members
    }
}

/// A document as a client sends it, read as CouchDB 3.5 reads it.
package struct WireDocument: Sendable {
    /// `_id`.
    package var id: String?
    /// `_rev`; of `_revisions` the newest.
    package var revision: WireRevision?
    /// `_revisions`, which counts for more than `_rev`.
    package var path: RevisionPath?
    /// Whether there is a `_rev`.
    package private(set) var hasRevision = false
    /// `_deleted`.
    package var isDeleted = false
    /// The other members. Of those that begin with `_` only what replicators write is there.
    package var fields: BSONDocument
    /// `_access`, which CouchDB's own servers use: it keeps it in local documents only.
    package private(set) var systemFields = BSONDocument()
    /// `_attachments`.
    package var attachments: [WireAttachment] = []

    /// Reads the JSON text of one document.
    ///
    /// - Throws: ``WireError`` with CouchDB's words.
    package init(json utf8: some Collection<UInt8>) throws(WireError) {
        let value = try Self.value(json: utf8, documentDepth: 1)
        guard case .document(let document) = value else { throw Self.notAnObject }
        try self.init(WireMembers(document))
    }

    /// Reads a document that was read as JSON already.
    ///
    /// - Throws: ``WireError`` with CouchDB's words.
    package init(_ document: BSONDocument) throws(WireError) {
        try self.init(WireMembers(document))
    }

    static let notAnObject = WireError(.badRequest, "Document must be a JSON object")

    /// The value of JSON text, with objects of extended JSON below a depth read as the types they stand for.
    static func value(json utf8: some Collection<UInt8>, documentDepth: Int) throws(WireError) -> BSONValue {
        do {
            return try BSONValue(wireJSON: utf8, documentDepth: documentDepth)
        } catch let error as BSONError {
            throw WireError(error)
        } catch {
            throw WireError(.badRequest, "invalid UTF-8 JSON")
        }
    }

    /// The fields as a `_local` document keeps them.
    package var localFields: BSONDocument {
        systemFields.isEmpty ? fields : BSONDocument(joining: systemFields, fields)
    }

    init(_ members: WireMembers) throws(WireError) {
        fields = members.fields
        var localRevision: WireRevision?
        for (name, value) in members.special { try read(name, value, &localRevision) }
        revision = path.map { WireRevision.revision($0.revision) } ?? localRevision ?? revision
    }

    private mutating func read(
        _ name: String, _ value: BSONValue, _ localRevision: inout WireRevision?
    ) throws(WireError) {
        switch (name, value) {
        case ("_id", .string(let text)):
            try DocumentName.validate(id: text)
            id = text
        case ("_id", _):
            throw WireError(.illegalDocumentID, "Document id must be a string")
        case ("_rev", .string(let text)):
            revision = try WireRevision(text)
            hasRevision = true
        case ("_rev", _):
            throw .invalidRevision
        case ("_revisions", .document(let fields)):
            if let number = try Self.localRevision(fields) {
                localRevision = .unknown(BytewiseText("0-\(number)"))
            } else {
                path = try Self.path(fields)
            }
        case ("_deleted", .bool(let flag)):
            isDeleted = flag
        case ("_attachments", .document(let members)):
            attachments = try WireAttachment.all(in: members)
        case ("_revs_info", _), ("_conflicts", _), ("_deleted_conflicts", _), ("_local_seq", _):
            // A client sends back what it has read.
            break
        case _ where DocumentName.isReplicatorMember(name):
            fields[name] = value
        case ("_access", _):
            systemFields[name] = value
        default:
            throw WireError(.documentValidation, "Bad special document member: \(name)")
        }
    }

    /// The number in the `_revisions` of a `_local` document, which begin at 0; nil in others, and without one.
    private static func localRevision(_ fields: BSONDocument) throws(WireError) -> String? {
        guard fields["start"]?.integerValue == 0, case .array(let array) = fields["ids"] else { return nil }
        for value in array where value.stringValue == nil {
            throw WireError(.documentValidation, "RevId isn't a string")
        }
        return array.first?.stringValue
    }

    /// The path in `_revisions`; nil when it is empty.
    private static func path(_ fields: BSONDocument) throws(WireError) -> RevisionPath? {
        guard let start = fields["start"]?.integerValue else {
            throw WireError(.documentValidation, "_revisions.start isn't an integer.")
        }
        guard case .array(let array) = fields["ids"] else {
            throw WireError(.documentValidation, "_revisions.ids isn't a array.")
        }
        var ids: [String] = []
        for value in array {
            guard case .string(let id) = value else {
                throw WireError(.documentValidation, "RevId isn't a string")
            }
            ids.append(id)
        }
        guard !ids.isEmpty else { return nil }
        do {
            return try RevisionPath(start: start, ids: ids)
        } catch {
            guard error.code == .invalidHash, ids.contains(where: { $0.utf8.count == 32 }) else {
                throw WireError(.documentValidation, error.message)
            }
            throw WireError(.documentValidation, "RevId isn't a valid hexadecimal")
        }
    }
}

extension BSONValue {
    /// The value of an integer; nil for any other number.
    fileprivate var integerValue: Int? {
        switch self {
        case .int32(let value): Int(value)
        case .int64(let value): Int(value)
        default: nil
        }
    }
}

/// The body of a `_bulk_docs` request.
package struct WireBatch: Sendable {
    /// The documents in the order in which they were sent.
    package let documents: [WireDocument]
    /// `new_edits`, if the client said it.
    package let newEdits: Bool?

    /// Reads the JSON text. The first document that CouchDB refuses fails the whole request.
    ///
    /// - Throws: ``WireError`` with CouchDB's words.
    package init(json utf8: some Collection<UInt8>) throws(WireError) {
        // The request is an object, which holds an array of documents.
        guard case .document(let request) = try WireDocument.value(json: utf8, documentDepth: 3) else {
            throw WireError(.badRequest, "Request body must be a JSON object")
        }
        guard let list = request["docs"] else {
            throw WireError(.badRequest, "POST body must include `docs` parameter.")
        }
        guard case .array(let array) = list else {
            throw WireError(.badRequest, "`docs` parameter must be an array.")
        }
        switch request["new_edits"] {
        case .bool(let flag): newEdits = flag
        case nil: newEdits = nil
        default: throw WireError(.badRequest, "`new_edits` parameter must be true or false.")
        }
        guard request["all_or_nothing"] != true else {
            throw WireError(.notImplemented, "all_or_nothing is not supported")
        }
        var documents: [WireDocument] = []
        for members in WireMembers.all(in: array) {
            guard let members else { throw WireDocument.notAnObject }
            documents.append(try WireDocument(members))
        }
        self.documents = documents
    }
}

/// An error of what a client sent, with the two words that CouchDB answers.
package struct WireError: Error, Sendable, Hashable {
    /// CouchDB's `error`.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text is not JSON, or a value in it is not what CouchDB expects there.
        case badRequest = "bad_request"
        /// The id is empty, is not text, or begins with `_`.
        case illegalDocumentID = "illegal_docid"
        /// A member whose name begins with `_` is unknown or malformed.
        case documentValidation = "doc_validation"
        /// What is asked for does not exist here.
        case notImplemented = "not_implemented"
    }

    /// The kind of error.
    package let code: Code
    /// CouchDB's `reason`.
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The error of JSON text that could not be read.
    init(_ error: BSONError) {
        switch error.code {
        case .tooDeep, .invalidKey, .tooLarge:
            // CouchDB stores such documents, so that its words would not say what is wrong.
            self.init(.badRequest, error.description)
        default: self.init(.badRequest, "invalid UTF-8 JSON")
        }
    }

    static let invalidRevision = WireError(.badRequest, "Invalid rev format")
}

extension WireError: CustomStringConvertible {
    /// Both words.
    package var description: String { "\(code.rawValue): \(reason)" }
}
#endif
