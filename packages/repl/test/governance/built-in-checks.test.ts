import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { builtInChecks, foundChecks } from "#governance/rules-section.tsx";

const packages = fileURLToPath(new URL("../../../", import.meta.url));

/** First parts of the rules that the code names in a package's folder. */
function groupsIn(folder: string): readonly string[] {
  return readdirSync(join(packages, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .flatMap((entry) => [...readFileSync(join(entry.parentPath, entry.name), "utf8").matchAll(/rule: "([a-z-]+)\//g)])
    .map(([, group = ""]) => group);
}

it("lists every check of the policies, and none that there is not", () => {
  const listed = builtInChecks.map(({ group }) => group);
  const policies = new Set(["policies", "intents", "command"].flatMap((part) => groupsIn(`governance/src/${part}`)));
  expect(listed).toEqual(expect.arrayContaining([...policies]));
  const all = new Set([...groupsIn("governance/src"), ...groupsIn("sessions/src")]);
  expect(listed.filter((group) => !all.has(group))).toEqual([]);
});

it("finds them by their name and by what they are about", () => {
  expect(foundChecks("git history disks").map(({ group }) => group)).toEqual(["floor"]);
  expect(foundChecks("control-files").map(({ group }) => group)).toEqual(["control-files"]);
});
