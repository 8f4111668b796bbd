import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "./run/page-home.ts";

const sources = globSync("{packages,scripts,release,test,examples,proto}/**/*.{ts,tsx,mjs,proto}", {
  cwd: repository,
  exclude: ["**/node_modules/**", "**/dist/**"],
}).map((path) => `/${path.replaceAll("\\", "/")}`);

/** Of a path in code marks, as far as it is one: `sessions/turn/turn-gate.ts`, from any folder on. */
const named = /`((?:[\w.-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:tsx?|mjs|proto))`/g;

/** What the build makes. */
const built: ReadonlySet<string> = new Set(["dist/gennai.mjs"]);

test("every source file that the architecture names is where it says", () => {
  const page = readFileSync(join(repository, "docs/architecture.md"), "utf8");
  const names = [...new Set([...page.matchAll(named)].map(([, name = ""]) => name))];
  expect(names.length).toBeGreaterThan(80);
  const missing = names.filter(
    (name) => !built.has(name) && !name.endsWith("NAME.ts") && !sources.some((path) => path.endsWith(`/${name}`)),
  );
  expect(missing).toEqual([]);
});
