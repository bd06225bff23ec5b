import Tansu
import TansuEJDBKit
import TansuTestSupport
import Testing

@Suite("EJDBKit's query builders")
struct QueryBuilderTests {
    /// The query that both builders below make.
    private static let everything: BSONDocument = [
        "a": "text", "b": ["$not": "text"], "c": ["$icase": "text"], "d": ["$begin": "be"],
        "e": ["$not": ["$begin": "no"]], "f": ["$gt": 1], "g": ["$gte": 1.5], "h": ["$lt": 10], "i": ["$lte": 10],
        "j": ["$bt": [1, 5]], "k": ["$in": [1, "2"]], "l": ["$icase": ["$in": ["d", "e"]]], "m": ["$nin": [1, 2]],
        "n": ["$icase": ["$nin": ["d"]]], "o": ["$exists": true], "p": ["$exists": false],
        "q": ["$strand": ["g", "h"]], "r": ["$stror": ["g", "h"]],
        "s": ["$elemMatch": ["aa": "x", "bb": 10, "cc": ["$not": 20]]],
    ]

    private static func object() -> EJDBQueryBuilder {
        let builder = EJDBQueryBuilder()
        builder.path("a", matches: "text")
        builder.path("b", notMatches: "text")
        builder.path("c", matchesIgnoreCase: "text")
        builder.path("d", beginsWith: "be")
        builder.path("e", notBeginsWith: "no")
        builder.path("f", greaterThan: 1)
        builder.path("g", greaterThanOrEqualTo: 1.5)
        builder.path("h", lessThan: 10)
        builder.path("i", lessThanOrEqualTo: 10)
        builder.path("j", between: [1, 5])
        builder.path("k", in: [1, "2"])
        builder.path("l", inIgnoreCase: ["d", "e"])
        builder.path("m", notIn: [1, 2])
        builder.path("n", notInIgnoreCase: ["d"])
        builder.path("o", exists: true)
        builder.path("p", exists: false)
        builder.path("q", stringAllIn: ["g", "h"])
        builder.path("r", stringAnyIn: ["g", "h"])
        let element = EJDBQueryBuilder()
        element.path("aa", matches: "x")
        element.path("bb", matches: 10)
        element.path("cc", notMatches: 20)
        builder.path("s", elementsMatch: element)
        return builder
    }

    private static func fluent() -> EJDBFIQueryBuilder {
        EJDBFIQueryBuilder.build()
            .match("a", "text").notMatch("b", "text").matchIgnoreCase("c", "text").beginsWith("d", "be")
            .notBeginsWith("e", "no").greaterThan("f", 1).greaterThanOrEqualTo("g", 1.5).lessThan("h", 10)
            .lessThanOrEqualTo("i", 10).between("j", [1, 5]).in("k", [1, "2"]).inIgnoreCase("l", ["d", "e"])
            .notIn("m", [1, 2]).notInIgnoreCase("n", ["d"]).exists("o").notExists("p").stringAllIn("q", ["g", "h"])
            .stringAnyIn("r", ["g", "h"])
            .elemsMatch("s", EJDBFIQueryBuilder.build().match("aa", "x").match("bb", 10).notMatch("cc", 20))
    }

    @Test("Every condition of the builders is a condition of the query")
    func conditions() throws {
        #expect(Self.object().query == Self.everything)
        #expect(Self.fluent().query == Self.everything)
        #expect(Self.object().hints.isEmpty && Self.fluent().hints.isEmpty)
        // The engine takes them all.
        #expect(try Database(.memory).collection("c").count(Self.everything) == 0)
    }

