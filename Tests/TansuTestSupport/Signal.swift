/// An event that one task signals and others wait for, so that tests need not sleep.
package actor Signal {
    private var isGiven = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    package init() {}

    package func give() {
        isGiven = true
        for waiter in waiters { waiter.resume() }
        waiters.removeAll()
    }

    package func wait() async {
        if isGiven { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}
