import { readFileSync } from "node:fs";
import { join } from "node:path";
import { builtInTools } from "@gennai/protocol/built-in-tools";
import { expect, test } from "vitest";
import { repository } from "./run/page-home.ts";

test("the guide names the tools that other agents get", () => {
  const guide = readFileSync(join(repository, "docs/guides/guard.md"), "utf8");
  const [, named = ""] = /^Its tools are ([^:]+):/m.exec(guide) ?? [];
  const served = [...builtInTools].flatMap(([name, facts]) => (facts.served ? [name] : []));
  expect(named.split(/,\s+|\s+and\s+/).toSorted()).toEqual(served.toSorted());
});
