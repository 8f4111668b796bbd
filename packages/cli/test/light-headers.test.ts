import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LightHeaders } from "#light-headers";

type Either = Headers | LightHeaders;
type Step = (headers: Either) => unknown;

const name = fc.constantFrom("a", "A", "content-type", "Set-Cookie", "x-1", "", "a b", "ä", "a:b");
const value = fc.oneof(fc.constantFrom("", " v ", "1, 2", "\tx\r\n", "a\nb", "é", "€", "\0"), fc.string());
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(name, value).map(
    ([n, v]) =>
      (headers: Either) =>
        headers.append(n, v),
  ),
  fc.tuple(name, value).map(
    ([n, v]) =>
      (headers: Either) =>
        headers.set(n, v),
  ),
  name.map((n) => (headers: Either) => headers.delete(n)),
  name.map((n) => (headers: Either) => headers.get(n)),
  name.map((n) => (headers: Either) => headers.has(n)),
);

/** The result, and what it left. */
function outcome(make: () => Either, steps: readonly Step[]) {
  const attempt = (work: () => unknown) => {
    try {
      return work();
    } catch (error) {
      return error instanceof TypeError ? "TypeError" : error;
    }
  };
  const made = attempt(make);
  if (made === "TypeError") return made;
  const headers = made as Either;
  const each: unknown[] = [];
  const told = steps.map((one) => attempt(() => one(headers)));
  headers.forEach((text, key) => each.push([key, text]));
  return {
    told,
    each,
    all: [...headers],
    keys: [...headers.keys()],
    values: [...headers.values()],
    cookies: headers.getSetCookie(),
  };
}

describe("LightHeaders", () => {
  it("does what Node's headers do", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), fc.array(step), (entries, steps) => {
        const ours = outcome(() => new LightHeaders(entries), steps);
        expect(ours).toEqual(outcome(() => new Headers(entries), steps));
      }),
    );
  });

  it.each([
    [undefined],
    [{ a: "1", B: "2" }],
    [new Headers({ a: "1" })],
    [new LightHeaders({ "set-cookie": "a=1" })],
    [[["a", "1", "2"]]],
    [[["a"]]],
    [null],
    ["text"],
  ])("is made from %j as they are", (init) => {
    const given = init as ConstructorParameters<typeof LightHeaders>[0];
    expect(outcome(() => new LightHeaders(given), [])).toEqual(outcome(() => new Headers(given as HeadersInit), []));
  });

  it("counts as headers, and Node's count as its own", () => {
    expect(new Headers() instanceof LightHeaders).toBe(true);
    expect({} instanceof LightHeaders).toBe(false);
    const ours = new LightHeaders({ a: "1", "set-cookie": "x=1, y" });
    expect([...new Headers([...ours])]).toEqual([...ours]);
    expect(new Response("", { headers: [...ours] }).headers.get("a")).toBe("1");
    expect(new Request("http://localhost", { headers: ours as unknown as Headers }).headers.get("a")).toBe("1");
  });
});
