import Foundation
import TansuObjects

/// The window in which an order is edited: nothing is stored before it is saved, and every change can be undone.
package struct WorkOrderEditor: Sendable {
    package let id: WorkOrder.ID
    let context: EditingContext

    /// An editor that combines its changes with those that others save meanwhile, where these are of other fields.
    package init(_ service: FieldService, _ id: WorkOrder.ID) {
        self.id = id
        context = EditingContext(service.db, conflicts: .mergeFields)
    }

    /// The order as it is in the window.
    package var order: WorkOrder {
        get async throws {
            guard let order = try await context.get(WorkOrder.self, id: id) else { throw FieldServiceError.noOrder }
            return order
        }
    }

    package var hasChanges: Bool {
        get async { await context.hasChanges }
    }

    package func edit(_ change: @Sendable (inout WorkOrder) throws -> Void) async throws {
        guard try await context.update(WorkOrder.self, id: id, change) != nil else { throw FieldServiceError.noOrder }
    }

    /// Adds a line for each part, which one undo removes again.
    package func add(_ parts: [(part: Part, quantity: Int)]) async throws {
        let lines = parts.map { WorkOrder.Line($0.part, quantity: $0.quantity) }
        try await context.groupingUndo { [id] context in
            for line in lines { try await context.update(WorkOrder.self, id: id) { $0.lines.append(line) } }
        }
    }

    @discardableResult
    package func undo() async throws -> Bool { try await context.undo() }

    @discardableResult
    package func redo() async throws -> Bool { try await context.redo() }

    /// Saves. When someone else has changed a field that was changed here, it throws `EditingConflictError`.
    package func save() async throws { try await context.save() }

    /// Drops the changes, and shows what is stored.
    package func discard() async { await context.discard() }
}
