#if TansuSync
import Foundation
import TansuBSON

/// The URL of a database on a server.
package struct RemoteURL: Sendable, Hashable, CustomStringConvertible {
    /// Scheme, host, port and path, without a slash at the end and without a password.
    package let text: String
    /// The URL of the server.
    package let server: String
    /// The user and the password that were in the URL.
    package let user: (name: String, password: String)?

    /// Reads a URL such as `https://user:password@example.org/people`.
    ///
    /// - Throws: ``SyncError`` of code `invalidURL`.
    package init(_ text: String) throws(SyncError) {
        // A password is not repeated in an error.
        guard var parts = URLComponents(string: text), let scheme = parts.scheme?.asciiLowercased,
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty
        else {
            throw SyncError(
                .invalidURL, "A remote database has a URL such as https://example.org/people, which this is not")
        }
        guard parts.port.map({ (1...65_535).contains($0) }) ?? true else {
            throw SyncError(.invalidURL, "The port of the URL of \(host) is not between 1 and 65535")
        }
        guard parts.query == nil, parts.fragment == nil else {
            throw SyncError(.invalidURL, "The URL of a database on \(host) has no query and no fragment")
        }
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty else {
            throw SyncError(
                .invalidURL, "The URL of the server \(host) lacks the name of a database, such as /people")
        }
        user = parts.user.map { ($0, parts.password ?? "") }
        parts.user = nil
        parts.password = nil
        parts.scheme = scheme
        parts.host = host.asciiLowercased
        if parts.port == (scheme == "https" ? 443 : 80) { parts.port = nil }
        parts.percentEncodedPath = path
        self.text = parts.string ?? ""
        parts.percentEncodedPath = String(path[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)])
        server = parts.string ?? ""
    }

    package var description: String { text }

    package static func == (a: RemoteURL, b: RemoteURL) -> Bool {
        a.text == b.text && a.user?.name == b.user?.name && a.user?.password == b.user?.password
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(BytewiseText(text)) }

    /// Percent-encodes one segment of a path, or a name or value of a query.
    static func encoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The path of a document: the slash after `_design` and `_local` stays one.
    static func path(ofDocument id: String) -> String {
        for prefix in [DocumentName.designPrefix, DocumentName.localPrefix] where id.utf8.starts(with: prefix.utf8) {
            return prefix + encoded(String(Substring(id.utf8.dropFirst(prefix.utf8.count))))
        }
        return encoded(id)
    }

    /// Whether two URLs lead to the same server, so that one may have the credentials for the other.
    static func haveOneOrigin(_ a: String, _ b: String) -> Bool {
        guard let a = URLComponents(string: a), let b = URLComponents(string: b) else { return false }
        return a.scheme == b.scheme && a.host?.asciiLowercased == b.host?.asciiLowercased && a.port == b.port
    }

    /// Where a redirect leads; nil when it must not be followed.
    static func target(of location: String, from url: String) -> String? {
        guard let base = URL(string: url), let target = URL(string: location, relativeTo: base)?.absoluteURL,
            let scheme = target.scheme, ["http", "https"].contains(scheme)
        else { return nil }
        // Nothing that was meant to be encrypted is sent in the clear.
        return base.scheme == "https" && scheme == "http" ? nil : target.absoluteString
    }
}
#endif
