#if TansuServer
import HTTPTypes
import NIOCore
import Tansu
import TansuBSON
import TansuSync

extension Route.Endpoint {
    /// A function that answers, with the access of the route.
    init(_ handler: @escaping Route.Handler) {
        self.init(nil, handler)
    }
}

// MARK: - Collection

extension ServerRequest {
    /// The documents of the database that the path names, with their revisions.
    func collection() throws -> ReplicatedCollection {
        // Server admins pass the router without it.
        if databaseName.hasPrefix("_") { try server.requireDatabase(databaseName) }
        return try server.collections.collection(databaseName)
    }

    /// The body as bytes.
    func bytes() async throws -> [UInt8] {
        let buffer = try await collectedBody()
        return Array(buffer.readableBytesView)
    }

    /// - Throws: ``HTTPFailure`` unless the user manages the database.
    func requireDatabaseAdmin() throws {
        try security().requireAdmin(user)
    }

    /// Whether the client takes answers of a media type. Without the header it takes everything.
    func accepts(_ type: String) -> Bool {
        guard let text = self[.accept] else { return true }
        return AcceptedTypes(text).contains(type)
    }

    /// The quoted entity tag is one that the client has already, or it has any. Proxies that compress answers make tags weak.
    func hasCurrent(_ entityTag: String) -> Bool {
        self[.ifNoneMatch]?.parts(separatedBy: ",").contains { part in
            let tag = part.trimmingSpaces
            return tag == "*" || (tag.dropping(prefix: "W/") ?? tag) == entityTag
        } ?? false
    }
}

/// The media types of a header `Accept`.
struct AcceptedTypes {
    private var ranges: [(type: String, quality: Double)] = []

    init(_ text: String) {
        for part in text.parts(separatedBy: ",") {
            let fields = part.parts(separatedBy: ";").map { $0.trimmingSpaces }
            let quality = fields.dropFirst().compactMap { $0.dropping(prefix: "q=") }.first.flatMap { Double($0) }
            ranges.append((fields[0], quality ?? 1))
        }
    }

    /// Whether a range has the type: the most specific one decides.
    func contains(_ type: String) -> Bool {
        let all = type.prefixUntil("/") + "/*"
        for candidate in [type, all, "*/*"] {
            if let range = ranges.first(where: { $0.type == candidate }) { return range.quality > 0 }
        }
        return false
    }
}

// MARK: - Accounts

extension ServerRequest {
    /// What reads documents without naming each in the path is for those who manage the accounts.
    ///
    /// - Throws: ``HTTPFailure`` with 401 or 403.
    func checkWholeDatabase() throws {
        guard isUsersDatabase, let part = path.parts.dropFirst().first, part.hasPrefix("_") else { return }
        if ["_design", "_local", "_security", "_bulk_docs"].contains(part) { return }
        try requireDatabaseAdmin()
    }
}

// MARK: - RevisionParameter

extension ServerRequest {
    /// The revision that the request edits: of the body, of the parameter `rev` or of `If-Match`.
    ///
    /// - Throws: ``HTTPFailure`` when they differ, or one is no revision.
    func editedRevision(body: WireRevision? = nil) throws -> WireRevision? {
        let parameter = try query["rev"].map { try WireRevision($0) }
        if let body, let parameter, body != parameter {
            throw HTTPFailure.badRequest(
                "Document rev from request body and query string have different values")
        }
        let explicit = body ?? parameter
        let header = try self[.ifMatch].map { try WireRevision($0.trimmingQuotes) }
        if let explicit, let header, explicit != header {
            throw HTTPFailure.badRequest("Document rev and etag have different values")
        }
        return explicit ?? header
    }
}

extension WireRevision {
    /// A number that is no generation, without a hash: it names no revision.
    var isEmpty: Bool {
        if case .unknown(let text) = self { return text.text.hasSuffix("-") }
        return false
    }

    /// Reads a JSON array of revisions.
    static func list(_ value: BSONValue?) throws -> [WireRevision] {
        guard case .array(let array) = value else { throw HTTPFailure.badRequest("Invalid list of revisions") }
        return try array.map { element in
            guard case .string(let text) = element else { throw HTTPFailure.badRequest("Invalid rev format") }
            return try WireRevision(text)
        }
    }
}

extension String {
    fileprivate var trimmingQuotes: String {
        var text = utf8[...]
        while text.first == UInt8(ascii: "\"") { text.removeFirst() }
        while text.last == UInt8(ascii: "\"") { text.removeLast() }
        return String(decoding: text, as: UTF8.self)
    }
}

// MARK: - SequenceText

/// Update sequences on the wire: `N-instance`, which clients take as opaque text.
///
/// The instance differs from that of an earlier database of the name, whose sequences mean nothing any more.
struct SequenceText: Sendable {
    let instance: String

    init(instance: String) {
        self.instance = String(instance.unicodeScalars.filter { $0 != "-" })
    }

    func callAsFunction(_ sequence: Int64) -> String { "\(sequence)-\(instance)" }

    /// The sequence after which a feed begins; 0 when the text is of another database.
    ///
    /// - Throws: ``HTTPFailure`` when the text is no sequence.
    func sequence(_ text: String) throws -> Int64 {
        // Some clients send JSON.
        let quoted = text.dropping(prefix: "\"").flatMap { $0.hasSuffix("\"") ? $0.prefixUntil("\"") : nil }
        let text = quoted ?? text
        if text == "0" { return 0 }
        let parts = text.parts(separatedBy: "-", maxSplits: 1)
        guard parts.count == 2, let number = Int64(parts[0]), number >= 0, !parts[1].isEmpty else {
            throw HTTPFailure.badRequest("Malformed sequence supplied in 'since' parameter.")
        }
        return parts[1] == instance ? number : 0
    }
}

// MARK: - URLText

/// Text in URLs of answers, encoded as CouchDB encodes it.
enum URLText {
    /// All bytes but letters, digits and `_.-:` as `%XX`.
    static func encoded(_ text: String) -> String {
        var out = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: ":"):
                out.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                out += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return out
    }
}
#endif
