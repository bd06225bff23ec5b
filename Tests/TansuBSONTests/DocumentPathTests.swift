import Testing

@testable import TansuBSON

struct DocumentPathTests {
    let person: BSONDocument = ["pet": ["species": "cat", "toys": ["ball", ["kind": "mouse"]]], "a.b": ["c": 1]]

    @Test func valuesAreFoundByPath() {
        #expect(person[path: "pet.species"] == "cat")
        #expect(person[path: "pet.toys.0"] == "ball")
        #expect(person[path: "pet.toys.1.kind"] == "mouse")
        #expect(person[path: #"a\.b.c"#] == 1)
        // A backslash before any other character, and at the end, is part of the key.
        let backslashes: BSONDocument = [#"a\"#: 1, #"a\b"#: 2, #"c\"#: ["d": 3]]
        #expect(backslashes[path: #"a\"#] == 1)
        #expect(backslashes[path: #"a\b"#] == 2)
        #expect(backslashes[path: #"c\\.d"#] == 3)
        #expect(person[path: "pet.toys.2"] == nil)
        #expect(person[path: "pet.toys.x"] == nil)
        #expect(person[path: "pet.species.x"] == nil)
        #expect(person[path: ""] == nil)
        #expect(person[path: "pet..species"] == nil)
    }

    @Test func thePathSubscriptSetsAndRemoves() {
        var person = person
        person[path: "pet.species"] = "dog"
        person[path: "home.address.zip"] = 2
        person[path: "pet.toys.1.kind"] = nil
        person[path: "pet.toys.2"] = "bone"
        person[path: "pet.age", default: 1] = 4
        #expect(
            person == [
                "pet": ["species": "dog", "toys": ["ball", [:], "bone"], "age": 4], "a.b": ["c": 1],
                "home": ["address": ["zip": 2]],
            ])
        // Where there is no such place, nothing changes.
        let before = person
        person[path: "pet.species.x"] = 1
        person[path: "pet.toys.9"] = 1
        person[path: ""] = 1
        person[path: "pet..x"] = 1
        person[path: "x\0y"] = 1
        person[path: "no.where"] = nil
        #expect(person == before)
    }

    @Test func valuesAreSetByPath() throws {
        var person = person
        try person.setValue("dog", atPath: "pet.species")
        try person.setValue(2, atPath: "home.address.zip")
        try person.setValue("rope", atPath: "pet.toys.0")
        try person.setValue("bone", atPath: "pet.toys.2")
        try person.setValue("rat", atPath: "pet.toys.1.kind")
        #expect(person[path: "pet"] == ["species": "dog", "toys": ["rope", ["kind": "rat"], "bone"]])
        #expect(person[path: "home"] == ["address": ["zip": 2]])
        #expect(throws: Never.self) { try BSONDocument(bytes: person.bytes) }
    }

    @Test func pathsThatLeadNowhereAreErrors() {
        for path in ["", ".", "a.", "pet.species.x", "pet.toys.3", "pet.toys.-1", "pet.toys.x", "a\0"] {
            var copy = person
            #expect(throws: BSONError.self, "\(path)") { try copy.setValue(1, atPath: path) }
            #expect(copy == person)
        }
        var copy = person
        let deep = Array(repeating: "a", count: 100_000).joined(separator: ".")
        #expect(throws: BSONError.self) { try copy.setValue(1, atPath: deep) }
    }

    @Test func valuesAreRemovedByPath() throws {
        var person = person
        #expect(try person.removeValue(atPath: "pet.toys.0") == "ball")
        #expect(try person.removeValue(atPath: "pet.toys.0.kind") == "mouse")
        #expect(try person.removeValue(atPath: "pet.nothing") == nil)
        #expect(try person.removeValue(atPath: "pet.species") == "cat")
        #expect(person == ["pet": ["toys": [[:]]], "a.b": ["c": 1]])
        #expect(throws: BSONError.self) { try person.removeValue(atPath: "pet.") }
    }
}
