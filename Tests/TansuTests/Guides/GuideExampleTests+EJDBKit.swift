import Foundation
import Tansu
import TansuEJDBKit
import TansuTestSupport
import Testing

// The catalogue of TansuEJDBKit.

struct Circle: BSONArchiving {
    var id: ObjectID?
    var radius: Double

    init(radius: Double) { self.radius = radius }

    func toDocument() -> BSONDocument {
        ["id": id.map { BSONValue($0) } ?? .null, "radius": .double(radius)]
    }

    init(document: BSONDocument) throws {
        id = document["id"]?.objectIDValue
        radius = document["radius"]?.doubleValue ?? 0
    }
}

extension GuideExampleTests {
    @Test func ejdbKit() throws {
        let db = try Database(.memory)

        let collection = try db.ensureCollection(withName: "foo")
        try collection.saveObjects([["first name": "foo", "last name": "bar"], ["first name": "fred"]])
        let query: BSONDocument = ["first name": ["$begin": "f"]]
        let hints: BSONDocument = ["$fields": ["first name": 1], "$orderby": ["first name": 1]]
        let results = try db.findObjects(withQuery: query, hints: hints, inCollection: collection)
        let kept = try db.transaction(inCollection: collection) { collection in
            try collection.update(withQuery: ["first name": "fred", "$set": ["last name": "x"]])
            return .abort
        }
        try db.removeCollection(withName: "foo")
        #expect(results.map { $0["first name"] } == ["foo", "fred"])
        #expect(!kept)
        #expect(try db.collections().isEmpty)
    }

    @Test func ejdbKitQueries() throws {
        let db = try Database(.memory)
        let collection = try db.ensureCollection(withName: "foo")
        try collection.saveObjects([["first name": "foo"], ["first name": "fred"], ["first name": "bar"]])

        let builder = EJDBQueryBuilder()
        builder.path("first name", beginsWith: "f")
        builder.orderBy([.orderPath("first name", direction: .descending)])
        let query = EJDBQuery(collection: collection, queryBuilder: builder)
        let count = try query.fetchCount()
        let fred = try query.fetchObject()
        let same = EJDBFIQueryBuilder.build().beginsWith("first name", "f").maxRecords(10)
        let both = try db.findObjects(withQueryBuilder: same, inCollection: collection)
        #expect(count == 2 && both.count == 2 && fred?["first name"] == "fred")
    }

    @Test func objects() throws {
        let db = try Database(.memory)
        var printed: [Double] = []
        func print(_ radius: Double) { printed.append(radius) }

        try db.types.register(Circle.self)
        let shapes = try db.objects("shapes")
        let id = try shapes.save(Circle(radius: 2))
        for shape in try shapes.find(["radius": ["$gt": 1]]).all() {
            if let circle = shape as? Circle { print(circle.radius) }
        }
        #expect(printed == [2])
        #expect((try shapes.get(id) as? Circle)?.id == id.objectIDValue)
    }
}
