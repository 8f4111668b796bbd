import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { builtProgram } from "@gennai/testkit/built-program";
import {
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import type { ScriptedTurn } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { patience } from "../workbench/patience.ts";
import { startWorkbench, type Workbench } from "../workbench/workbench.ts";

const gennai = builtProgram(new URL("../../../../packages/cli/src/main.ts", import.meta.url));
const run = promisify(execFile);

/** Files that appear in the home of the one who asks git what changed, one for each way to make git run a program. */
const marks = ["by-nested-filter", "by-own-filter", "by-own-monitor"];

/** What changes keeps its size, so that git reads it, through the filter. When one step fails, the others are still tried. */
const trap = `
  git init -q nested; cd nested
  echo one > f; git add f; git -c user.name=a -c user.email=a@b commit -qm nested
  git config filter.x.clean 'touch "$HOME/by-nested-filter"; cat'; echo '* filter=x' > .git/info/attributes; echo two > f
  cd ..
  git update-index --add --cacheinfo 160000,$(git -C nested rev-parse HEAD),nested
  git -c user.name=a -c user.email=a@b commit -qm link
  git config filter.x.clean 'touch "$HOME/by-own-filter"; cat'; echo 'README.md filter=x' > .git/info/attributes
  git config core.fsmonitor 'touch "$HOME/by-own-monitor"; false'
  echo '# Tost' > README.md
`;

/** Looks like a test, and sets the trap. */
const trapTest = `import { spawnSync } from "node:child_process"; spawnSync("sh", ["-c", ${JSON.stringify(trap)}]);\n`;

/** The agent's own git is asked as well. */
const session: readonly ScriptedTurn[] = [
  {
    steps: [
      { tool: { name: "Write", args: { file_path: "a.test.mjs", content: trapTest } } },
      { tool: { name: "Bash", args: { command: "npm test" } } },
      { tool: { name: "Bash", args: { command: "git diff" } } },
      { text: ["Done."] },
    ],
  },
];

async function ownWorkspace(): Promise<TemporaryRepository> {
  const workspace = await temporaryRepository({
    "README.md": "# Test\n",
    "package.json": '{ "scripts": { "test": "node --test" } }\n',
  });
  await workspace.git("checkout", "--quiet", "-b", "work");
  return workspace;
}

/** Resolves when the editor's own git has found all repositories, and shows what changed before and after that. */
async function useEditorsGit({ page, server, workspace }: Workbench): Promise<void> {
  await page
    .getByRole("tab", { name: /^Source Control/ })
    .first()
    .click();
  const changed = (name: string) => page.locator(".scm-view .monaco-list-row").filter({ hasText: name }).first();
  await changed("README.md").waitFor();
  const log = async () => {
    const paths = await Array.fromAsync(glob(join(server.userData, "logs/**/Git.log")));
    return (await Promise.all(paths.map((path) => readFile(path, "utf8")))).join("\n");
  };
  await expect.poll(log, { timeout: patience, interval: 300 }).toContain("Initial repository scan completed");
  await workspace.write("later.txt", "later\n");
  await changed("later.txt").waitFor();
}

const marksIn = (home: string) => marks.filter((mark) => existsSync(join(home, mark)));

test.each([
  ["staged", "required", /Refused: \.git \(rule/, "# Test\n"],
  // The trap was set as far as it could be.
  ["not staged", "off", /put back, because nobody agreed to it: .*nested\/\.git \(removed/, "# Tost\n"],
])("what a session left makes the editor's own git run nothing: commands %s", async (_name, stages, said, readme) => {
  await using workspace = await ownWorkspace();
  await using place = await temporaryDirectory({ "model.yaml": JSON.stringify({ turns: session }) });
  const model = ["--backend", "scripted", "--model", place.path("model.yaml")];
  const args = [
    gennai,
    "run",
    ...model,
    "--sandbox",
    "required",
    "--stages",
    stages,
    "--workspace",
    workspace.root,
    "go",
  ];
  const environment = { ...process.env, HOME: place.root, GENNAI_STATE_DIR: place.path("state") };
  // What was refused makes it end with another code.
  const { stdout, stderr } = await run(process.execPath, args, { env: environment }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => error,
  );
  expect(`${stdout}${stderr}`).toMatch(said);
  expect(await workspace.read("README.md")).toBe(readme);
  // The editor's git has to read it, through whatever filter was set.
  await workspace.write("README.md", "# Tost\n");

  await using workbench = await startWorkbench({ workspace });
  await useEditorsGit(workbench);
  expect([...marksIn(workbench.server.home), ...marksIn(place.root)]).toEqual([]);
});

test("the same set by hand makes the editor's own git run all of it", async () => {
  await using workspace = await ownWorkspace();
  await using home = await temporaryDirectory();
  await run("sh", ["-c", trap], { cwd: workspace.root, env: { ...process.env, HOME: home.root } });
  await using workbench = await startWorkbench({ workspace });
  await useEditorsGit(workbench);
  // A nested repository is asked about for itself, and may answer later.
  await expect.poll(() => marksIn(workbench.server.home), { timeout: patience }).toEqual(marks);
});
