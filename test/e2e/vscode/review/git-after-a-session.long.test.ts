import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { builtProgram } from "@gennai/testkit/built-program";
import { bash, call } from "@gennai/testkit/scripted-steps";
import {
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import type { ScriptedTurn } from "@gennai/testkit/test-server";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { patience } from "../workbench/patience.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

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
      call("Write", { file_path: "test/a.test.mjs", content: trapTest }),
      bash("npm test"),
      bash("git diff"),
      { text: ["Done."] },
    ],
  },
];

const kept = new AsyncDisposableStack();
afterAll(() => kept.disposeAsync());

async function ownWorkspace(): Promise<TemporaryRepository> {
  const files = { "README.md": "# Test\n", "package.json": '{ "scripts": { "test": "node --test" } }\n' };
  return kept.use(await temporaryRepository(files, { branch: "work" }));
}

interface Left {
  readonly workspace: TemporaryRepository;
  /** The home of the one who had the session. */
  readonly home: string;
}

/** A workspace after the session, of which the traps were refused. */
async function leftBySession(): Promise<Left> {
  const workspace = await ownWorkspace();
  const place = kept.use(await temporaryDirectory({ "model.yaml": JSON.stringify({ turns: session }) }));
  const model = ["--backend", "scripted", "--model", place.path("model.yaml")];
  const commands = ["--commands", "staged"];
  const args = [gennai, "run", ...model, ...commands, "--workspace", workspace.root, "go"];
  const environment = { ...process.env, HOME: place.root, GENNAI_STATE_DIR: place.path("state") };
  // What was refused makes it end with another code.
  const { stdout, stderr } = await run(process.execPath, args, { env: environment }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => error,
  );
  expect(`${stdout}${stderr}`).toMatch(/Refused: \.git \(rule/);
  expect(await workspace.read("README.md")).toBe("# Test\n");
  // The editor's git has to read it, through whatever filter was set.
  await workspace.write("README.md", "# Tost\n");
  return { workspace, home: place.root };
}

let staged: Left;
const workbench = useWorkbench(async () => {
  staged = await leftBySession();
  return { workspace: staged.workspace };
});
let windows = 0;

/** Resolves when the editor's own git has found all repositories of a new window, and shows what changed before and after that. */
async function useEditorsGit(page: Page, workspace: TemporaryRepository): Promise<void> {
  windows += 1;
  await page
    .getByRole("tab", { name: /^Source Control/ })
    .first()
    .click();
  const changed = (name: string) => page.locator(".scm-view .monaco-list-row").filter({ hasText: name }).first();
  await changed("README.md").waitFor();
  const scans = async () => {
    const paths = await Array.fromAsync(glob(join(workbench().server.userData, "logs/**/Git.log")));
    const text = (await Promise.all(paths.map((path) => readFile(path, "utf8")))).join("\n");
    return text.split("Initial repository scan completed").length - 1;
  };
  await expect.poll(scans, { timeout: patience, interval: 300 }).toBe(windows);
  await workspace.write("later.txt", "later\n");
  await changed("later.txt").waitFor();
}

const marksIn = (home: string) => marks.filter((mark) => existsSync(join(home, mark)));

test("what a session of staged commands left makes the editor's own git run nothing", async () => {
  await useEditorsGit(workbench().page, staged.workspace);
  expect([...marksIn(workbench().server.home), ...marksIn(staged.home)]).toEqual([]);
});

test("the same set by hand makes the editor's own git run all of it", async () => {
  const workspace = await ownWorkspace();
  await using home = await temporaryDirectory();
  await run("sh", ["-c", trap], { cwd: workspace.root, env: { ...process.env, HOME: home.root } });
  await using window = await workbench().another({ folder: workspace.root });
  await useEditorsGit(window, workspace);
  // A nested repository is asked about for itself, and may answer later.
  await expect.poll(() => marksIn(workbench().server.home), { timeout: patience }).toEqual(marks);
});
