#if TansuServer
    import Tansu
    import TansuBSON

    /// What a database is as a server: its name for replicators, and the secret of its sessions. Both are kept in the database, so
    /// that replications and sessions survive a restart.
    struct ServerIdentity: Sendable {
        /// 32 hex digits.
        let uuid: String
        let secret: [UInt8]

        private static let collection = "tansu.server"

        /// That of a database, made when it has none.
        ///
        /// - Throws: `TansuError` when the database cannot be written.
        init(_ database: Database) async throws {
            self = try await database.write { transaction in
                let collection = try transaction.collection(Self.collection)
                if let document = try collection.get("identity"), let uuid = document["uuid"]?.stringValue,
                    let secret = document["secret"]?.stringValue.flatMap(bytes(hex:))
                {
                    return ServerIdentity(uuid: uuid, secret: secret)
                }
                let identity = ServerIdentity(uuid: randomHex(byteCount: 16), secret: randomBytes(32))
                try collection.save([
                    "_id": "identity", "uuid": .string(identity.uuid), "secret": .string(hex(identity.secret)),
                ])
                return identity
            }
        }

        private init(uuid: String, secret: [UInt8]) {
            self.uuid = uuid
            self.secret = secret
        }
    }
#endif
