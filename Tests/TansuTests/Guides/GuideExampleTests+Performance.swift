import CoreMetrics
import Foundation
import Logging
import Tansu
import TansuTestSupport
import Testing

// Performance.md and SlowCallsAndMetrics.md.
extension GuideExampleTests {
    @Test func performance() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct City: Codable, Sendable { var id: Int; var country: String; var population: Int }

        let db = try Database(.memory)
        let cities = try db.collection("cities", of: City.self)
        try cities.insert((0..<5000).map { City(id: $0, country: "C\($0 % 100)", population: $0) })

        let largest = try cities.find { $0.country == "C7" }.sorted(by: \.population, .descending).limit(3)
        let before = try largest.explain()
        print(before.plan)  // collection scan, sorted in memory
        print(before.suggestion?.map(\.path) ?? [])  // ["country", "population"]

        try cities.ensureIndex(on: ["country": .ascending, "population": .descending])
        let after = try largest.explain()
        print(after.plan.kind == .index, after.plan.order == .index)  // true true
        print(after.documentsExamined)  // 3

        struct Shop: Codable, Sendable { var id: Int; var name: String; var city: String; var mail: String? }

        let shops = try db.collection(
            "shops", of: Shop.self,
            indexes: [
                Database.Index("by_mail", on: \.mail, unique: true, sparse: true),
                Database.Index(on: \.city, \.name),
            ])
        try shops.save([Shop(id: 1, name: "Bell", city: "Kassel"), Shop(id: 2, name: "Stern", city: "Bonn")])
        print(try shops.indexes().map(\.name))  // ["by_mail", "city_1_name_1"]

        try db.write(durability: .process) { transaction in
            try transaction.collection("cities", of: City.self).save(City(id: 5000, country: "C0", population: 1))
        }

        #expect(try printed.lines == shown(by: "Performance"))
    }

    @Test func slowCallsAndMetrics() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("people")

        let options = Database.Options(
            logger: Logger(label: "people"), slowCallTime: .milliseconds(50), metrics: MetricsSystem.factory)
        let db = try Database(path: path, options: options)
        try db.collection("people").save(["_id": 1])
        #expect(try db.collection("people").count() == 1)
    }
}
