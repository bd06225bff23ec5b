#if TansuServer
    import TansuBSON

    /// The security object of a database: who reads and writes it, and who manages it.
    package struct SecurityObject: Sendable, Hashable {
        package struct Group: Sendable, Hashable {
            package var names: Set<BytewiseText> = []
            package var roles: Set<BytewiseText> = []

            func contains(_ user: UserContext) -> Bool {
                user.name.map { names.contains(BytewiseText($0)) } == true
                    || user.roles.contains { roles.contains(BytewiseText($0)) }
            }
        }

        package var admins: Group
        package var members: Group

        /// That of a database to which none was given: server admins only.
        package static let standard: BSONDocument = [
            "members": .document(["roles": .array(["_admin"])]), "admins": .document(["roles": .array(["_admin"])]),
        ]

        package init(_ document: BSONDocument) {
            admins = Self.group(document["admins"])
            members = Self.group(Self.members(of: document))
        }

        /// The group of the members; older versions of CouchDB called them readers.
        static func members(of document: BSONDocument) -> BSONValue? { document["members"] ?? document["readers"] }

        private static func group(_ value: BSONValue?) -> Group {
            guard let document = value?.documentValue else { return Group() }
            func texts(_ key: String) -> Set<BytewiseText> {
                document[key]?.arrayValue?.compactMap(\.stringValue).bytewiseSet ?? []
            }
            return Group(names: texts("names"), roles: texts("roles"))
        }

        package func isAdmin(_ user: UserContext) -> Bool { user.isServerAdmin || admins.contains(user) }

        /// Everyone is a member of a database without members.
        package func isMember(_ user: UserContext) -> Bool {
            members == Group() || isAdmin(user) || members.contains(user)
        }

        /// - Throws: ``HTTPFailure`` unless the user may read and write documents.
        package func requireMember(_ user: UserContext) throws {
            guard !isMember(user) else { return }
            throw user.name == nil
                ? HTTPFailure.unauthorized("You are not authorized to access this db.")
                : HTTPFailure.forbidden("You are not allowed to access this db.")
        }

        /// - Throws: ``HTTPFailure`` unless the user may change design documents and settings of the database.
        package func requireAdmin(_ user: UserContext) throws {
            guard !isAdmin(user) else { return }
            let reason = "You are not a db or server admin."
            throw user.name == nil ? HTTPFailure.unauthorized(reason) : HTTPFailure.forbidden(reason)
        }
    }
#endif