    @Test("Queries are joined by $and and $or")
    func joined() {
        let expected: BSONDocument = [
            "a": 0, "$and": [["$or": [["t": 1, "u": 2]]], ["$or": [["v": 3], ["w": 4]]]],
        ]
        let fluent = EJDBFIQueryBuilder.build().match("a", 0).andJoin([
            EJDBFIQueryBuilder.build().orJoin([EJDBFIQueryBuilder.build().match("t", 1).match("u", 2)]),
            EJDBFIQueryBuilder.build()
                .orJoin([EJDBFIQueryBuilder.build().match("v", 3), EJDBFIQueryBuilder.build().match("w", 4)]),
        ])
        #expect(fluent.query == expected)

        let (builder, first, second) = (EJDBQueryBuilder(), EJDBQueryBuilder(), EJDBQueryBuilder())
        let one = EJDBQueryBuilder()
        one.path("t", matches: 1)
        one.path("u", matches: 2)
        first.orJoin([one])
        second.orJoin([EJDBFIQueryBuilder.build().match("v", 3), EJDBFIQueryBuilder.build().match("w", 4)])
        builder.path("a", matches: 0)
        builder.andJoin([first, second])
        #expect(builder.query == expected)
    }

    @Test("Joins are the query's $do, next to its conditions")
    func joins() {
        let builder = EJDBQueryBuilder()
        builder.path("month", matches: "June")
        builder.path("car", addCollectionToJoin: "cars")
        builder.path("driver", addCollectionToJoin: "people")
        let joins: BSONDocument = ["car": ["$join": "cars"], "driver": ["$join": "people"]]
        #expect(builder.query == ["month": "June", "$do": .document(joins)])
        #expect(builder.joins == joins)
        let fluent = EJDBFIQueryBuilder.build().addJoinToCollection("car", "cars")
        #expect(fluent.query == ["$do": ["car": ["$join": "cars"]]])
        #expect(fluent.joins == ["car": ["$join": "cars"]])
        #expect(EJDBFIQueryBuilder().joins.isEmpty)
    }

    @Test("A projection is in the query, other hints are hints")
    func hints() {
        let expected: BSONDocument = [
            "$max": 10, "$skip": 0, "$fields": ["a": 1, "f": 1], "$orderby": ["a": -1, "f": 1],
        ]
        let order: [EJDBQueryOrderByHint] = [
            .orderPath("a", direction: .descending), .orderPath("f", direction: .ascending),
        ]
        let fluent = EJDBFIQueryBuilder.build().greaterThan("a", 10).projection("a").maxRecords(10).skipRecords(0)
            .onlyFields(["a", "f"]).orderBy(order)
        #expect(fluent.hints == expected)
        #expect(fluent.query == ["a": ["$gt": 10], "a.$": 1])
        let builder = EJDBQueryBuilder()
        builder.path("a", greaterThan: 10)
        builder.projection(forPath: "a")
        builder.maxRecords(10)
        builder.skipRecords(0)
        builder.onlyFields(["a", "f"])
        builder.orderBy(order)
        #expect(builder.hints == expected)
        #expect(builder.query == ["a": ["$gt": 10], "a.$": 1])
    }

    @Test("Update operators are in the query")
    func updates() {
        let expected: BSONDocument = [
            "$set": ["a": 1], "$upsert": ["b": 1], "$inc": ["c": 1], "$addToSet": ["d": 1], "$addToSetAll": ["e": [1]],
            "$pull": ["f": 1], "$pullAll": ["g": [1]], "$unset": ["h": "", "i": ""], "$dropall": true,
        ]
        let fluent = EJDBFIQueryBuilder.build().set(["a": 1]).upsert(["b": 1]).increment(["c": 1])
            .addToSet(["d": 1]).addToSetAll(["e": [1]]).pull(["f": 1]).pullAll(["g": [1]]).unset(["h", "i"]).dropAll()
        #expect(fluent.query == expected)
        let builder = EJDBQueryBuilder()
        builder.set(["a": 1])
        builder.upsert(["b": 1])
        builder.increment(["c": 1])
        builder.addToSet(["d": 1])
        builder.addToSetAll(["e": [1]])
        builder.pull(["f": 1])
        builder.pullAll(["g": [1]])
        builder.unset(["h", "i"])
        builder.dropAll()
        #expect(builder.query == expected)
    }
}
