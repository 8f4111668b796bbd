import type { Connection } from "@gennai/governance/connection";
import { expect, test } from "vitest";
import { WantedBefore } from "#background/wanted-before";

const connection = (host: string, state: Connection["state"], address?: string): Connection => {
  const counts = { count: 1, sent: 0, received: 0 };
  return { host, port: 443, state, ...counts, ...(address === undefined ? {} : { address }) };
};

test("what a command was refused is known by its text, together with what runs before it were", () => {
  const wanted = new WantedBefore();
  wanted.note("node serve.mjs", [connection("one.example", "refused"), connection("told.example", "failed")]);
  // The next run has a way to the first, and is refused a second; a name turned out to lead inside.
  wanted.note("node serve.mjs", [connection("one.example", "allowed"), connection("two.example", "refused")]);
  wanted.note("node serve.mjs", [connection("two.example", "refused", "10.0.0.7")]);
  expect(wanted.of("node serve.mjs")).toEqual([
    { host: "one.example", port: 443 },
    { host: "two.example", port: 443, address: "10.0.0.7" },
  ]);
  expect(wanted.of("node serve.mjs --port 1")).toEqual([]);
});

test("what reached all that it wanted is asked nothing, and the oldest of many is forgotten", () => {
  const wanted = new WantedBefore();
  wanted.note("quiet", [connection("one.example", "allowed")]);
  expect(wanted.of("quiet")).toEqual([]);
  for (let at = 0; at <= 100; at += 1) wanted.note(`command ${at}`, [connection("one.example", "refused")]);
  expect([wanted.of("command 0"), wanted.of("command 1").length]).toEqual([[], 1]);
});
