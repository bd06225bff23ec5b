#if TansuSync
    import Tansu
    import TansuBSON

    /// Removes blobs that no document names.
    package enum BlobSweep {
        /// What was removed.
        package struct Swept: Sendable, Hashable {
            /// The number of blobs, those that were never complete included.
            package var blobs = 0
            /// The stored bytes of the complete ones.
            package var bytes: Int64 = 0
        }

        /// The blobs of one transaction.
        private static let batch = 64

        /// Removes all blobs that no document and no lease holds. Each transaction removes a few.
        ///
        /// - Parameter check: Called before each transaction; its error ends the sweep.
        /// - Throws: What a commit can throw. What was removed before stays removed.
        package static func run(_ database: Database, check: () throws -> Void = {}) throws -> Swept {
            var result = Swept()
            var candidates = try names(database)[...]
            while !candidates.isEmpty {
                try check()
                try remove(Array(candidates.prefix(batch)), in: database, &result)
                candidates = candidates.dropFirst(batch)
            }
            return result
        }

        /// Removes those of some blobs that no document and no lease holds.
        package static func remove(_ ids: [BlobID], in database: Database) throws {
            var result = Swept()
            try remove(ids.map(\.bson), in: database, &result)
        }

        /// Examines a few blobs, so that unused ones go even if nobody ever sweeps. What fails is swept later.
        static func step(_ database: Database) {
            let leases = BlobLeases.of(database)
            var result = Swept()
            let names = leases.nextToExamine(8) { (try? Self.names(database)) ?? [] }
            try? remove(names, in: database, &result)
        }

        /// The names of all blobs, those that are being written included.
        static func names(_ database: Database) throws -> [BSONValue] {
            try database.read { transaction in
                var names: [BSONValue] = []
                try transaction.collection(BlobLayout.blobs).find(hints: ["$fields": ["_id": 1]]).forEach {
                    if let name = $0["_id"] { names.append(name) }
                }
                return names
            }
        }

        static func remove(_ names: [BSONValue], in database: Database, _ result: inout Swept) throws {
            // Most are named by a document, which a snapshot shows without keeping other writers waiting.
            let unused = try database.read { transaction in
                let places = try Self.places(transaction.session)
                return try names.filter { try !isNamed($0, in: places) }
            }
            guard !unused.isEmpty else { return }
            let leases = BlobLeases.of(database)
            var condemned: [BSONValue] = []
            defer { leases.absolve(condemned) }
            var removed = Swept()
            try database.write(durability: .process) { transaction in
                let session = transaction.session
                let places = try Self.places(session)
                let blobs = try BlobLayout.collection(BlobLayout.blobs, session)
                for name in unused where try !isNamed(name, in: places) {
                    guard leases.condemn(name) else { continue }
                    condemned.append(name)
                    guard let document = try blobs.get(name) else { continue }
                    removed.blobs += 1
                    if let blob = try StoredBlob(document) {
                        try blob.remove(in: session)
                        removed.bytes += blob.length
                    } else {
                        try StoredBlob.removePending(name, in: session)
                    }
                }
            }
            result.blobs += removed.blobs
            result.bytes += removed.bytes
        }

        /// The collections whose documents name blobs.
        private static func places(_ session: Session) throws -> [Database.Collection<BSONDocument>] {
            try session.collections().map(\.name).filter {
                $0.hasPrefix(BlobLayout.attachments) || $0.hasPrefix(BlobLayout.bodies)
            }.map { try BlobLayout.collection($0, session) }
        }

        private static func isNamed(
            _ name: BSONValue, in places: [Database.Collection<BSONDocument>]
        ) throws -> Bool {
            for place in places where try place.find([BlobLayout.reference: name]).first() != nil { return true }
            return false
        }
    }
#endif
