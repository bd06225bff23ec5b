import Foundation
import TansuObjects
import Testing

@Suite("References")
struct ReferenceTests {
    @Test("A reference is stored as the bare id")
    func bareID() throws {
        let author = Author(name: "Ursula")
        let book = Book(title: "The Dispossessed", author: Reference(to: author))
        let document = try BSONEncoder().encode(book)
        #expect(document["author"] == BSONValue(author.id))
        #expect(try BSONDecoder().decode(Book.self, from: document) == book)
    }
}
