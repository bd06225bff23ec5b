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
            self.session = session
            self.name = name
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
            Collection<Other>(session: session, name: name, codec: .codable())
        }
    }
}
