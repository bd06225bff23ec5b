#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    /// `/{db}/_security`, `_revs_limit` and `_purged_infos_limit`
    enum SettingsEndpoints {
        static let routes = [
            Route(
                "/:db/_security", allow: "PUT,GET",
                [.get: .init(security), .put: .init(.databaseAdmin, setSecurity)]),
            Route(
                "/:db/_revs_limit", allow: "PUT,GET",
                [.get: .init(limit), .put: .init(.databaseAdmin, setLimit)]),
            Route(
                "/:db/_purged_infos_limit", allow: "PUT,GET",
                [.get: .init(.serverAdmin, purgedLimit), .put: .init(.serverAdmin, setPurgedLimit)]),
        ]

        private static func security(_ request: ServerRequest) async throws -> Response {
            let stored = try await request.collection().read { $0.security }
            return .json(.document(stored.isEmpty ? SecurityObject.standard : stored))
        }

        private static func setSecurity(_ request: ServerRequest) async throws -> Response {
            if request.databaseName == "_users" {
                throw HTTPFailure.forbidden("You can't edit the security object of the user database.")
            }
            guard case .document(let security) = try await request.json() else {
                throw HTTPFailure.badRequest("The security object must be a JSON object")
            }
            for group in [security["admins"], SecurityObject.members(of: security)] { try validate(group) }
            // Not the same as none: nobody has to be a member.
            let stored: BSONDocument = security.isEmpty ? ["admins": [:], "members": [:]] : security
            try await request.collection().write { store in
                store.security = stored
            }
            return .ok()
        }

        private static func validate(_ group: BSONValue?) throws {
            guard let group else { return }
            guard case .document(let members) = group else {
                throw HTTPFailure.badRequest("Members of the security object must be JSON objects")
            }
            for name in ["names", "roles"] {
                guard let list = members[name] else { continue }
                guard case .array(let array) = list, array.allSatisfy({ $0.stringValue != nil }) else {
                    throw HTTPFailure.badRequest("\(name) must be a JSON list of strings")
                }
            }
        }

        private static func limit(_ request: ServerRequest) async throws -> Response {
            .json(text: "\(try await request.collection().read { $0.revsLimit })")
        }

        private static func setLimit(_ request: ServerRequest) async throws -> Response {
            guard let limit = try await request.json().wireInteger, limit > 0 else {
                throw HTTPFailure.badRequest("`revs_limit` must be positive integer")
            }
            try await request.collection().write { store in
                store.revsLimit = limit
            }
            return .ok()
        }

        /// No history of purges is kept, so that its length is always the usual one.
        private static func purgedLimit(_ request: ServerRequest) async throws -> Response {
            .json(text: "1000")
        }

        private static func setPurgedLimit(_ request: ServerRequest) async throws -> Response {
            guard let limit = try await request.json().wireInteger, limit > 0 else {
                throw HTTPFailure.badRequest("`purged_infos_limit` must be positive integer")
            }
            return .ok()
        }
    }

    extension BSONValue {
        /// The value of an integer.
        var wireInteger: Int? {
            switch self {
            case .int32(let value): Int(value)
            case .int64(let value): Int(value)
            default: nil
            }
        }
    }
#endif
