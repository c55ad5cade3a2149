"""Makes src/tutti/api/schemas from what Kubernetes publishes about its own interface.

Three sources, each for what only it says: OpenAPI v3 of a running server (which fields there are, list
types and keys, patch keys, defaults), the `.proto` files (field numbers), and the Go declarations
(whether an empty field is shown, and the type names that error texts carry). Where two of them speak
about the same fact, they must agree.
"""
