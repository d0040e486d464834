# The rooms and who may use whom. tests/house checks the same rule on the #include lines.

# The inside: no IO, no clock, no thread, no randomness.
pawl_room(base PURE)
