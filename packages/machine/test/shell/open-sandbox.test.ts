import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findBubblewrap } from "#sandbox/host/find-bubblewrap";
import { readHostLayout } from "#sandbox/host/host-layout";
import { bubblewrapArguments } from "#sandbox/mounts/bubblewrap-arguments";
import { MountPoints } from "#sandbox/mounts/mount-points";
import { sandboxFailure } from "#sandbox/sandboxed-shell";
import { openSandbox, type SandboxOptions } from "#shell/open-sandbox";
import { sandboxFixture } from "../sandbox/sandbox-fixture.ts";

async function options(stateDir: string, more: Partial<SandboxOptions> = {}) {
  return { mode: "auto", stateDir, home: "/home/nobody", environment: {}, platform: "linux", ...more } as const;
}

describe("openSandbox", () => {
  test.each([
    ["is not there", { bubblewrap: undefined }, /not installed/],
    ["does not start", { bubblewrap: "/nonexistent/bwrap" }, /cannot make a sandbox here/],
    ["refuses", { bubblewrap: "/bin/false" }, /cannot make a sandbox here/],
    ["is for another system", { platform: "darwin" }, /none for darwin/],
  ])("bubblewrap %s: said by auto, an end by required", async (_name, more, reason) => {
    await using state = await temporaryDirectory();
    await using opened = await openSandbox(await options(state.root, more));
    expect(opened).toMatchObject({ state: "unsandboxed", reason: expect.stringMatching(reason) });
    await expect(openSandbox({ ...(await options(state.root, more)), mode: "required" })).rejects.toMatchObject({
      code: "sandbox_required",
      hint: expect.stringMatching(/./),
    });
  });

  test("off is off", async () => {
    await using state = await temporaryDirectory();
    await using opened = await openSandbox(await options(state.root, { mode: "off" }));
    expect(opened).toMatchObject({ state: "unsandboxed", reason: "it was switched off" });
  });

  test("leaves nothing on disk, and removes what a process that died left", async () => {
    await using state = await temporaryDirectory();
    mkdirSync(join(state.root, "sandbox", "999999-1-00ff.1", "tmp"), { recursive: true });
    const opened = await openSandbox(await options(realpathSync(state.root)));
    expect(opened.state).toBe("sandboxed");
    expect(readdirSync(join(state.root, "sandbox"))).toHaveLength(1);
    await opened[Symbol.asyncDispose]();
    expect(readdirSync(join(state.root, "sandbox"))).toEqual([]);
  });
});

