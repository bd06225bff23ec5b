import Checking
import FieldServiceData
import Foundation
import TansuObjects

/// One day of a field service, from the morning's board to the evening's reports. Each step is checked.
@main
struct FieldServiceDay {
    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("field-service-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = try await FieldService(path: folder.path)
        let samples = SampleData(customers: 40, orders: 600)
        print("imported", try await service.load(samples), "documents")

        let day = Day(service: service, samples: samples)
        let order = try await day.call()
        try await day.plan(order)
        try await day.drive(order)
        try await day.edit(order)
        try await day.work(order)
        try await day.orderParts()
        try await day.cleanUp(order)
        try await service.db.close()

        let reopened = try await FieldService(path: folder.path)
        try await Evening(service: reopened).report()
        try await reopened.db.close()
        print("all checks passed")
    }
}
