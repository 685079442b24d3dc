// Clients and servers share the type of header fields.
@_exported public import HTTPMessages
