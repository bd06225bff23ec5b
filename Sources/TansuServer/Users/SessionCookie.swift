#if TansuServer
    import Foundation
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
            guard parts.count == 3, let user = String(validating: parts[0], as: UTF8.self) else { throw malformed }
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
#endif
