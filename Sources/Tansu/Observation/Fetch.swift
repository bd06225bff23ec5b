#if canImport(SwiftUI)
public import SwiftUI

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension EnvironmentValues {
    private struct DatabaseKey: EnvironmentKey {
        static let defaultValue: Database? = nil
    }

    /// The database of ``Fetch``: `ContentView().environment(\.database, database)`.
    public var database: Database? {
        get { self[DatabaseKey.self] }
        set { self[DatabaseKey.self] = newValue }
    }
}

/// The live result of a query in a SwiftUI view, of the database in its environment.
///
/// ```swift
/// struct NotesView: View {
///     @Fetch({ try $0.collection("notes", of: Note.self).find().sorted(by: "title") }, pageSize: 50)
///     private var notes
///
///     var body: some View {
///         List(notes) { note in
///             Text(note.title)
///                 .onAppear { if note.id == notes.last?.id { $notes?.loadMore() } }
///         }
///     }
/// }
/// ```
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@propertyWrapper
public struct Fetch<Element: Sendable>: DynamicProperty {
    /// What holds the result.
    public typealias Controller = Database.FetchController<Database.WholeList, Element>

    @MainActor
    private final class Holder {
        var controller: Controller?

        nonisolated init() {}
    }

    @Environment(\.database) private var database
    @State private var holder = Holder()
    private let query: @Sendable (Database) throws -> Database.Query<Element>
    private let pageSize: Int?

    /// Fetches what a query finds.
    ///
    /// - Parameters:
    ///   - query: Makes the query, once for the lifetime of the view. Set `query` of the controller for another one.
    ///   - pageSize: How many documents a page has; `nil` for all at once.
    public init(
        _ query: @escaping @Sendable (Database) throws -> Database.Query<Element>, pageSize: Int? = nil
    ) {
        self.query = query
        self.pageSize = pageSize
    }

    /// The documents that are loaded; none without a database in the environment, or if the query cannot be made.
    @MainActor
    public var wrappedValue: [Element] { controller?.elements ?? [] }

    /// The controller, which has the error, further pages and the query.
    @MainActor
    public var projectedValue: Controller? { controller }

    @MainActor
    private var controller: Controller? {
        if holder.controller == nil, let database, let query = try? query(database) {
            holder.controller = Database.FetchController(query, pageSize: pageSize)
        }
        return holder.controller
    }
}
#endif
