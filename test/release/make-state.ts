import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "@gennai/cli/terminal/version";
import { atItsPlace, keptFile } from "./kept-state.ts";

// Keeps what this version leaves behind, so that every later one is tried on it: node test/release/make-state.ts
//
// Run it for each release, once its version is set, and commit the file. What it holds, upgrade.test.ts says.
const files = {
  "AGENTS.md": "# Notes\n",
  "src/fruit.txt": "apple\npear\napple\n",
  "src/paint.txt": "colour one\ncolour two\n",
  "src/plan.txt": "old\nold\n",
};

await atItsPlace(version, async ({ workspace, directory, path, gennai }) => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(workspace, name, ".."), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=Gennai", "-c", "user.email=test@gennai.invalid", ...args], {
      cwd: workspace,
    });
  git("init", "--quiet", "--initial-branch", "main", "--template=");
  git("add", "--all");
  git("commit", "--quiet", "--message", "As it was");
  const ends = async (wanted: number, ...args: readonly string[]) => {
    const { code, output } = await gennai(...args);
    if (code !== wanted) throw new Error(`gennai ${args.join(" ")} ended with ${code}:\n${output}`);
    return output;
  };
  await ends(0, "run", "replace colour with color in src/**/*.txt", "--yes", "--commands", "ask");
  // Nobody can be asked, so the proposal stays open.
  await ends(3, "run", "replace apple with plum in src/**/*.txt", "--mode", "proposal", "--commands", "ask");
  const plan = await ends(0, "plan", "new", "replace old with new in src/**/*.txt then verify grep new src/plan.txt");
  await ends(0, "plan", "preview", /Plan ([0-9a-f-]{36})/.exec(plan)?.[1] ?? "");
  const [newest] = (await ends(0, "sessions", "--json")).split("\n");
  const { sessionId } = JSON.parse(newest ?? "") as { readonly sessionId: string };
  await ends(0, "sessions", "export", sessionId, "--out", path("session.jsonl"));
  await ends(0, "ledger", "export", "--format", "bundle", "--out", path("ledger.json"));
  const parts = ["workspace", "state", "session.jsonl", "ledger.json"];
  execFileSync("tar", ["-czf", keptFile(version), "--owner=0", "--group=0", "--sort=name", "-C", directory, ...parts]);
});
