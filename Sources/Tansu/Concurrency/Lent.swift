/// A value of a task that is suspended, lent to the thread that works for it; or the other way round.
///
/// `@unchecked Sendable`: only one of the two runs at a time.
struct Lent<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
