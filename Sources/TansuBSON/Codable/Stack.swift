/// A stack of values, for the frames of an encoder or a decoder.
///
/// It replaces `Array` because the uniqueness checks of `Array` take longer than what the coders do with an element.
/// Every access is checked against the bounds.
struct Stack<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 32) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    @inline(__always)
    mutating func append(_ element: consuming Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
        count &+= 1
    }

    @inline(never)
    private mutating func grow() {
        let fresh = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        fresh.moveInitialize(from: base, count: count)
        base.deallocate()
        base = fresh
        capacity *= 2
    }

    @inline(__always)
    subscript(index: Int) -> Element {
        _read {
            precondition(index >= 0 && index < count)
            yield base[index]
        }
        _modify {
            precondition(index >= 0 && index < count)
            yield &base[index]
        }
    }

    /// Removes the element at an index and all that follow.
    @inline(__always)
    mutating func removeAll(from index: Int) {
        precondition(index >= 0 && index <= count)
        (base + index).deinitialize(count: count &- index)
        count = index
    }
}
