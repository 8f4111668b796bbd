import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { policySchema } from "@gennai/governance/limits/policy-schema";
import { expect, test } from "vitest";
import { knownHosts } from "#hosts/known-hosts";

const packages = join(import.meta.dirname, "../../..");
const hosts = [...knownHosts.values()];
const sources = globSync("*/src/**/*.ts", { cwd: packages, exclude: (path) => /\/(gen|dist)\//.test(path) }).map(
  (path) => ({ path, text: readFileSync(join(packages, path), "utf8") }),
);

test.each(hosts)("what $id says of a call that is tried reads as a call that changes something", (host) => {
  const file = "/state/guard/probe";
  const event = host.read(host.hook.probe(file, "/work"));
  expect(event).toMatchObject({ type: "before", directory: "/work", call: { type: "judged", readsOnly: false } });
  expect(JSON.stringify(event)).toContain(file);
  expect(host.isAfterCall(host.hook.probe(file, "/work"))).toBe(false);
});

test("a policy can want each of them guarded", () => {
  const guarded = hosts.map(({ id }) => id);
  expect(policySchema.safeParse({ gennai_policy: 1, name: "all", require: { guard: guarded } }).error).toBeUndefined();
});

test.each(hosts)(
  "nothing but its file knows $id, except for what a policy can name, and how guard run starts it",
  ({ id }) => {
    const elsewhere = [
      "cli/src/commands/guard/started-agents.ts",
      "governance/src/limits/policy-schema.ts",
      // The first of them: its project is in a variable, and its name an example.
      ...(id === "claude-code"
        ? [
            "cli/src/commands/guard/guard-hook-command.ts",
            "cli/src/commands/guard/relay-script.ts",
            "cli/src/guard-relay.ts",
            "guard/src/hosts/guarded-host.ts",
            "protocol/src/model/governance/line-trace.ts",
          ]
        : []),
      // A provider of models has its name.
      ...(id === "gemini" ? ["models/src/providers.ts", "testkit/src/model-server/model-server.ts"] : []),
    ];
    const named = new RegExp(`["'\`]${id}["'\`]|\\b${id}:`);
    const found = sources.filter(({ text }) => named.test(text)).map(({ path }) => path);
    expect(found.filter((path) => !elsewhere.includes(path))).toEqual([`guard/src/hosts/${id}.ts`]);
  },
);
