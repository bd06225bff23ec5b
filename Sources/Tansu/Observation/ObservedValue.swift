#if canImport(Observation)
public import Observation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension Database {
    /// The newest value of an observation, on the main actor, for SwiftUI and whatever else uses `@Observable`.
    ///
    /// For example:
    ///
    /// ```swift
    /// struct PeopleView: View {
    ///     @State private var people = Database.ObservedValue(people.find().sorted(by: "name").observe())
    ///
    ///     var body: some View {
    ///         List(people.value ?? []) { Text($0.name) }
    ///     }
    /// }
    /// ```
    ///
    /// It observes from its creation until it is released or ``stop()`` is called.
    @MainActor
    public final class ObservedValue<Value: Sendable>: Observable {
        private let registrar = ObservationRegistrar()
        private var newest: Value?
        private var failure: (any Error)?
        private var task: Task<Void, Never>?

        /// The newest value; `nil` before the first.
        public var value: Value? {
            registrar.access(self, keyPath: \.value)
            return newest
        }

        /// Why there is no newer value; `nil` when there is one. ``value`` stays as it was.
        ///
        /// A ``TansuError`` with `.closed` is the end. After an error of the closure or of decoding, the next change
        /// may bring a value. After several errors without a value between them it waits up to a second before it asks again.
        public var error: (any Error)? {
            registrar.access(self, keyPath: \.error)
            return failure
        }

        /// Begins to observe.
        ///
        /// - Parameter values: Such as `people.find().observe()` or `db.observe { … }`.
        public init<Values: AsyncSequence & Sendable>(_ values: Values)
        where Values.Element == Value, Values.AsyncIterator: Sendable {
            task = Task.following(values) { [weak self] in self?.receive($0) }
        }

        deinit {
            task?.cancel()
        }

        /// Ends the observation. The newest value stays.
        public func stop() {
            task?.cancel()
        }

        private func receive(_ result: Result<Value, any Error>) {
            switch result {
            case .success(let value):
                registrar.withMutation(of: self, keyPath: \.value) { newest = value }
                if failure != nil { registrar.withMutation(of: self, keyPath: \.error) { failure = nil } }
            case .failure(let error):
                registrar.withMutation(of: self, keyPath: \.error) { failure = error }
            }
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension Task where Success == Void, Failure == Never {
    /// A task that hands over each value and each error of a sequence, until it is cancelled or the sequence ends.
    @MainActor
    static func following<Values: AsyncSequence & Sendable>(
        _ values: Values, _ receive: @escaping @MainActor (Result<Values.Element, any Error>) -> Void
    ) -> Self where Values.Element: Sendable, Values.AsyncIterator: Sendable {
        Task { @MainActor in
            var iterator = values.makeAsyncIterator()
            var failures = 0
            while !Task<Never, Never>.isCancelled {
                do {
                    guard let value = try await iterator.next(), !Task<Never, Never>.isCancelled else { return }
                    receive(.success(value))
                    failures = 0
                } catch is CancellationError {
                    return
                } catch {
                    guard !Task<Never, Never>.isCancelled else { return }
                    receive(.failure(error))
                    // What fails at once, as without memory or threads, must not keep the main actor busy.
                    try? await Task<Never, Never>.sleep(for: .milliseconds(min(1000, 1 << failures)))
                    failures = min(failures + 1, 10)
                }
            }
        }
    }
}
#endif
