"""The part of JSON Schema that pawl's OpenAPI document uses: a check that names what is wrong."""

from __future__ import annotations

TYPES = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "null": lambda v: v is None,
}
KNOWN = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "format"),
    *("minimum", "maximum", "minLength", "maxLength", "$ref"),
}


def flaws(schema: dict, value: object, root: dict, where: str = "$") -> list[str]:
    """Everything about `value` that `schema` does not allow."""
    if "$ref" in schema:
        target: object = root
        for name in schema["$ref"].removeprefix("#/").split("/"):
            target = target[name]  # type: ignore[index]
        return flaws(target, value, root, where)  # type: ignore[arg-type]
    unknown = schema.keys() - KNOWN
    assert not unknown, f"{where}: the check does not know {unknown}"
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(TYPES[name](value) for name in types):
            return [f"{where}: {value!r} is no {types}"]
    if value is None:
        return []
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is none of {schema['enum']}")
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get(
        "maximum", value
    ):
        found.append(f"{where}: {value} is out of bounds")
    if isinstance(value, str) and not (
        schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    ):
        found.append(f"{where}: {len(value)} characters are out of bounds")
    if isinstance(value, list):
        for number, item in enumerate(value):
            found += flaws(schema.get("items", {}), item, root, f"{where}[{number}]")
    if isinstance(value, dict):
        found += member_flaws(schema, value, root, where)
    return found


def member_flaws(schema: dict, value: dict, root: dict, where: str) -> list[str]:
    required = schema.get("required", [])
    found = [f"{where}: {name} is missing" for name in required if name not in value]
    others = schema.get("additionalProperties", True)
    for name, member in value.items():
        known = schema.get("properties", {}).get(name)
        if known is None and others is False:
            found.append(f"{where}: {name} is not in the document")
        elif known is not None or isinstance(others, dict):
            found += flaws(known if known is not None else others, member, root, f"{where}.{name}")
    return found
