import Foundation
import TansuObjects

/// What is to be done at a site.
package struct WorkOrder: Codable, Hashable, Sendable, Identifiable {
    package enum Status: String, Codable, Hashable, Sendable, CaseIterable {
        case open, scheduled, done, cancelled
    }

    package enum Priority: Int, Codable, Hashable, Sendable, CaseIterable {
        case low, normal, urgent
    }

    /// When a technician comes.
    package struct Visit: Codable, Hashable, Sendable {
        package var technician: Reference<Technician>
        package var start: Date
        package var end: Date

        package init(technician: Reference<Technician>, start: Date, minutes: Int) {
            self.technician = technician
            self.start = start
            end = start.addingTimeInterval(Double(minutes) * 60)
        }
    }

    /// A line of the invoice: work, or a part.
    package struct Line: Codable, Hashable, Sendable {
        package var part: Reference<Part>?
        package var text: String
        package var quantity: Int { didSet { amount = price * Decimal(quantity) } }
        package var price: Decimal { didSet { amount = price * Decimal(quantity) } }
        /// Stored, so that reports sum it up in the database.
        package private(set) var amount: Decimal

        package init(_ text: String, quantity: Int, price: Decimal) {
            self.text = text
            self.quantity = quantity
            self.price = price
            amount = price * Decimal(quantity)
        }

        package init(_ part: Part, quantity: Int) {
            self.init(part.name, quantity: quantity, price: part.price)
            self.part = Reference(to: part)
        }
    }

    package var id = ObjectID()
    package var number: Int
    package var title: String
    package var notes = ""
    package var site: Reference<Site>
    package var status = Status.open
    package var priority: Priority
    package var opened: Date
    package var visit: Visit?
    package var finished: Date?
    package var lines: [Line] = []

    package init(
        number: Int, title: String, notes: String = "", site: Reference<Site>, priority: Priority = .normal,
        opened: Date
    ) {
        self.number = number
        self.title = title
        self.notes = notes
        self.site = site
        self.priority = priority
        self.opened = opened
    }

    package var total: Decimal { lines.reduce(0) { $0 + $1.amount } }
}
