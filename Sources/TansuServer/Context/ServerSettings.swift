#if TansuServer
import HTTPTypes
import TansuBSON

/// The settings that `/_node/_local/_config` shows and changes, until the server stops, by CouchDB's names.
final class ServerSettings: Sendable {
    private struct State {
        var values: [BytewiseText: [BytewiseText: String]]
        /// What the values make of the limits of the options.
        var limits: ServerLimits
    }

    private let state: Locked<State>
    /// Those of the options: bodies are read into memory, so that no setting allows larger ones.
    private let optionLimits: ServerLimits

    init(_ options: ServerOptions) {
        let cors = options.cors ?? CrossOriginOptions(origins: ["*"])
        let limits = options.limits
        var values: [BytewiseText: [BytewiseText: String]] = [
            "chttpd": ["max_http_request_size": String(limits.requestBytes)],
            "chttpd_auth": ["timeout": String(options.sessionLifetime.components.seconds)],
            "chttpd_auth_lockout": [
                "mode": options.lockout.isEnforced ? "enforce" : "off",
                "threshold": String(options.lockout.threshold),
                "max_lifetime": String(options.lockout.lifetime.components.seconds * 1_000),
            ],
            "cluster": ["n": "1", "q": "1"],
            "cors": [
                // Clients that check the list divide it at the commas, and do not trim.
                "origins": cors.origins.joined(separator: ","),
                "credentials": cors.allowsCredentials ? "true" : "false",
                "headers": cors.headers.joined(separator: ", "),
                "methods": cors.methods.joined(separator: ", "),
            ],
            "couchdb": ["max_document_size": String(limits.documentBytes)],
        ]
        // The names are what clients look for.
        for name in options.admins.keys { values["admins", default: [:]][BytewiseText(name)] = "-hidden-" }
        Self.store(options.cors == nil ? "false" : "true", "chttpd", "enable_cors", in: &values)
        Self.store("false", "chttpd", "require_valid_user", in: &values)
        optionLimits = limits
        state = Locked(State(values: values, limits: limits))
    }

    /// The sections of settings that CouchDB reads from either of two: here they are one setting with two names.
    private static let sections: [BytewiseText: [BytewiseText]] = [
        "enable_cors": ["chttpd", "httpd"], "require_valid_user": ["chttpd", "chttpd_auth"],
        "WWW-Authenticate": ["chttpd", "httpd"],
    ]

    private static func store(
        _ value: String, _ section: BytewiseText, _ key: BytewiseText,
        in values: inout [BytewiseText: [BytewiseText: String]]
    ) {
        for each in sections[key] ?? [section] { values[each, default: [:]][key] = value }
    }

    private enum Kind {
        case boolean, size, field, lockout
    }

    /// Those that can be changed while the server runs.
    private static let changeable: [BytewiseText: [BytewiseText: Kind]] = [
        "chttpd": [
            "enable_cors": .boolean, "require_valid_user": .boolean, "WWW-Authenticate": .field,
            "max_http_request_size": .size,
        ],
        "chttpd_auth": ["require_valid_user": .boolean],
        "chttpd_auth_lockout": ["mode": .lockout],
        "cors": ["origins": .field, "credentials": .boolean, "headers": .field, "methods": .field],
        "couchdb": ["max_document_size": .size],
        "httpd": ["enable_cors": .boolean, "WWW-Authenticate": .field],
    ]

    subscript(section: BytewiseText, key: BytewiseText) -> String? { state.withLock { $0.values[section]?[key] } }

    var all: [BytewiseText: [BytewiseText: String]] { state.withLock { $0.values } }

    /// - Returns: The value before; empty without one.
    /// - Throws: ``HTTPFailure`` with 403 when the setting cannot be changed while the server runs, 400 for a value
    ///   that means nothing.
    func set(_ section: BytewiseText, _ key: BytewiseText, to value: String) throws(HTTPFailure) -> String {
        guard let kind = Self.changeable[section]?[key] else {
            throw .forbidden("The setting \(section)/\(key) cannot be changed while the server runs")
        }
        switch kind {
        case .boolean:
            guard value == "true" || value == "false" else {
                throw .badRequest("The value of \(section)/\(key) must be true or false")
            }
        case .size:
            guard Self.size(value) != nil else {
                throw .badRequest("The value of \(section)/\(key) must be a positive number of bytes, or infinity")
            }
        case .field:
            guard HTTPField.isValidValue(value) else {
                throw .badRequest("The value of \(section)/\(key) must be the value of a header field")
            }
        case .lockout:
            guard ["enforce", "warn", "off"].contains(BytewiseText(value)) else {
                throw .badRequest("The value of \(section)/\(key) must be enforce, warn or off")
            }
        }
        return state.withLock { state in
            let former = state.values[section]?[key] ?? ""
            Self.store(value, section, key, in: &state.values)
            state.limits = limits(state.values)
            return former
        }
    }

    private static func size(_ value: String) -> Int? {
        if value == "infinity" { return .max }
        // A number that no integer holds is more than any limit.
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let size = Int(value) ?? .max
        return size > 0 ? size : nil
    }

    var isLockoutEnforced: Bool { self["chttpd_auth_lockout", "mode"] == "enforce" }

    /// Whether requests without a user are refused.
    var requiresUser: Bool { self["chttpd", "require_valid_user"] == "true" }

    /// The header field `WWW-Authenticate` of answers with 401, by which a browser asks for a password.
    var challenge: String? { self["chttpd", "WWW-Authenticate"].flatMap { $0.isEmpty ? nil : $0 } }

    /// Nil when other origins are refused.
    var cors: CrossOriginOptions? {
        state.withLock { state in
            guard state.values["chttpd"]?["enable_cors"] == "true", let section = state.values["cors"] else {
                return nil
            }
            func list(_ key: BytewiseText) -> [String] {
                (section[key] ?? "").parts(separatedBy: ",").map { $0.trimmingSpaces }.filter { !$0.isEmpty }
            }
            var cors = CrossOriginOptions(origins: list("origins"))
            cors.allowsCredentials = section["credentials"] == "true"
            cors.headers = list("headers")
            cors.methods = list("methods")
            return cors
        }
    }
}

// MARK: - Limits

extension ServerSettings {
    /// The largest document that a setting allows: the engine's limit, with room for id and revision.
    static let largestDocument = (16 << 20) - (64 << 10)

    /// Those of the options, with what the settings change. A setting may be larger than what is done: clients set
    /// CouchDB's values, and check them.
    var limits: ServerLimits { state.withLock { $0.limits } }

    private func limits(_ values: [BytewiseText: [BytewiseText: String]]) -> ServerLimits {
        func size(_ section: BytewiseText, _ key: BytewiseText) -> Int? { values[section]?[key].flatMap(Self.size) }
        var limits = optionLimits
        if let size = size("chttpd", "max_http_request_size") {
            limits.requestBytes = min(size, optionLimits.requestBytes)
        }
        if let size = size("couchdb", "max_document_size") {
            limits.documentBytes = min(size, max(optionLimits.documentBytes, Self.largestDocument))
        }
        return limits
    }
}
#endif
