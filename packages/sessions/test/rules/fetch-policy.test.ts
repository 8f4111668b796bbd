import { generateKeyPairSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { hasCode } from "@gennai/machine/system-error";
import { listening } from "@gennai/testkit/listening";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test } from "vitest";
import { fetchPolicy } from "#rules/fetch-policy";
import { signPolicy } from "#rules/sign-policy";

function keyPair() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

const fleet = keyPair();
const times = { issued: "2026-01-01T00:00:00Z", expires: "2027-01-01T00:00:00Z" };
const signed = (serial: number, more: object = {}, key = fleet.privateKey) =>
  signPolicy({ gennai_policy: 1, name: "acme", serial, ...times, capabilities: ["read"], ...more }, key);
const now = Date.parse("2026-06-01T00:00:00Z");

/** A server whose answer can be changed, and a machine that fetches from it. */
async function machine() {
  let answer: { readonly status?: number; readonly text: string; readonly location?: string } = { text: "" };
  const server = createServer((_request, response) => {
    response.writeHead(answer.status ?? 200, answer.location === undefined ? {} : { location: answer.location });
    response.end(answer.text);
  });
  const { port, ...closing } = await listening(server);
  const home = await temporaryDirectory();
  onTestFinished(async () => {
    await closing[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });
  const file = home.path("policy.d/fetched.yaml");
  const text = () =>
    readFile(file, "utf8").catch((error: unknown) => {
      if (hasCode(error, "ENOENT")) return undefined;
      throw error;
    });
  const fetched = (given: typeof answer, at = now) => {
    answer = given;
    const url = new URL(`http://127.0.0.1:${port}/policy.json`);
    return fetchPolicy({ url, keys: fleet.publicKey, directory: home.path("policy.d"), read: text }, at);
  };
  return { fetched, text };
}

test("a newer policy replaces the one that is there, and the same one changes nothing", async () => {
  const { fetched, text } = await machine();
  expect(await fetched({ text: signed(1) })).toMatchObject({ name: "acme", serial: 1, isNew: true });
  expect(await text()).toMatch(/^\{[^]*"capabilities"[^]*\n\.\.\.\n$/);
  expect(await text()).not.toContain("signature");
  expect(await fetched({ text: signed(1) })).toMatchObject({ isNew: false });
  expect(await fetched({ text: signed(2) })).toMatchObject({ serial: 2, isNew: true });
});

test.each<[string, { text: string; status?: number; location?: string }, RegExp, number?]>([
  ["an older one", { text: signed(2) }, /its serial is 2, and 3 is in force/],
  ["another one of the same serial", { text: signed(3, { capabilities: ["read", "write"] }) }, /serial is 3/],
  ["one signed by another key", { text: signed(4, {}, keyPair().privateKey) }, /not trusted here/],
  ["one that was changed", { text: signed(4).replace('"acme"', '"evil"') }, /changed after it was signed/],
  ["one that was cut off", { text: signed(4).slice(0, -20) }, /no signed policy/],
  ["one that expired", { text: signed(4) }, /expired on 2027-01-01/, Date.parse("2027-02-01")],
  ["one of the future", { text: signed(4) }, /not valid yet/, Date.parse("2025-12-01")],
  [
    "one with an example that fails",
    { text: signed(4, { rules: { bashToolPatterns: [{ pattern: "a", reason: "r", match: ["b"] }] } }) },
    /its own example/,
  ],
  ["an error", { text: "", status: 500 }, /answered 500/],
  ["a redirect", { text: "", status: 302, location: "http://127.0.0.1:9/" }, /fetch failed/],
  ["too much", { text: "x".repeat(300_000) }, /larger than 256 KiB/],
  ["nothing", { text: "" }, /no signed policy/],
])("%s leaves what is there", async (_what, answer, wanted, at = now) => {
  const { fetched, text } = await machine();
  await fetched({ text: signed(3) });
  const before = await text();
  await expect(fetched(answer, at)).rejects.toThrow(wanted);
  expect(await text()).toBe(before);
});

test("only https, but on this machine", async () => {
  const place = { url: new URL("http://acme.example/p.json"), keys: fleet.publicKey, directory: "/nowhere" };
  await expect(fetchPolicy(place, now)).rejects.toThrow("https");
});
