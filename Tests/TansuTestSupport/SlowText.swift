/// Text on which the regular expression `x*x*x*[yz]` takes some milliseconds, by the library that the engine has.
#if EngineFromSource
package let slowText = String(repeating: "x", count: 70)
#else
package let slowText = String(repeating: "x", count: 1000)
#endif
