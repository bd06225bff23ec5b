#if TansuServer
    import TansuBSON
    import TansuSync

    /// The body of a `_replicate` request.
    struct ReplicationRequest {
        /// What a side is: a URL, or the name of a database of this server.
        struct Side {
            /// What errors and lists show: without a password.
            let text: String
            let remote: ReplicationSide?

            init(_ value: BSONValue?) throws {
                switch value {
                case .string(let text): try self.init(text, .none)
                case .document(let fields):
                    guard let url = fields["url"]?.stringValue else {
                        throw HTTPFailure.badRequest("`url` of a replication's source or target must be a string.")
                    }
                    try self.init(url, Self.credentials(fields))
                case nil: throw HTTPFailure.badRequest("A replication needs a `source` and a `target`.")
                case let other?: try self.init(other.wireJSON, .none)
                }
            }

            private init(_ text: String, _ credentials: RemoteCredentials) throws {
                guard text.parts(separatedBy: ":").dropFirst().contains(where: { $0.hasPrefix("//") }) else {
                    self.text = text
                    remote = nil
                    return
                }
                do {
                    let url = try RemoteURL(text)
                    self.text = url.text + "/"
                    remote = .remote(url, credentials)
                } catch { throw HTTPFailure.badRequest(error.description) }
            }

            private static func credentials(_ fields: BSONDocument) -> RemoteCredentials {
                let basic = fields["auth"]?.documentValue?["basic"]?.documentValue
                if let name = basic?["username"]?.stringValue, let password = basic?["password"]?.stringValue {
                    return .basic(name, password: password)
                }
                guard let headers = fields["headers"]?.documentValue else { return .none }
                let pairs = headers.compactMap { name, value in value.stringValue.map { (name, $0) } }
                // Other headers say nothing about who somebody is, and beside them the URL's user counts.
                let hasAuthorization = pairs.contains { ["authorization", "cookie"].contains($0.0.asciiLowercased) }
                return hasAuthorization ? .headers(Dictionary(pairs, uniquingKeysWith: { $1 })) : .none
            }
        }

        let source: Side
        let target: Side
        let mode: Replication.Mode
        let isCancelled: Bool
        let options: Replication.Options
        /// Whether the answer says at its top what was done.
        let hasDocumentIDs: Bool

        init(_ body: BSONDocument) throws {
            for name in ["filter", "query_params"] where body[name] != nil {
                throw HTTPFailure.notImplemented("There is no JavaScript here: use `selector` or `doc_ids`")
            }
            for name in ["winning_revs_only", "source_proxy", "target_proxy", "proxy"] where body[name] != nil {
                if body[name] == .bool(false) { continue }
                throw HTTPFailure.notImplemented("`\(name)` of a replication is not supported")
            }
            source = try Side(body["source"])
            target = try Side(body["target"])
            mode = try Self.flag("continuous", body) ? .continuous : .once
            isCancelled = try Self.flag("cancel", body)
            var options = Replication.Options()
            options.createsTarget = try Self.flag("create_target", body)
            if let size = body["worker_batch_size"]?.int64Value { options.batchSize = Int(min(max(size, 1), 5_000)) }
            hasDocumentIDs = body["doc_ids"] != nil
            guard !hasDocumentIDs || body["selector"] == nil else {
                throw HTTPFailure.badRequest("`doc_ids`,`filter`,`selector` are mutually exclusive options")
            }
            if let list = body["doc_ids"] {
                guard case .array(let values) = list else {
                    throw HTTPFailure.badRequest("`doc_ids` must be an array.")
                }
                options.filter = .ids(
                    try values.map { value in
                        guard let id = value.stringValue else {
                            throw HTTPFailure.badRequest("`doc_ids` must be an array of strings.")
                        }
                        return id
                    })
            } else if let selector = body["selector"] {
                guard let fields = selector.documentValue else {
                    throw HTTPFailure.badRequest("`selector` must be a JSON object")
                }
                options.filter = .selector(fields)
            }
            self.options = options
        }

        /// The id of the replication that a request cancels without naming its sides again, by one of CouchDB's three names for it.
        static func cancelledID(_ body: BSONDocument) throws -> String? {
            guard try flag("cancel", body) else { return nil }
            return ["_local_id", "replication_id", "id"].lazy.compactMap { body[$0]?.stringValue }.first
        }

        private static func flag(_ name: String, _ body: BSONDocument) throws -> Bool {
            switch body[name] {
            case nil: return false
            case .bool(let flag): return flag
            default: throw HTTPFailure.badRequest("`\(name)` must be a boolean.")
            }
        }
    }
#endif
