#if TansuServer
    import Foundation
    import JWTKit
    import TansuBSON

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
#endif
