import { chmodSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type WatchedWorkspace, watchedWorkspace } from "./watched-workspace.ts";

/** A watched repository with control files of many kinds; gone when the test has ended. */
export async function controlProject(options: { readonly sandboxed?: boolean } = {}): Promise<WatchedWorkspace> {
  const made = await watchedWorkspace(
    {
      "package.json": manifest,
      "AGENTS.md": "Be kind.\n",
      Makefile: "all:\n",
      "sub/.vscode/tasks.json": "{}\n",
      "sub/tsconfig.json": "{}\n",
      "src/a.ts": "a\n",
      ".gitattributes": "* text\n",
      ".husky/pre-push": "npm test\n",
    },
    options,
  );
  onTestFinished(() => made[Symbol.asyncDispose]());
  await made.git("config", "user.name", "n");
  await made.git("config", "user.email", "e@example.org");
  chmodSync(join(made.root, ".husky/pre-push"), 0o755);
  await made.git("commit", "-qam", "Modes");
  return made;
}

const manifest = '{\n  "scripts": { "test": "node --test" },\n  "dependencies": { "a": "1.0.0" }\n}\n';
