import Foundation
import Hummingbird
import Tansu

/// A task, as it is stored and as clients see it.
public struct TaskItem: Codable, Equatable, Identifiable, Sendable, ResponseEncodable {
    /// The server chooses it.
    public let id: UUID
    /// What to do, in 1 to 200 characters.
    public var title: String
    /// From 0 to 9, the most important first.
    public var priority: Int
    /// Whether nothing is left to do.
    public var isDone: Bool
    /// How often it was changed: the entity tag for conditional requests.
    public var version: Int

    /// `"3"`, with its quotes.
    var etag: String { "\"\(version)\"" }

    /// What the documents of the collection satisfy, however they are written.
    static let schema: BSONDocument = [
        "properties": [
            "title": ["minLength": 1, "maxLength": 200], "priority": ["minimum": 0, "maximum": 9],
        ]
    ]
}

/// What a client sends to create or to change a task. What it leaves out stays.
struct TaskEdit: Decodable, Sendable {
    var title: String?
    var priority: Int?
    var isDone: Bool?

    func apply(to task: inout TaskItem) {
        if let title { task.title = title }
        if let priority { task.priority = priority }
        if let isDone { task.isDone = isDone }
    }
}

/// Some tasks, and the token for those after them.
struct TaskPage: Codable, Sendable, ResponseEncodable {
    var tasks: [TaskItem]
    var next: String?
}
