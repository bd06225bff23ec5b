extension Database {
    /// A collection of documents, as they are (`Collection<BSONDocument>`) or as values of a Codable type.
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
    /// It is a name and a place to look, no more: making one costs nothing, and one of a collection that does not
    /// exist finds nothing. It keeps its database open.
    public struct Collection<Element: Sendable>: Sendable {
        /// The collection's name.
        public let name: String

        let session: Session
        let codec: DocumentCodec<Element>

        init(session: Session, name: String, codec: DocumentCodec<Element>) {
            self.session = session
            self.name = name
            self.codec = codec
        }

        /// The same collection, seen and changed elsewhere.
        func moved(to session: Session) -> Self {
            Self(session: session, name: name, codec: codec)
        }

        /// The same collection with its documents seen as another type.
        ///
        /// - Parameter type: What documents are decoded as and encoded from.
        public func decoded<Other: Codable & Sendable>(as type: Other.Type) -> Collection<Other> {
            Collection<Other>(session: session, name: name, codec: .codable())
        }
    }
}
