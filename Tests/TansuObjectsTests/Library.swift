import TansuObjects

struct Country: Codable, Sendable, Identifiable, Hashable {
    var id: String
    var name: String
}

struct Author: Codable, Sendable, Identifiable, Hashable {
    var id = ObjectID()
    var name: String
    var country: Reference<Country>?
    var born: Int?
}

struct Tag: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var name: String
}

struct Book: Codable, Sendable, Identifiable, Hashable {
    var id = ObjectID()
    var title: String
    var year = 1974
    var author: Reference<Author>
    var editor: Reference<Author>?
    var tags: [Reference<Tag>] = []
}

/// The model of a library.
func libraryModel(version: Int = 1) throws -> Model {
    try Model(version: version) {
        Entity("countries", of: Country.self)
        Entity("authors", of: Author.self)
            .reference(\.country, to: "countries")
        Entity("tags", of: Tag.self)
        Entity("books", of: Book.self, indexes: [Database.Index(on: \.title)])
            .reference(\.author, to: "authors")
            .reference(\.editor, to: "authors")
            .reference(\.tags, to: "tags")
    }
}
