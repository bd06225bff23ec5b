#if TansuServer
import Crypto
import Foundation
import JWTKit
import TansuBSON

/// The cookie of a session, in CouchDB's form: base64 of `name:time:code`, where the code authenticates name and time with a
/// secret of the server and the salt of the user's password. So a new password ends all sessions.
struct SessionCookie: Sendable {
    static let name = "AuthSession"

    let user: String
    /// When it was issued, in seconds since 1970.
    let issued: Int
    private let code: [UInt8]

    /// A new one.
    init(user: String, salt: String, secret: [UInt8], now: Date = Date()) {
        self.user = user
        issued = Int(now.timeIntervalSince1970)
        code = Self.code(user, issued, salt, secret)
    }

    /// One that a client has sent, which is not to be believed before ``isValid(salt:secret:lifetime:now:)``.
    ///
    /// - Throws: ``HTTPFailure`` with 400 when it does not have the form of a session cookie.
    init(_ text: some StringProtocol) throws {
        let malformed = HTTPFailure.badRequest("Malformed AuthSession cookie. Please clear your cookies.")
        guard let bytes = Base64URL.decode(text) else { throw malformed }
        let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let user = String(utf8: parts[0]) else { throw malformed }
        self.user = user
        // A time that is no number is a session that has ended.
        issued = Int(String(decoding: parts[1], as: UTF8.self), radix: 16) ?? 0
        code = Array(parts[2])
    }

    var text: String {
        Base64URL.encode(Array("\(user):\(String(issued, radix: 16, uppercase: true)):".utf8) + code)
    }

    func isValid(salt: String, secret: [UInt8], lifetime: Duration, now: Date = Date()) -> Bool {
        let age = Int(now.timeIntervalSince1970).subtractingReportingOverflow(issued)
        guard !age.overflow, age.partialValue >= -60, age.partialValue < lifetime.components.seconds else {
            return false
        }
        return isEqualInConstantTime(code, Self.code(user, issued, salt, secret))
    }

    /// Whether it is so old that the answer should renew it.
    func needsRenewal(lifetime: Duration, now: Date = Date()) -> Bool {
        (Int64(now.timeIntervalSince1970) - Int64(issued)) * 10 > lifetime.components.seconds
    }

    private static func code(_ user: String, _ issued: Int, _ salt: String, _ secret: [UInt8]) -> [UInt8] {
        hmac("\(user):\(issued)", key: secret + Array(salt.utf8))
    }

    /// The value of `Set-Cookie`.
    ///
    /// - Parameters:
    ///   - text: The cookie; empty to forget the session.
    ///   - isShared: Whether pages of other sites may use the session, which browsers allow over TLS only.
    static func field(
        _ text: String, lifetime: Duration, isSecure: Bool, isShared: Bool = false, now: Date = Date()
    ) -> String {
        let seconds = lifetime.components.seconds
        let expires = HTTPDate.cookieText(now.addingTimeInterval(Double(seconds)))
        let site = isShared && isSecure ? "None" : "Lax"
        let end = "HttpOnly; SameSite=\(site)\(isSecure ? "; Secure" : "")"
        return "\(name)=\(text); Version=1; Expires=\(expires); Max-Age=\(seconds); Path=/; \(end)"
    }
}

/// Checks JSON Web Tokens with the keys of the server's options.
struct BearerTokens: Sendable {
    private let keys: JWTKeyCollection

    /// - Parameter jsonWebKeys: A JWK set.
    /// - Throws: ``ServerError`` when it is not one.
    init(jsonWebKeys: String) async throws {
        keys = JWTKeyCollection()
        do {
            try await keys.add(jwksJSON: jsonWebKeys)
        } catch {
            throw ServerError(.invalidKeys, "The keys of bearer tokens are not a JWK set: \(Self.words(error))")
        }
    }

    /// What is wrong with a JWK set.
    private static func words(_ error: any Error) -> String {
        func path(_ context: DecodingError.Context, _ key: (any CodingKey)? = nil) -> String {
            let path = (context.codingPath + (key.map { [$0] } ?? [])).map {
                $0.intValue.map(String.init) ?? $0.stringValue
            }
            return path.isEmpty ? "the text" : "\"\(path.joined(separator: "."))\""
        }
        return switch error {
        case DecodingError.keyNotFound(let key, let context): "\(path(context, key)) is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "\(path(context)) has a value of another type"
        case DecodingError.dataCorrupted(let context):
            context.codingPath.isEmpty ? "it is not JSON" : "\(path(context)) is invalid"
        case let error as JWTError: error.reason ?? "\(error.errorType)"
        default: "\(error)"
        }
    }

    private struct Claims: JWTPayload {
        let sub: SubjectClaim
        let exp: ExpirationClaim
        let nbf: NotBeforeClaim?
        let roles: [String]?

        enum CodingKeys: String, CodingKey {
            case sub, exp, nbf
            case roles = "_couchdb.roles"
        }

        func verify(using algorithm: some JWTAlgorithm) throws {
            try exp.verifyNotExpired()
            try nbf?.verifyNotBefore()
        }
    }

    /// Who a token names.
    ///
    /// - Throws: ``HTTPFailure`` with 401 when it is forged, expired, or lacks `sub` or `exp`.
    func user(_ token: String) async throws -> UserContext {
        do {
            let claims = try await keys.verify(token, as: Claims.self)
            let roles = (claims.roles ?? []).filter { $0 == "_admin" || !$0.hasPrefix("_") }
            return UserContext(name: claims.sub.value, roles: roles, authentication: .bearer)
        } catch {
            throw HTTPFailure.unauthorized("The bearer token is invalid or has expired")
        }
    }
}

/// Base64 for URLs and cookies: `-` and `_`, without padding.
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }

    /// Nil when the text is not base64.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var text = String(text).replacing("-", with: "+").replacing("_", with: "/")
        while !text.utf8.count.isMultiple(of: 4) { text += "=" }
        return Data(base64Encoded: text).map { Array($0) }
    }
}

/// Compares without revealing by the time it takes how much is equal; only the lengths may be learned.
func isEqualInConstantTime(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
}

/// Bytes from the system's random generator.
func randomBytes(_ count: Int) -> [UInt8] {
    SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
}

func randomHex(byteCount: Int) -> String { hex(randomBytes(byteCount)) }

/// Lower-case hex digits.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// Nil when the text is not pairs of hex digits.
func bytes(hex text: String) -> [UInt8]? {
    let digits = text.utf8.map { hexValue($0) }
    guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
    let values = digits.compactMap { $0 }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
}

/// The authentication code of a message.
func hmac(_ message: String, key: some Sequence<UInt8>) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: SymmetricKey(data: Array(key))))
}
#endif
