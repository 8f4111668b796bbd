import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import type { WorkbenchReport } from "@gennai/sessions/policy-workbench/workbench-report";

/** Location of the workspace: rules for the temporary directory or the home must not change the verdicts on the workspace. */
export const workspacePlaces = ["apart", "temporary", "home"] as const;
export type WorkspacePlace = (typeof workspacePlaces)[number];

export interface CommandFixture extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly workbench: PolicyWorkbench;
  /** The verdict of all rules on a command; `/ws` and `/home/dev` in it are replaced with the workspace and the home. */
  decide(command: string): Promise<WorkbenchReport>;
  /** The same words in the paths of this fixture. */
  placed(text: string): string;
}

const files: Readonly<Record<string, string>> = {
  "src/a.ts": "export const a = 1;\n",
  "src/index.ts": 'export * from "./a.ts";\n',
  "src/old.ts": "export const old = 1;\n",
  "src/x.sh": "echo x\n",
  "src/empty/.keep": "",
  "docs/notes.md": "# Notes\n",
  "README.md": "# Read me\n",
  "package.json": '{ "name": "app", "version": "1.0.0", "scripts": { "test": "vitest" } }\n',
  "package-lock.json": "{}\n",
  "dist/index.js": "1;\n",
  "dist/app.js": "1;\n",
  "data.txt": "1\n",
  "data.csv": "a,b\n",
  ".env": "KEY=1\n",
  ".env.example": "KEY=\n",
  ".gitattributes": "* text\n",
  Makefile: "all:\n",
  LICENSE: "MIT\n",
  ".gennai/rules.yaml": `zeroAccessPaths: ["~/.ssh/", "~/.aws/", .env, ".env.*", "!.env.example", "*.pem"]
readOnlyPaths: [package-lock.json, "*.lock", dist/, /etc/]
noDeletePaths: [README.md, "LICENSE*", .git/]
`,
  ".orchestration/active_intents.yaml": `active_intents:
  - id: INT-001
    name: The work at hand
    status: IN_PROGRESS
    owned_scope: ["src/**", "docs/**"]
    constraints: []
    acceptance_criteria: []
`,
};

export async function commandFixture(
  place: WorkspacePlace = "apart",
  options: {
    readonly intent?: string;
    /** Files beside those of the fixture, or in their place; below `~/` in the home. */
    readonly files?: Readonly<Record<string, string | Uint8Array>>;
    /** Changes the world before rules are read. */
    readonly prepare?: (place: { readonly root: string; readonly home: string }) => void;
  } = {},
): Promise<CommandFixture> {
  const above = place === "apart" ? apart() : tmpdir();
  mkdirSync(above, { recursive: true });
  await using parts = new AsyncDisposableStack();
  const base = realpathSync(mkdtempSync(join(above, "gennai-corpus-")));
  parts.defer(() => rmSync(base, { recursive: true, force: true }));
  const home = join(base, "home", "dev");
  const root = place === "home" ? join(home, "projects", "ws") : join(base, "ws");
  mkdirSync(home, { recursive: true });
  for (const [name, text] of Object.entries({ ...files, ...options.files })) {
    const path = name.startsWith("~/") ? join(home, name.slice(2)) : join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
  }
  execFileSync("git", ["init", "--quiet", "--initial-branch", "main"], { cwd: root });
  options.prepare?.({ root, home });
  const workbench = parts.use(
    await PolicyWorkbench.open({
      workspace: root,
      stateDir: join(base, "state"),
      home,
      ...(options.intent === undefined ? {} : { intent: options.intent }),
    }),
  );
  const placed = (text: string) =>
    text.replace(/(?<![\w.~-])\/(ws|home\/dev)(?![\w.-])/g, (_, name: string) => (name === "ws" ? root : home));
  const owned = parts.move();
  return {
    root,
    home,
    workbench,
    placed,
    decide: (command) => workbench.decide("Bash", { command: placed(command) }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A directory below neither the temporary directory nor, usually, the home. */
function apart(): string {
  const cache = fileURLToPath(new URL("../../.cache/corpus", import.meta.url));
  return [tmpdir(), "/tmp", homedir()].some((one) => cache.startsWith(`${one}/`)) ? "/var/tmp" : cache;
}
