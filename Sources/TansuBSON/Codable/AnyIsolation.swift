#if compiler(>=6.2)
    /// What a protocol inherits whose conformances are looked up at run time, on any thread: types conform without
    /// belonging to an actor, in modules that are isolated to the main actor too.
    public typealias AnyIsolation = SendableMetatype
#else
    /// What a protocol inherits whose conformances are looked up at run time, on any thread: Swift 6.1 has no other ones.
    public typealias AnyIsolation = Any
#endif
