import TansuObjects

/// Who does the work. The id is the staff number.
package struct Technician: Codable, Hashable, Sendable, Identifiable {
    package enum Skill: String, Codable, Hashable, Sendable, CaseIterable {
        case heating, cooling, electrics, plumbing
    }

    package var id: String
    package var name: String
    package var city: String
    package var skills: Set<Skill>

    package init(id: String, name: String, city: String, skills: Set<Skill>) {
        self.id = id
        self.name = name
        self.city = city
        self.skills = skills
    }
}
