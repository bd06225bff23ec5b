import FieldServiceData
import Foundation
import TansuObjects
import Testing

@Suite("Lists, schedules and searches")
struct ListTests {
    @Test("The board has the open orders, the most urgent first")
    func board() async throws {
        let fixture = try await Fixture()
        let expected = fixture.samples.orders.filter { $0.status == .open || $0.status == .scheduled }
            .sorted { ($1.priority.rawValue, $0.opened, $0.number) < ($0.priority.rawValue, $1.opened, $1.number) }
        #expect(try await fixture.service.board().all() == expected)
    }

    @Test("A schedule has the visits of a technician with sites and customers")
    func schedule() async throws {
        let fixture = try await Fixture()
        let time =
            SampleData.firstDay.addingTimeInterval(86_400 * 20)..<SampleData.firstDay.addingTimeInterval(86_400 * 50)
        for technician in fixture.samples.technicians {
            let found = try await fixture.service.schedule(of: technician.id, in: time)
            let expected = fixture.samples.orders.filter { order in
                order.visit.map { $0.technician.id == technician.id && time.contains($0.start) } ?? false
            }
            #expect(found.map(\.order) == expected.sorted { $0.visit!.start < $1.visit!.start })
            #expect(found.map(\.customer) == found.map { fixture.customer(of: $0.order) })
            #expect(found.map(\.site) == found.map { fixture.site($0.order.site.id) })
        }
    }

    @Test("A work sheet has everything that the order refers to")
    func sheet() async throws {
        let fixture = try await Fixture(orders: 60)
        for order in fixture.samples.orders {
            let sheet = try #require(try await fixture.service.sheet(of: order.id))
            var numbers: [String] = []
            for case let part? in order.lines.map(\.part) where !numbers.contains(part.id) { numbers.append(part.id) }
            #expect(sheet.order == order && sheet.site == fixture.site(order.site.id))
            #expect(sheet.customer == fixture.customer(of: order))
            #expect(sheet.technician == fixture.samples.technicians.first { $0.id == order.visit?.technician.id })
            #expect(sheet.parts == numbers.compactMap { number in fixture.samples.parts.first { $0.id == number } })
        }
        #expect(try await fixture.service.sheet(of: ObjectID()) == nil)
    }

    @Test("The orders of a customer, through their sites")
    func history() async throws {
        let fixture = try await Fixture()
        for customer in fixture.samples.customers.prefix(5) {
            let found = try await fixture.service.history(ofCustomer: customer.name).all()
            let expected = fixture.samples.orders.filter { fixture.customer(of: $0) == customer }
            #expect(Set(found) == Set(expected) && found.count == expected.count)
            #expect(found.map(\.opened) == found.map(\.opened).sorted(by: >))
        }
    }

    @Test("Technicians with a skill who have no visit in a time")
    func free() async throws {
        let fixture = try await Fixture()
        for hour in 0..<24 {
            let start = SampleData.firstDay.addingTimeInterval(86_400 * 160 + 3600 * Double(hour))
            let time = start..<start.addingTimeInterval(7200)
            for skill in Technician.Skill.allCases {
                let found = try await fixture.service.free(skill, in: time).all()
                let expected = fixture.samples.technicians.filter { technician in
                    technician.skills.contains(skill)
                        && !fixture.samples.orders.contains { order in
                            guard order.status == .scheduled, let visit = order.visit else { return false }
                            return visit.technician.id == technician.id && visit.start < time.upperBound
                                && visit.end > time.lowerBound
                        }
                }
                #expect(found == expected)
            }
        }
    }

    @Test(
        "A search finds each attribute's beginning, in any case, at any depth",
        arguments: ["barcelona", "MAIN STREET 3", "boiler", "p-1", "heat", "office12@", "hiro", "nothing at all"])
    func search(text: String) async throws {
        let fixture = try await Fixture()
        func matches(_ texts: [String?]) -> Bool {
            texts.contains { $0?.lowercased().hasPrefix(text.lowercased()) ?? false }
        }
        func texts(_ address: Address) -> [String?] { [address.street, address.zip, address.city] }
        let found = try await fixture.service.search(text)
        let samples = fixture.samples
        #expect(
            found.customers
                == samples.customers.filter { matches([$0.name, $0.email, $0.phone] + texts($0.address)) })
        #expect(found.sites == samples.sites.filter { matches([$0.name, $0.contact] + texts($0.address)) })
        #expect(found.parts == samples.parts.filter { matches([$0.id, $0.name]) })
        #expect(
            found.orders
                == samples.orders.filter { order in
                    matches(
                        [order.title, order.notes, order.status.rawValue, order.visit?.technician.id]
                            + order.lines.flatMap { [$0.text, $0.part?.id] })
                })
    }

    @Test("A search uses the wildcard indexes")
    func indexes() async throws {
        let fixture = try await Fixture(customers: 2000, orders: 20)
        let query = fixture.service.customers.find(["**": ["$icase": ["$begin": "office199@"]]])
        let explanation = try await query.explain()
        #expect(explanation.plan.kind == .index)
        #expect(explanation.documentsExamined < fixture.samples.customers.count)
    }
}