test("bubblewrap is only taken from where root put it", async () => {
  await using directory = await temporaryDirectory({ bwrap: "#!/bin/sh\n", open: "#!/bin/sh\n" });
  chmodSync(directory.path("bwrap"), 0o644);
  chmodSync(directory.path("open"), 0o777);
  expect(
    findBubblewrap([directory.path("bwrap"), directory.path("open"), directory.path("missing"), directory.root]),
  ).toBeUndefined();
  vi.stubEnv("PATH", `${directory.root}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(findBubblewrap()).toMatch(/^\/(?:usr|bin|run)\//);
});

test("what the layout shows and hides", async () => {
  await using home = await temporaryDirectory({
    ".nvm/x": "",
    ".ssh/id": "",
    ".local/bin/tool": "",
    ".gitconfig": "[user]\n\tname = n\n",
    ".config/git/config": '[url "https://me:pw@host"]\n',
    "tools/bin/x": "",
    "app/node_modules/.bin/x": "",
  });
  const at = (path: string) => join(home.root, path);
  const layout = readHostLayout({
    home: home.root,
    environment: {
      PATH: [at("tools/bin"), at("app/node_modules/.bin"), at(".ssh"), home.root, "relative", "/usr/bin"].join(":"),
    },
    privateDirectories: [],
  });
  const ofHome = layout.readable
    .filter((path) => path.startsWith(home.root))
    .map((path) => path.slice(home.root.length + 1));
  expect(ofHome.sort()).toEqual([".gitconfig", ".local/bin", ".nvm", "app/node_modules", "tools"]);
  expect(layout.hidden).toContain(at(".ssh"));
  expect(layout.readable).not.toContain("/");
});

test("what is hidden is mounted after everything that could show it", async () => {
  await using place = await temporaryDirectory({ "ws/state/token": "x", empty: "" });
  const root = place.path("ws");
  const args = bubblewrapArguments(
    {
      layout: {
        home: undefined,
        readable: ["/usr"],
        links: [],
        caches: [],
        hidden: [place.path("ws/state"), place.path("elsewhere")],
      },
      workspaceRoot: root,
      control: undefined,
      repository: { surroundings: undefined, data: [], exclude: undefined },
      linkedOutside: [],
      zeroAccess: [],
      kept: [],
      temporary: place.root,
      empty: place.path("empty"),
      cwd: root,
    },
    { disableUserNamespaces: false },
  );
  expect(args.indexOf(place.path("ws/state"))).toBeGreaterThan(args.indexOf(root));
  expect(args).not.toContain(place.path("elsewhere"));
  expect(args).toContain("--unshare-all");
  expect(args).toContain("--die-with-parent");
  expect(args).toContain("--new-session");
});

describe("mount points", () => {
  test("go with the last command, unless somebody filled them", async () => {
    await using place = await temporaryDirectory();
    const at = (name: string) => place.path(name);
    const points = new MountPoints(at("journal"));
    const absent = { directories: [at("d"), at("kept")], files: [at("f")] };
    const first = points.take(absent);
    const second = points.take(absent);
    expect([at("d"), at("kept"), at("f")].map((path) => existsSync(path))).toEqual([true, true, true]);
    writeFileSync(join(at("kept"), "settings.json"), "{}");
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(existsSync(at("d"))).toBe(true);
    second[Symbol.dispose]();
    expect(readdirSync(place.root).sort()).toEqual(["journal", "kept"]);
    expect(readdirSync(at("journal"))).toEqual([]);
  });

  test("are neither made nor taken away where a link leads that was put in a workspace's place", async () => {
    await using place = await temporaryDirectory({ "ws/README.md": "", "elsewhere/README.md": "" });
    const points = new MountPoints(place.path("journal"));
    const absent = { directories: [place.path("ws/.vscode")], files: [place.path("ws/.mcp.json")] };
    const taken = points.take(absent);
    renameSync(place.path("ws"), place.path("was"));
    symlinkSync(place.path("elsewhere"), place.path("ws"));
    mkdirSync(place.path("elsewhere/.vscode"));
    writeFileSync(place.path("elsewhere/.mcp.json"), "");
    taken[Symbol.dispose]();
    expect(readdirSync(place.path("elsewhere")).sort()).toEqual([".mcp.json", ".vscode", "README.md"]);
    const other = { directories: [place.path("ws/.pi")], files: [place.path("ws/.intentignore")] };
    expect(() => points.take(other)).toThrow("leads elsewhere");
    expect(readdirSync(place.path("elsewhere")).sort()).toEqual([".mcp.json", ".vscode", "README.md"]);
  });

  test("of a process that died go at the next start", async () => {
    await using place = await temporaryDirectory({ "ws/.mcp.json": "", "ws/.intentignore": "mine\n" });
    mkdirSync(place.path("ws/.vscode"));
    const paths = [".mcp.json", ".intentignore", ".vscode", ".pi"].map((name) => place.path(`ws/${name}`));
    await place.write("journal/999999-1-00ff.json", JSON.stringify(paths));
    await place.write("journal/999999-2-00ff.json", "no json");
    new MountPoints(place.path("journal"));
    expect(readdirSync(place.path("ws"))).toEqual([".intentignore"]);
    expect(readdirSync(place.path("journal"))).toEqual([]);
  });
});

test.each([
  [
    { exitCode: 1, output: "bwrap: Can't find source path /x: No such file or directory\n" },
    "bwrap: Can't find source path /x: No such file or directory",
  ],
  [{ exitCode: 1, output: "ran\nbwrap: no\n" }, undefined],
  [{ exitCode: 0, output: "bwrap: no\n" }, undefined],
])("a start that failed is told from a command that did: %o", (run, expected) => {
  expect(sandboxFailure(run)).toBe(expected);
});

test("a sandbox that cannot start is an error, and the command does not run", async () => {
  await using box = await sandboxFixture();
  const run = await box.run("echo ran", { cwd: box.stateDir });
  expect(sandboxFailure(run)).toMatch(/^bwrap: Can't chdir/);
  expect(() => box.shell.prepare("true", { workspaceRoot: "/", cwd: "/", readsOnly: false })).toThrow(ToolFailure);
});

test("a linked worktree commits to its repository, and only there", async () => {
  await using box = await sandboxFixture();
  await using place = await temporaryDirectory();
  const tree = place.path("tree");
  await box.git("worktree", "add", "--quiet", "-b", "side", tree);
  const run = async (command: string) => {
    const boxed = box.shell.prepare(command, { workspaceRoot: tree, cwd: tree, readsOnly: false });
    const { execFileSync } = await import("node:child_process");
    try {
      return execFileSync("/bin/sh", ["-c", 'exec 3<"$0"; exec "$@"', boxed.opens ?? "/dev/null", ...boxed.argv], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
    } finally {
      boxed.finish();
    }
  };
  expect(
    await run(
      "echo b > b.txt; git add -A; git -c user.name=n -c user.email=e commit -qm Side; git log -1 --format=%s; git status --short",
    ),
  ).toBe("Side\n");
  expect(await box.git("log", "-1", "--format=%s", "side")).toBe("Side");
  expect(
    await run(`echo x > ${box.root}/.git/config || true; cat ${box.root}/a.txt 2>&1 || true; echo x > .git || true`),
  ).toContain("No such file");
  // A pointer to a repository that does not know of this tree opens nothing.
  await using fake = await temporaryDirectory({ ".git": `gitdir: ${box.root}/.git/worktrees/tree\n` });
  const boxed = box.shell.prepare("true", { workspaceRoot: fake.root, cwd: fake.root, readsOnly: false });
  expect(boxed.argv).not.toContain(join(box.root, ".git"));
  boxed.finish();
});
