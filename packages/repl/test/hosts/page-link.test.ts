import { expect, test } from "vitest";
import { codeIn, exchangeCode, takeLinkCode } from "#hosts/page-link";

const code = "A".repeat(32);

function windowAt(hash: string) {
  const replaced: unknown[] = [];
  const history = { replaceState: (...args: unknown[]) => void replaced.push(args) };
  return { page: { location: { hash, pathname: "/" }, history }, replaced };
}

test.each([
  [`#${code}`, code],
  ["#x", undefined],
  [`#${code}&more`, undefined],
])("takes the code out of the address: %s", (hash, wanted) => {
  const { page, replaced } = windowAt(hash);
  expect(takeLinkCode(page)).toBe(wanted);
  expect(replaced).toEqual([[null, "", "/"]]);
});

test("leaves an address without one alone", () => {
  const { page, replaced } = windowAt("");
  expect(takeLinkCode(page)).toBeUndefined();
  expect(replaced).toEqual([]);
});

test.each([
  [`http://127.0.0.1:7777/#${code}`, code],
  [`  http://127.0.0.1:7777/#${code}\n`, code],
  [code, code],
  [`Open http://127.0.0.1:7777/#${code}`, undefined],
  ["http://127.0.0.1:7777/", undefined],
  [`http://127.0.0.1:7777/?code=${code}`, undefined],
  ["", undefined],
])("finds the code in what was pasted: %j", (text, wanted) => {
  expect(codeIn(text)).toBe(wanted);
});

test.each([
  [200, { token: "t" }, "t"],
  [403, { message: "no" }, /used already/],
  [429, {}, /Wait a second/],
  [200, {}, /used already/],
  [200, "no JSON", /used already/],
] as const)("an answer %d %j", async (status, body, wanted) => {
  const sent: [string, RequestInit | undefined][] = [];
  const request: typeof fetch = async (url, init) => {
    sent.push([url instanceof Request ? url.url : url.toString(), init]);
    return new Response(body === "no JSON" ? body : JSON.stringify(body), { status });
  };
  const exchanged = exchangeCode(code, request);
  if (typeof wanted === "string") expect(await exchanged).toBe(wanted);
  else await expect(exchanged).rejects.toThrow(wanted);
  expect(sent).toEqual([["/page/token", expect.objectContaining({ method: "POST", body: JSON.stringify({ code }) })]]);
});

test("a server that is gone is told", async () => {
  await expect(exchangeCode(code, () => Promise.reject(new TypeError("fetch failed")))).rejects.toThrow(
    /does not answer/,
  );
});
