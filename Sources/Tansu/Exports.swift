// Code that works with documents needs their types: one import is enough for both.
@_exported import TansuBSON
