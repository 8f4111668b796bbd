import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nothingAgreed } from "@gennai/governance/policies/files/agreed-control";
import { expect, test } from "vitest";
import { controlProject } from "../control-project.ts";

/** Names of what is kept, by the watch of this process. */
function kept(stateDir: string): readonly string[] {
  const parent = join(stateDir, "control-watch");
  return readdirSync(parent).flatMap((name) => readdirSync(join(parent, name, "bytes")));
}

test("bytes that no command and no next look needs are not kept", async () => {
  const { root, stateDir, run, write } = await controlProject({ sandboxed: false });
  await run("npm test", "true");
  const before = kept(stateDir).length;
  for (let round = 0; round < 5; round += 1) {
    write(".git/hooks/pre-push", String(round).repeat(17 * 1024 * 1024));
    const does = `echo ${round} > AGENTS.md; echo evil${round} > .envrc; echo ${round} > src/a.ts; git add -A; git commit -qm ${round}`;
    await run("echo x > AGENTS.md", does);
  }
  // What stands there now, of which one is a large file.
  expect(kept(stateDir).length).toBeLessThanOrEqual(before + 2);
  expect(kept(stateDir).filter((name) => name.endsWith(".copy"))).toHaveLength(1);
  await run("npm test", "echo evil > AGENTS.md");
  expect(readFileSync(join(root, "AGENTS.md"), "utf8")).toBe("4\n");
});

test("bytes that a command beside will need are kept", async () => {
  const { root, stateDir, run, watch } = await controlProject({ sandboxed: false });
  const beside = watch.begin({ workspaceRoot: root, agreed: nothingAgreed, untouchable: [], timeoutMs: 30_000 });
  for (const text of ["a", "b"]) {
    await run("echo x > AGENTS.md Makefile", `echo ${text} > AGENTS.md`);
    writeFileSync(join(root, "AGENTS.md"), text);
  }
  expect(kept(stateDir).length).toBeGreaterThan(0);
  expect(beside.end().files).toMatchObject([{ path: "AGENTS.md", what: "restored" }]);
  expect(readFileSync(join(root, "AGENTS.md"), "utf8")).toBe("Be kind.\n");
});
