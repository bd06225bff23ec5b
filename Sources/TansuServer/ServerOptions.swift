#if TansuServer
import Foundation
import Logging
import NIOSSL
import TansuBSON
import Tracing

/// How a server listens, whom it lets in, and its limits.
public struct ServerOptions: Sendable {
    /// The address to listen at: an IP address or a host name. Any but a loopback address needs users.
    public var host: String
    /// The port to listen at; 0 takes a free one.
    public var port: Int
    /// The certificate and the key to speak TLS with; nil speaks plain HTTP.
    public var tls: ServerTLS?
    /// Server admins: names and passwords. Other users are documents in the collection `_users`.
    public var admins: [String: String]
    /// How long a cookie session lasts without a request.
    public var sessionLifetime: Duration
    /// How often PBKDF2 iterates for new passwords.
    public var passwordIterations: Int
    /// What failed logins lead to.
    public var lockout: LoginLockout
    /// A JWK set with the keys of bearer tokens; nil accepts none.
    public var jsonWebKeys: String?
    /// Whether pages of other origins may use the server from a browser; nil refuses all.
    public var cors: CrossOriginOptions?
    /// Whether `/_utils/` has the inspector, a page that shows databases and documents in a browser.
    public var hasInspector: Bool
    /// How much of everything there may be.
    public var limits: ServerLimits
    /// Where the database lists its slow calls, which server admins then see; nil where it does not.
    public var slowCalls: SlowCalls?
    /// Receives the access log and what goes wrong; nil logs nothing.
    public var logger: Logger?
    /// Receives a span for each request, named by its method and route, such as `GET /:db/_changes`. Without one that of
    /// `InstrumentationSystem` does, if the program has set one.
    public var tracer: (any Tracer)?

    /// Creates options.
    ///
    /// - Parameters:
    ///   - host: The address to listen at.
    ///   - port: The port; 0 takes a free one.
    public init(host: String = "127.0.0.1", port: Int = 5984) {
        self.host = host
        self.port = port
        tls = nil
        admins = [:]
        sessionLifetime = .seconds(600)
        passwordIterations = 600_000
        lockout = LoginLockout()
        jsonWebKeys = nil
        cors = nil
        hasInspector = true
        limits = ServerLimits()
        slowCalls = nil
        logger = nil
        tracer = nil
    }

    /// Whether only this machine can reach the address.
    var isLoopback: Bool {
        host == "localhost" || host == "::1"
            || (host.hasPrefix("127.")
                && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
    }
}

/// The files of a server's TLS identity.
public struct ServerTLS: Sendable, Hashable {
    /// The path of a PEM file with the certificate, and those that lead to its authority.
    public var certificateFile: String
    /// The path of a PEM file with the private key.
    public var keyFile: String

    /// Names the files.
    public init(certificateFile: String, keyFile: String) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}

/// What failed logins lead to. Each one is answered later than the one before it.
public struct LoginLockout: Sendable, Hashable {
    /// Whether an account is locked for the address that the failures came from.
    public var isEnforced = true
    /// How many failures lock it.
    public var threshold = 5
    /// How long.
    public var lifetime: Duration = .seconds(300)
    /// How much later a failure is answered for each failure before it, up to ten times this.
    public var delay: Duration = .milliseconds(100)

    /// Creates the default rules.
    public init() {}
}

/// What pages of other origins may do in a browser.
public struct CrossOriginOptions: Sendable, Hashable {
    /// The origins, such as `https://app.example`; `*` is all.
    public var origins: [String]
    /// Whether requests may have cookies and passwords.
    public var allowsCredentials = false
    /// The header fields that requests may have.
    public var headers = ["accept", "authorization", "content-type", "origin", "referer", "x-csrf-token"]
    /// The methods that requests may have.
    public var methods = ["GET", "PUT", "POST", "HEAD", "DELETE"]

