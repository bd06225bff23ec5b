import TansuObjects

/// Who pays.
package struct Customer: Codable, Hashable, Sendable, Identifiable {
    package var id = ObjectID()
    package var name: String
    package var email: String
    package var phone: String?
    package var address: Address

    package init(name: String, email: String, phone: String? = nil, address: Address) {
        self.name = name
        self.email = email
        self.phone = phone
        self.address = address
    }
}

/// Where a technician goes: a customer has one or several.
package struct Site: Codable, Hashable, Sendable, Identifiable {
    package var id = ObjectID()
    package var customer: Reference<Customer>
    package var name: String
    package var address: Address
    package var contact: String?

    package init(customer: Reference<Customer>, name: String, address: Address, contact: String? = nil) {
        self.customer = customer
        self.name = name
        self.address = address
        self.contact = contact
    }
}

package struct Address: Codable, Hashable, Sendable {
    package var street: String
    package var zip: String
    package var city: String

    package init(street: String, zip: String, city: String) {
        self.street = street
        self.zip = zip
        self.city = city
    }
}
