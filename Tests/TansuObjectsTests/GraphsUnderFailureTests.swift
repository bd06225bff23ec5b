import Foundation
import Tansu
import TansuObjects
import TansuTestSupport
import Testing

private struct Refused: Error, Equatable {}

/// A type of a user whose coding may fail.
private struct Member: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var name = ""

    init(_ id: Int, _ name: String = "") {
        self.id = id
        self.name = name
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        name = try container.decode(String.self, forKey: .name)
        if name == "undecodable" { throw Refused() }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        if name == "unencodable" { throw Refused() }
        try container.encode(name, forKey: .name)
    }

    private enum CodingKeys: String, CodingKey { case id, name }
}

private struct Team: Codable, Sendable, Identifiable, Hashable {
    struct Shift: Codable, Sendable, Hashable { var member: Reference<Member>? }

    var id: Int
    var lead: Reference<Member>?
    var members: [Reference<Member>] = []
    var shifts: [Shift] = []
    var parent: Reference<Team>?
}

private struct Stranger: Codable, Sendable, Identifiable { var id: Int }

private func model(version: Int = 1, lead: Database.DeleteRule = .nullify) throws -> Model {
    try Model(version: version) {
        Entity("members", of: Member.self)
        Entity("teams", of: Team.self)
            .reference(\.lead, to: "members", onDelete: lead)
            .reference(\.members, to: "members", onDelete: .nullify)
            .reference(\.shifts, \.member, to: "members", onDelete: .nullify)
            .reference(\.parent, to: "teams", onDelete: .cascade)
    }
}

@Suite("Models and graphs under failure")
struct GraphsUnderFailureTests {
    private let db: Database
    private let members: Database.Collection<Member>
    private let teams: Database.Collection<Team>

    init() throws {
        db = try Database(.memory)
        try db.use(model())
        members = try db.collection(of: Member.self)
        teams = try db.collection(of: Team.self)
    }

    // MARK: - Models

