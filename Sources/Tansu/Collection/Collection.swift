extension Database {
    /// A collection of documents, as `BSONDocument` or as values of a Codable type.
    ///
    /// For example:
    ///
    /// ```swift
    /// struct Person: Codable { var id = ObjectID(); var name: String; var age: Int }
    ///
    /// let people = try db.collection("people", of: Person.self)
    /// try people.save(Person(name: "mike", age: 12))
    /// let mike = try people.find(["name": "mike"]).first()
    /// ```
    ///
    /// It is only a name and a session: making one costs nothing, and a collection that does not exist is empty. It
    /// keeps its database open.
    public struct Collection<Element: Sendable>: Sendable {
        /// The collection's name.
        public let name: String

        package let session: Session
        package let codec: DocumentCodec<Element>

        init(session: Session, name: String, codec: DocumentCodec<Element>) {
            self.session = session.on(Self.self)
            self.name = name
            var codec = codec
            codec.collection = name
            self.codec = codec
        }

        /// The same collection in another session.
        package func using(_ session: Session) -> Self {
            Self(session: session, name: name, codec: codec)
        }

        /// The same collection with another type for its documents.
        ///
        /// - Parameter type: What documents are decoded as and encoded from.
        public func decoded<Other: Codable & Sendable>(as type: Other.Type) -> Collection<Other> {
            Collection<Other>(session: session, name: name, codec: .codable(like: codec))
        }

        /// The same collection with another way to handle documents that cannot be decoded, for its queries,
        /// observations and change streams.
        ///
        /// - Parameter policy: What happens to them; strict unless this is called.
        public func decoding(_ policy: DecodingPolicy) -> Self {
            var codec = codec
            codec.policy = policy
            return Self(session: session, name: name, codec: codec)
        }
    }
}

extension Database.Collection where Element: Codable {
    /// The same collection with values stored in another form, such as dates as text, for databases that other programs
    /// write.
    ///
    /// The strategies hold for what is saved, read and updated with this collection, for ids, and for the values in its
    /// queries: `$0.when > date` compares with what is stored. A collection of documents has none.
    ///
    /// - Parameter strategies: How values are stored.
    public func coding(_ strategies: BSONCodingStrategies) -> Self {
        var codec = DocumentCodec<Element>.codable(strategies)
        codec.policy = self.codec.policy
        return Self(session: session, name: name, codec: codec)
    }
}
