@_exported public import Tansu