    @Test("A model that is not consistent is an error when it is made")
    func badModels() throws {
        func code(_ make: () throws -> Model) -> TansuError.Code? { errorCode { _ = try make() } }
        #expect(
            code { try Model { Entity("teams", of: Team.self).reference(\.lead, to: "members") } } == .invalidArgument)
        #expect(
            code {
                try Model {
                    Entity("members", of: Member.self)
                    Entity("teams", of: Team.self).reference(\.lead, to: "teams")
                }
            } == .invalidArgument)
        #expect(
            code {
                try Model {
                    Entity("members", of: Member.self)
                    Entity("others", of: Member.self)
                }
            } == .invalidArgument)
        #expect(
            code {
                try Model {
                    Entity("members", of: Member.self)
                    Entity("members", of: Stranger.self)
                }
            } == .invalidArgument)
        for name in ["", "$x", "a\u{0}b", String(repeating: "é", count: 61)] {
            let db = try Database(.memory)
            #expect(errorCode { try db.use(Model { Entity(name, of: Member.self) }) } != nil, "\(name)")
            #expect(try db.collectionNames().isEmpty)
        }
        // A circle of denials is a model like any other.
        let db = try Database(.memory)
        try db.use(
            Model {
                Entity("teams", of: Team.self).reference(\.parent, to: "teams", onDelete: .deny)
            })
        let teams = try db.collection(of: Team.self)
        try teams.save([Team(id: 1, parent: Reference(id: 2)), Team(id: 2, parent: Reference(id: 1))])
        #expect(errorCode { try teams.remove(id: 1) } == .referenced)
        #expect(try teams.remove { $0.id > 0 } == 2)
    }

    @Test("A second model, an older version, and a closed database are refused, and nothing changes")
    func otherModels() throws {
        let folder = try TemporaryFolder()
        var db = try Database(path: folder.path("db"))
        try db.use(model(version: 2))
        try db.use(model(version: 2))
        let names = try db.collectionNames()
        #expect(errorCode { try db.use(Model(version: 2) { Entity("strangers", of: Stranger.self) }) } == .invalidState)
        #expect(errorCode { try db.use(Model(version: 3) { Entity("strangers", of: Stranger.self) }) } == .invalidState)
        #expect(try db.collectionNames() == names)
        #expect(errorCode { _ = try db.collection(of: Stranger.self) } == .invalidArgument)
        try db.close()
        db = try Database(path: folder.path("db"))
        #expect(errorCode { try db.use(Model(version: 1) { Entity("strangers", of: Stranger.self) }) } == .version)
        #expect(errorCode { _ = try db.collection(of: Stranger.self) } == .invalidState)
        #expect(try db.collectionNames() == names)
        try db.use(model(version: 3, lead: .deny))
        try db.collection(of: Member.self).save(Member(1))
        try db.collection(of: Team.self).save(Team(id: 1, lead: Reference(id: 1)))
        #expect(errorCode { try db.collection(of: Member.self).remove(id: 1) } == .referenced)
    }

    @Test("A model that does not fit what is stored changes nothing", arguments: ["lead", "members", "shifts"])
    func misfit(path: String) throws {
        let db = try Database(.memory)
        let bad: BSONDocument =
            switch path {
            case "lead": ["_id": 1, "lead": .regularExpression(BSONRegularExpression("x"))]
            case "members": ["_id": 1, "members": [1, [2, 3]]]
            default: ["_id": 1, "shifts": [["member": [[1]]]]]
            }
        try db.collection("teams").save([["_id": 0], bad])
        do {
            try db.use(model())
            Issue.record("used")
        } catch let error as TansuError {
            #expect(error.code == .invalidDocument)
            #expect(error.context.contains("_id 1"))
        }
        #expect(try db.collectionNames() == ["teams"])
        #expect(try db.collection("teams").indexes().isEmpty)
        #expect(try db.collections().allSatisfy { $0.references.isEmpty })
        try db.collection("teams").remove(["_id": 1])
        try db.use(model())
        #expect(try db.collection(of: Team.self).count() == 1)
    }

    // MARK: - Graphs

    @Test("A graph with a value that is not encoded, of another type, or that refers to nothing saves nothing")
    func badGraphs() throws {
        try members.save(Member(9, "there"))
        let good = Team(id: 1, members: [Reference(id: 9)])
        #expect(throws: Refused.self) { try db.save(graph: [good, Member(1, "unencodable")]) }
        #expect(errorCode { try db.save(graph: [good, Stranger(id: 1)]) } == .invalidArgument)
        for bad in [
            Team(id: 2, lead: Reference(id: 5)), Team(id: 2, members: [Reference(id: 9), Reference(id: 5)]),
            Team(id: 2, shifts: [Team.Shift(), Team.Shift(member: Reference(id: 5))]),
            Team(id: 2, parent: Reference(id: 3)),
        ] {
            #expect(errorCode { try db.save(graph: [good, bad]) } == .notFound)
        }
        #expect(try teams.count() == 0)
        #expect(errorCode { try Database(.memory).save(graph: [good]) } == .invalidState)
        // In a transaction, what was before it stays.
        try db.write { transaction in
            try transaction.collection(of: Member.self).save(Member(2))
            #expect(
                errorCode { try transaction.save(graph: [good, Team(id: 3, lead: Reference(id: 5))]) } == .notFound)
            #expect(throws: Refused.self) { try transaction.save(graph: [good, Member(1, "unencodable")]) }
        }
        #expect(try teams.count() == 0)
        #expect(try members.count() == 2)
        #expect(try db.save(graph: []) == 0)
        // Circles, a reference to itself, and any order.
        let circle = [
            Team(id: 1, parent: Reference(id: 2)), Team(id: 2, parent: Reference(id: 1)),
            Team(id: 3, parent: Reference(id: 3)),
        ]
        #expect(try db.save(graph: circle) == 3)
        #expect(try db.save(graph: circle) == 0)
        #expect(try db.danglingReferences().count == 0)
        try db.close()
        #expect(errorCode { try db.save(graph: [good]) } == .closed)
    }

    @Test("One value twice in a graph: the same is saved once, and of two that differ the last is stored, or none")
    func twice() throws {
        #expect(try db.save(graph: [Member(1, "a"), Member(1, "a")]) == 1)
        let code = errorCode { try db.save(graph: [Member(1, "b"), Member(2), Member(1, "c")]) }
        #expect(try members.get(1)?.name == (code == nil ? "c" : "a"))
        #expect(try (members.get(2) != nil) == (code == nil))
    }

    // MARK: - Including

    @Test("What cannot be decoded is the type's error wherever it is included, and what is missing is left out")
    func including() throws {
        try members.save([Member(1, "a"), Member(2, "b")])
        try teams.save([
            Team(
                id: 1, lead: Reference(id: 1), members: [2, 1, 2, 7].map { Reference(id: $0) },
                shifts: [2, 2, 8, 1].map { Team.Shift(member: Reference(id: $0)) } + [Team.Shift()]),
            Team(id: 2, lead: Reference(id: 8), parent: Reference(id: 2)), Team(id: 3, parent: Reference(id: 1)),
        ])
        let rows = try teams.find().sorted(by: \.id).including(\.lead).including(all: \.members)
            .including(all: \.shifts, \.member).including(\.parent).including(all: \Team.parent).all()
        #expect(rows.map { $0.1?.id } == [1, nil, nil])
        #expect(rows.map { $0.2.map(\.id) } == [[2, 1, 2], [], []])
        #expect(rows.map { $0.3.map(\.id) } == [[2, 1], [], []])
        #expect(rows.map { $0.4?.id } == [nil, 2, 1])
        #expect(rows.map { $0.5.map(\.id) } == [[3], [2], []])
        let counted = try members.find().sorted(by: \.id).annotated(with: .count(\Team.members)).all()
        #expect(counted.map(\.1) == [1, 1])
        try db.collection("members").save(["_id": 2, "name": "undecodable"])
        #expect(throws: DecodingError.self) { try teams.find().including(all: \.members).all() }
        #expect(throws: DecodingError.self) { try teams.find().including(all: \.shifts, \.member).all() }
        #expect(throws: DecodingError.self) { try Reference<Member>(id: 2).resolve(in: db) }
        #expect(throws: DecodingError.self) { try [Reference<Member>(id: 1), Reference(id: 2)].resolved(in: db) }
        #expect(try teams.find().including(\.lead).all().count == 3)
        #expect(try members.find { $0.id == 1 }.including(all: \Team.lead).all().first?.1.map(\.id) == [1])
        try db.collection("members").save(["_id": 2, "nothing": true])
        #expect(throws: DecodingError.self) { try teams.find().including(all: \.members).all() }
        try db.close()
        #expect(errorCode { _ = try teams.find().including(\.lead).all() } == .closed)
        #expect(errorCode { _ = try Reference<Member>(id: 1)(in: db) } == .closed)
    }

    @Test("References to ids that other programs stored with another type of number lead there")
    func numbersOfOtherTypes() throws {
        try db.collection("members").save([["_id": .int64(1), "name": "a"], ["_id": .double(2), "name": "b"]])
        try db.collection("teams").save([
            ["_id": 1, "lead": .double(1), "members": [.double(1), 2, .int64(2)], "shifts": [["member": .int64(2)]]]
        ])
        let row = try #require(
            try teams.find().including(\.lead).including(all: \.members).including(all: \.shifts, \.member).all().first)
        #expect(row.1?.name == "a")
        #expect(row.2.map(\.name) == ["a", "b", "b"])
        #expect(row.3.map(\.name) == ["b"])
        let inverse = try members.find().including(all: \Team.members).annotated(with: .count(\Team.members)).all()
        #expect(inverse.map { $0.1.map(\.id) } == [[1], [1]])
        #expect(inverse.map(\.2) == [1, 1])
        #expect(try teams.find { $0.lead.name == "a" }.count() == 1)
        #expect(try db.save(graph: [Team(id: 2, lead: Reference(id: 2))]) == 1)
        #expect(try db.danglingReferences().count == 0)
        #expect(try db.bag("b").add([Member(1), Member(2)]) == 2)
        #expect(try db.bag("b").objects(of: Member.self).map(\.name) == ["a", "b"])
    }

    @Test("Ids of text that is canonically equivalent are those of different documents, also where they are included")
    func equivalentText() throws {
        struct Word: Codable, Sendable, Identifiable, Hashable {
            var id: String
            var text: String
        }
        struct Line: Codable, Sendable, Identifiable, Hashable {
            var id: Int
            var word: Reference<Word>
            var words: [Reference<Word>] = []
        }
        let db = try Database(.memory)
        try db.use(
            Model {
                Entity("words", of: Word.self)
                Entity("lines", of: Line.self).reference(\.word, to: "words").reference(\.words, to: "words")
            })
        let (one, other) = ("caf\u{e9}", "cafe\u{301}")
        try db.collection(of: Word.self).save([Word(id: one, text: "one"), Word(id: other, text: "other")])
        let lines = try db.collection(of: Line.self)
        try lines.save([
            Line(id: 1, word: Reference(id: one), words: [Reference(id: other), Reference(id: one)]),
            Line(id: 2, word: Reference(id: other)),
        ])
        let rows = try lines.find().including(\.word).including(all: \.words).all()
        #expect(rows.map { $0.1?.text } == ["one", "other"])
        #expect(rows.map { $0.2.map(\.text) } == [["other", "one"], []])
        let inverse = try db.collection(of: Word.self).find().including(all: \Line.word)
            .annotated(with: .count(\Line.word)).all()
        #expect(inverse.map { $0.1.map(\.id) } == [[1], [2]])
        #expect(inverse.map(\.2) == [1, 1])
        let sums = try db.collection(of: Word.self).find().annotated(with: .of(\Line.word, .sum(\.id))).all()
        #expect(sums.map(\.1) == [1, 2])
        #expect(try Reference<Word>(id: other).resolve(in: db)?.text == "other")
    }

    // MARK: - Several ids

    @Test(
        "Documents with several ids come in their order, more than fit into one answer, whatever the types of the ids")
    func severalIDs() throws {
        let things = try db.collection("things")
        let ids: [BSONValue] = [
            1, .double(2.5), "x", .document(["a": 1]), .bool(true), .date(5), .minKey, .double(.nan),
        ]
        try things.save(ids.map { ["_id": $0, "big": .string(String(repeating: "x", count: 5_000_000))] })
        let asked = ids + ["none", .int64(1), .double(1)] + ids.reversed()
        let found = try db.read { try $0.collection("things").get(ids: asked) }.compactMap { $0["_id"] }
        #expect(found == ids + [1, 1] + ids.reversed())
        #expect(try things.get(ids: [BSONValue]()).isEmpty)
        #expect(try db.collection("nothing").get(ids: [1, 2]).isEmpty)
        for bad in [.array([1]), .undefined, .regularExpression(BSONRegularExpression("x"))] as [BSONValue] {
            #expect(errorCode { _ = try things.get(ids: [1, bad]) } == .invalidID)
        }
    }
}
