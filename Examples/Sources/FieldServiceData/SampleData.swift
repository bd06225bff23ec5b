import Foundation
import TansuObjects

/// A field service as it could be: the same for the same numbers.
package struct SampleData: Sendable {
    package private(set) var customers: [Customer] = []
    package private(set) var sites: [Site] = []
    package private(set) var technicians: [Technician] = []
    package private(set) var suppliers: [Supplier] = []
    package private(set) var parts: [Part] = []
    package private(set) var orders: [WorkOrder] = []

    /// All of it.
    package var all: [any Codable & Identifiable & Sendable] {
        customers + sites + technicians + suppliers + parts + orders
    }

    /// The first day of the orders.
    package static let firstDay = Date(timeIntervalSince1970: 1_767_225_600)  // 2026-01-01
    private static let cities = ["Barcelona", "Lisboa", "Wrocław", "Kyoto", "Turku", "Graz"]
    private static let trades = ["Bakery", "Brewery", "Clinic", "Hotel", "Library", "School", "Theatre"]
    private static let things = ["Boiler", "Chiller", "Filter", "Meter", "Pump", "Relay", "Thermostat", "Valve"]
    private static let names = ["Ada", "Björn", "Chiara", "Dmitri", "Esra", "Femi", "Grace", "Hiro"]

    /// - Parameters:
    ///   - customers: How many customers; each has one to three sites.
    ///   - orders: How many orders, over half a year.
    package init(customers customerCount: Int, orders orderCount: Int, seed: UInt64 = 1) {
        var random = SampleRandom(state: seed)
        suppliers = (1...4).map { Supplier(name: "Supplier \($0)", email: "orders@supplier\($0).example") }
        technicians = Self.names.enumerated().map { number, name in
            Technician(
                id: "T-0\(number + 1)", name: name, city: random.element(of: Self.cities),
                skills: Set(Technician.Skill.allCases.filter { _ in random.number(below: 2) == 0 }))
        }
        parts = Self.things.enumerated().flatMap { number, thing in
            (1...5).map { size in
                Part(
                    id: "P-\(number + 1)\(size)", name: "\(thing) size \(size)",
                    price: Decimal(random.number(below: 20_000) + 99) / 100, stock: random.number(below: 60) + 5,
                    minimum: 15,
                    suppliers: Set((0...1).map { _ in Reference(to: random.element(of: suppliers)) }))
            }
        }
        for number in 1...customerCount {
            let city = random.element(of: Self.cities)
            let customer = Customer(
                name: "\(city) \(random.element(of: Self.trades)) \(number)", email: "office\(number)@customer.example",
                phone: random.number(below: 2) == 0 ? nil : "+00 555 \(1000 + number)",
                address: Address(street: "Main Street \(number)", zip: "\(10_000 + number)", city: city))
            customers.append(customer)
            for site in 0...random.number(below: 3) {
                sites.append(
                    Site(
                        customer: Reference(to: customer), name: site == 0 ? "Headquarters" : "Branch \(site)",
                        address: Address(
                            street: "Side Street \(number)", zip: "\(20_000 + number)",
                            city: random.element(of: Self.cities)),
                        contact: random.number(below: 3) == 0 ? random.element(of: Self.names) : nil))
            }
        }
        orders = (1...orderCount).map { order(number: $0, of: orderCount, &random) }
    }

    /// An order: most of those of the past are done. Visits of one technician do not overlap.
    private func order(number: Int, of count: Int, _ random: inout SampleRandom) -> WorkOrder {
        let day = (number - 1) * 180 / count
        let opened = Self.firstDay.addingTimeInterval(Double(day) * 86_400)
        let thing = random.element(of: Self.things)
        var order = WorkOrder(
            number: number, title: "\(thing) \(random.number(below: 2) == 0 ? "is broken" : "is due for a check")",
            site: Reference(to: random.element(of: sites)), priority: random.element(of: WorkOrder.Priority.allCases),
            opened: opened)
        let kind = random.number(below: 10)
        guard kind < 8 else {
            if kind == 9 { order.status = .cancelled }
            return order
        }
        // One hour of one day and technician for each number.
        let technician = technicians[number % technicians.count]
        let start = opened.addingTimeInterval(86_400 + Double(8 + number / technicians.count % 9) * 3600)
        order.visit = WorkOrder.Visit(technician: Reference(to: technician), start: start, minutes: 60)
        order.lines = [WorkOrder.Line("Work", quantity: 1 + random.number(below: 4), price: 58)]
        for _ in 0..<random.number(below: 4) {
            order.lines.append(WorkOrder.Line(random.element(of: parts), quantity: 1 + random.number(below: 3)))
        }
        order.status = day < 150 ? .done : .scheduled
        if order.status == .done { order.finished = order.visit?.end }
        return order
    }
}

/// Random numbers that repeat (SplitMix64).
package struct SampleRandom: Sendable {
    package var state: UInt64

    package init(state: UInt64) { self.state = state }

    package mutating func number(below limit: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((z ^ (z >> 31)) % UInt64(limit))
    }

    package mutating func element<Element>(of elements: [Element]) -> Element {
        elements[number(below: elements.count)]
    }
}
