import Foundation
import Tansu
import Testing

// The recipes of cookbook.md that are not examples of other pages.
extension GuideExampleTests {
    @Test func cookbook() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct Job: Codable, Sendable, Identifiable {
            var id: Int
            var title: String
            var owner: String?
            var state = "new"
            var version = 1
            var due: Date?
        }

        let db = try Database(.temporary)  // Database(path: "jobs.tansu") in a program
        let jobs = try db.collection("jobs", of: Job.self)

        try jobs.save([Job(id: 1, title: "Paint"), Job(id: 2, title: "Sweep"), Job(id: 3, title: "Mend", owner: "ann")])
        print(try jobs.get(1)?.title ?? "none")  // Paint
        try jobs.remove(id: 2)
        print(try jobs.count())  // 2

        try jobs.update(id: 1) { $0.title = "Paint the door" }
        try jobs.update(where: { $0.owner == "ann" }) { $0.set(\.state, "begun") }
        print(try jobs.find { $0.state == "begun" }.all().map(\.id))  // [3]

        let visits = try db.collection("visits")
        for _ in 1...3 { try visits.upsert(["page": "/"], ["$inc": ["count": 1]]) }
        print(try visits.find(["page": "/"]).first()?["count"]?.intValue ?? 0)  // 3

        struct User: Codable, Sendable, Identifiable { var id: Int; var mail: String? }
        let users = try db.collection("users", of: User.self)
        try users.ensureIndex("by_mail", on: ["mail": .ascending], unique: true, sparse: true, caseInsensitive: true)
        try users.save(User(id: 1, mail: "ann@example.org"))
        do {
            try users.save(User(id: 2, mail: "Ann@example.org"))
        } catch let error as TansuError {
            print(error.code)  // NOT_UNIQUE
        }

        let files = try jobs.attachments(of: 1)
        try files.add("a green door".utf8, name: "note.txt", type: "text/plain")
        print(try files.list().map(\.name))  // ["note.txt"]
        print(String(decoding: try files.bytes(of: "note.txt", range: 2..<7), as: UTF8.self))  // green

        try db.write { transaction in
            let jobs = try transaction.collection("jobs", of: Job.self)
            try jobs.update(id: 1) { $0.owner = "bob" }
            try transaction.collection("log").save(["job": 1, "text": "given to bob"])
        }
        print(try db.collection("log").count())  // 1

        let (open, noted) = try db.read { snapshot in
            (try snapshot.collection("jobs").count(), try snapshot.collection("log").count())
        }
        print(open, noted)  // 2 1

        let read = try jobs.get(1)!
        let result = try jobs.update(
            ["_id": 1, "version": BSONValue(read.version)],
            ["$set": ["title": "Paint the wall"], "$inc": ["version": 1]])
        print(result.modified == 1 ? "saved" : "somebody was faster")  // saved

        let taken = try jobs.findAndUpdate(
            ["state": "new"], ["$set": ["state": "begun", "owner": "worker 7"]], hints: ["$orderby": ["_id": 1]],
            returning: .after)
        print(taken?.id ?? 0, taken?.owner ?? "")  // 1 worker 7

        try jobs.insert(
            (10..<2010).map { Job(id: $0, title: "\($0)", due: Date(timeIntervalSince1970: Double($0) * 86_400)) })
        print(try jobs.count())  // 2002

        let sorted = try jobs.find { $0.id >= 10 }.sorted(by: \.id)
        let page = try sorted.page(size: 20)
        print(page.elements.last?.id ?? 0)  // 29
        if let token = page.next {
            print(try sorted.page(after: token, size: 20).elements.first?.id ?? 0)  // 30
        }

        let months = try jobs.find { $0.due != nil }.groups(
            by: .start(of: .month, \.due, in: .gmt), computing: .count, sorted: [.by(.count, .descending)], limit: 3)
        print(months.map(\.1))  // [31, 31, 31]

        let late = try jobs.find { $0.due < Date(timeIntervalSince1970: 86_400 * 12) }
        print(try late.explain().suggestion?.map(\.path) ?? [])  // ["due"]
        try jobs.ensureIndex(on: ["due": .ascending])
        print(try late.explain().documentsExamined)  // 2

        struct Recipe: Codable, Sendable, Identifiable { var id: Int; var title: String }
        let recipes = try db.collection("recipes", of: Recipe.self, indexes: [.text(on: \.title)])
        try recipes.save([Recipe(id: 1, title: "Strong coffee"), Recipe(id: 2, title: "Tea with milk")])
        print(try recipes.search(.prefix("coff")).all().map(\.id))  // [1]
        print(try recipes.completions(of: "stro").map(\.text))  // ["Strong"]
        print(try recipes.suggestions(for: "cofee").text)  // coffee

        try db.collection("recipes").update(["_id": 1], ["$set": ["stars": 5]])
        try recipes.update(id: 1) { $0.title = "Very strong coffee" }
        print(try db.collection("recipes").find(["stars": 5]).count())  // 1

        try db.setSchema(
            ["required": ["name"], "properties": ["age": ["bsonType": "int", "minimum": 0]]], for: "people")
        do {
            try db.collection("people").save(["name": "ann", "age": -1])
        } catch let error as TansuError {
            print(error.code)  // INVALID_DOCUMENT
        }

        try db.collection("towns").save(["_id": 1, "zip": "12345"])
        var migrations = Database.Migrations()
        migrations.add("zip is code") { step in
            try step.collection("towns").update([:], ["$rename": ["zip": "code"]])
        }
        try db.migrate(migrations)
        print(try db.collection("towns").find().all())  // [{"_id":1,"code":"12345"}]

        #expect(try shown(by: "cookbook").hasPrefix(printed.lines))
    }
}
