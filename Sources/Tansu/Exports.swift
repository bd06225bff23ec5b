@_exported import TansuBSON

// Code that works with documents needs their types: one import is enough for both.

// Names for files in which `Database` is another type: that of another module, such as GRDB, or one of the program's own.
// `Tansu.Database` also works there, unless a type has the name `Tansu`, which then hides the module.

/// ``Database`` under a name that no other library has.
public typealias TansuDatabase = Database

/// ``Database/Collection`` under a name that no other library has.
public typealias TansuCollection<Element: Sendable> = Database.Collection<Element>

/// ``Database/Query`` under a name that no other library has.
public typealias TansuQuery<Element: Sendable> = Database.Query<Element>
