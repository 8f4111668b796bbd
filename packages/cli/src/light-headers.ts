/** What `Headers` are made from. */
type Init = Iterable<readonly [string, string]> | Readonly<Record<string, string>>;

const nameSyntax = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const forbidden = /[\0\r\n]|[^\0-\xff]/;

/**
 * The class `Headers` of the Fetch standard, without the rest of `fetch`, which Node would load with it. It also works where
 * Node's own are expected, since it can be iterated.
 */
export class LightHeaders implements Iterable<[string, string]> {
  readonly #values = new Map<string, string[]>();

  /** Makes `instanceof` true for Node's headers, too. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === "[object Headers]";
  }

  get [Symbol.toStringTag](): string {
    return "Headers";
  }

  /** Throws `TypeError` for what a header cannot contain. */
  constructor(init?: Init) {
    if (init === undefined) return;
    if (typeof init !== "object" || init === null) throw new TypeError("Headers are made from an object.");
    const entries = isIterable(init) ? init : Object.entries(init);
    for (const entry of entries) {
      const [name, value, ...more] = entry;
      if (name === undefined || value === undefined || more.length > 0) throw new TypeError("A header is a pair.");
      this.append(name, value);
    }
  }

  append(name: string, value: string): void {
    const key = keyOf(name);
    const values = this.#values.get(key) ?? [];
    values.push(checked(value));
    this.#values.set(key, values);
  }

  set(name: string, value: string): void {
    this.#values.set(keyOf(name), [checked(value)]);
  }

  delete(name: string): void {
    this.#values.delete(keyOf(name));
  }

  has(name: string): boolean {
    return this.#values.has(keyOf(name));
  }

  get(name: string): string | null {
    return this.#values.get(keyOf(name))?.join(", ") ?? null;
  }

  getSetCookie(): string[] {
    return [...(this.#values.get("set-cookie") ?? [])];
  }

  forEach(each: (value: string, name: string, headers: this) => void, self?: unknown): void {
    for (const [name, value] of this) each.call(self, value, name, this);
  }

  *keys(): Generator<string, undefined> {
    for (const [name] of this) yield name;
  }

  *values(): Generator<string, undefined> {
    for (const [, value] of this) yield value;
  }

  entries(): Generator<[string, string], undefined> {
    return this[Symbol.iterator]();
  }

  /** Sorted by name. Each `set-cookie` stays an entry of its own, since its value may contain commas. */
  *[Symbol.iterator](): Generator<[string, string], undefined> {
    for (const name of [...this.#values.keys()].toSorted()) {
      const values = this.#values.get(name) ?? [];
      if (name === "set-cookie") for (const value of values) yield [name, value];
      else yield [name, values.join(", ")];
    }
  }
}

function isIterable(init: Init): init is Iterable<readonly [string, string]> {
  return Symbol.iterator in init;
}

function keyOf(name: string): string {
  const text = String(name);
  if (!nameSyntax.test(text)) throw new TypeError(`${JSON.stringify(text)} is not a name of a header.`);
  return text.toLowerCase();
}

function checked(value: string): string {
  const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (forbidden.test(text)) throw new TypeError(`${JSON.stringify(text)} is not a value of a header.`);
  return text;
}
