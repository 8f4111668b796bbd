import canonicalize from "canonicalize";

export type CanonicalJsonErrorCode = "lone_surrogate" | "unsafe_integer" | "not_finite" | "not_json" | "too_deep";

/** The value has no canonical JSON form. `path` is a JSON pointer to the culprit, empty for the value itself. */
export class CanonicalJsonError extends Error {
  override readonly name = "CanonicalJsonError";
  readonly code: CanonicalJsonErrorCode;
  readonly path: string;

  constructor(code: CanonicalJsonErrorCode, path: string) {
    super(`${explanations[code]} (at ${path === "" ? "the top" : path})`);
    this.code = code;
    this.path = path;
  }
}

const explanations: Record<CanonicalJsonErrorCode, string> = {
  lone_surrogate:
    "Text holds half of a surrogate pair, which JSON cannot carry unambiguously: send well-formed Unicode",
  unsafe_integer: "An integer beyond ±(2^53 - 1) is not exact in JSON: send it as a string",
  not_finite: "NaN and infinities are not JSON: send null or a string",
  not_json:
    "Only null, booleans, numbers, strings, arrays and plain objects are JSON: leave the member out or convert it",
  too_deep: "JSON may be nested 256 levels deep at most: flatten the value (a cycle looks like this too)",
};

/** Nesting beyond this is refused; also what stops a cycle. */
const maxDepth = 256;

/**
 * RFC 8785 (JCS) text of a JSON value: one line, sorted keys, the same bytes for equal values everywhere.
 * Stricter than the RFC's reference: what would lose meaning on the way throws `CanonicalJsonError` instead.
 */
export function canonicalJson(value: unknown): string {
  // What is in order already, as everything is that was read from canonical JSON, V8 writes the same way in a third of the time.
  const text = checkedOrder(value, [], 0) ? JSON.stringify(value) : canonicalize(value);
  if (text === undefined) throw new CanonicalJsonError("not_json", "");
  return text;
}

/** Whether the keys of all objects in it are in order. Throws `CanonicalJsonError` for what is not JSON. */
function checkedOrder(value: unknown, path: (string | number)[], depth: number): boolean {
  if (depth > maxDepth) throw new CanonicalJsonError("too_deep", pointer(path.slice(0, 8)));
  switch (typeof value) {
    case "boolean":
      return true;
    case "string":
      if (!value.isWellFormed()) throw new CanonicalJsonError("lone_surrogate", pointer(path));
      return true;
    case "number":
      if (!Number.isFinite(value)) throw new CanonicalJsonError("not_finite", pointer(path));
      if (Number.isInteger(value) && !Number.isSafeInteger(value))
        throw new CanonicalJsonError("unsafe_integer", pointer(path));
      return true;
    case "object":
      break;
    default:
      throw new CanonicalJsonError("not_json", pointer(path));
  }
  if (value === null) return true;
  let inOrder = true;
  if (Array.isArray(value)) {
    // By index: holes of a sparse array count as undefined and are refused.
    for (let index = 0; index < value.length; index++) {
      path.push(index);
      if (!checkedOrder(value[index], path, depth + 1)) inOrder = false;
      path.pop();
    }
    return inOrder;
  }
  if (!isPlainObject(value)) throw new CanonicalJsonError("not_json", pointer(path));
  let before = "";
  for (const key of Object.keys(value)) {
    path.push(key);
    if (!key.isWellFormed()) throw new CanonicalJsonError("lone_surrogate", pointer(path));
    // A `toJSON` method never runs: a function is refused like any other.
    if (!checkedOrder(value[key], path, depth + 1) || key < before) inOrder = false;
    before = key;
    path.pop();
  }
  return inOrder;
}

function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function pointer(path: readonly (string | number)[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
