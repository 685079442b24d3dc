// Names and values of fields are the same for clients and servers.
@_exported public import HTTPMessages