    /// Allows some origins.
    public init(origins: [String]) { self.origins = origins }
}

/// Limits of a server. What exceeds one gets an answer that says so.
public struct ServerLimits: Sendable, Hashable {
    /// Bytes of a request's body: 413.
    public var requestBytes = 64 << 20
    /// Bytes of a document's JSON text: 413.
    public var documentBytes = 8_000_000
    /// Bytes of an attachment: 413.
    public var attachmentBytes = 1 << 30
    /// Documents in a batch: 413.
    public var batchDocuments = 100_000
    /// Bytes of a request's head: 431.
    public var headBytes = 64 << 10
    /// Connections: the next one gets 503.
    public var connections = 4_096
    /// Open feeds (`_changes` that wait): the next one gets 503.
    public var feeds = 2_048
    /// The time that a client has for the head of a request, and for each further part of its body: 408.
    public var readTimeout: Duration = .seconds(30)
    /// Connections without a request for this long are closed.
    public var idleTimeout: Duration = .seconds(120)
    /// The time that requests and feeds have to end when the server stops.
    public var shutdownTimeout: Duration = .seconds(10)

    /// Creates the default limits.
    public init() {}
}

// MARK: - Validating

extension ServerOptions {
    /// - Throws: ``ServerError`` with `.invalidOptions` for options that cannot do what they are given for.
    func validate() throws {
        for (name, password) in admins {
            // Basic authentication separates the name from the password by a colon.
            guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: ":")) else {
                throw ServerError(
                    .invalidOptions, "The name of a server admin is not empty and has no \":\", unlike \"\(name)\"")
            }
            guard !password.isEmpty else {
                throw ServerError(.invalidOptions, "The server admin \"\(name)\" has an empty password")
            }
        }
        guard let cors else { return }
        guard !cors.origins.isEmpty else {
            throw ServerError(.invalidOptions, "Pages may send credentials, but there are no origins of such pages")
        }
        for origin in cors.origins where !Self.isOrigin(origin) {
            throw ServerError(
                .invalidOptions, "\"\(origin)\" is no origin, such as https://app.example, nor * for all of them")
        }
    }

    /// Whether a browser can send a text as the origin of a page: scheme, host and port, without a path.
    private static func isOrigin(_ text: String) -> Bool {
        if text == "*" { return true }
        let parts = text.parts(separatedBy: ":", maxSplits: 1)
        guard parts.count == 2, let host = parts[1].dropping(prefix: "//") else { return false }
        return [parts[0], host].allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Self.separators.contains($0) }
        }
    }

    /// What no origin has; the list of origins has commas.
    private static let separators = Array("/?#,".utf8)
}

// MARK: - ServerTLS: loading

extension ServerTLS {
    /// The identity that the files have.
    ///
    /// - Throws: ``ServerError`` with `.invalidTLS`.
    func configuration() throws -> TLSConfiguration {
        for file in [certificateFile, keyFile] where !FileManager.default.isReadableFile(atPath: file) {
            throw ServerError(.invalidTLS, "The file \"\(file)\" cannot be read")
        }
        let certificates = try Self.reading("The file \"\(certificateFile)\" has no certificate in PEM form") {
            try NIOSSLCertificate.fromPEMFile(certificateFile)
        }
        let key = try Self.reading("The file \"\(keyFile)\" has no private key in PEM form that needs no password") {
            try NIOSSLPrivateKey(file: keyFile, format: .pem)
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        try Self.reading("The key \"\(keyFile)\" is not that of the certificate \"\(certificateFile)\"") {
            _ = try NIOSSLContext(configuration: configuration)
        }
        return configuration
    }

    private static func reading<Result>(_ problem: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw ServerError(.invalidTLS, problem) }
    }
}

// MARK: - ServerError

/// Why a server does not start.
public struct ServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of reason.
    public enum Code: Sendable, Hashable {
        /// The address is not a loopback address, and nobody can log in.
        case needsUsers
        /// The name or the password of an admin is invalid, or an origin is none.
        case invalidOptions
        /// A file of the TLS identity cannot be used.
        case invalidTLS
        /// The JWK set of the options is not one.
        case invalidKeys
        /// The address cannot be listened at, for example because another process does.
        case cannotListen
    }

    /// The kind of reason.
    public let code: Code
    /// The reason, for people.
    public let message: String

    /// The reason, for people.
    public var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
#endif
