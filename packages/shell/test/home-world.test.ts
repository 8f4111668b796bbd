import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { stagingMachine } from "./staging-machine.ts";

const token = `ghp_${"aB3dE5fG7h".repeat(4).slice(0, 36)}`;
const canary = "CANARY";

/** A home of which the programs in `path` are searched, and commands over it. */
async function homeWith(
  files: Readonly<Record<string, string>>,
  path: readonly string[],
  links: Readonly<Record<string, string>> = {},
  venvs: readonly string[] = [],
) {
  await using parts = new AsyncDisposableStack();
  const home = parts.use(await temporaryDirectory(files));
  const at = (below: string): string => join(home.root, below);
  for (const [file, text] of Object.entries(files)) if (text.startsWith("#!")) chmodSync(at(file), 0o755);
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(dirname(at(link)), { recursive: true });
    symlinkSync(target, at(link));
  }
  for (const venv of venvs) {
    execFileSync("/usr/bin/python3", ["-m", "venv", "--without-pip", at(venv)]);
    const script = at(`${venv}/bin/${basename(venv)}`);
    writeFileSync(script, `#!${at(venv)}/bin/python3\nimport sys; print("venv", sys.prefix)\n`);
    chmodSync(script, 0o755);
  }
  const repository = parts.use(await temporaryRepository({ "a.txt": "1\n" }));
  const searched = [...path.map(at), process.env["PATH"]].join(":");
  const machine = parts.use(await stagingMachine(undefined, {}, searched, home.root));
  const owned = parts.move();
  return {
    at,
    run: async (text: string): Promise<string> => {
      const staged = await machine.run(repository.root, text);
      await staged.drop();
      return staged.run.output;
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

const sh = (text: string): string => `#!/bin/sh\n${text}\n`;

test("of what lies beside programs, commands read no login, whatever its name and form", async () => {
  const secrets = {
    ".railway/config.json": canary,
    ".pulumi/credentials.json": canary,
    ".foundry/keystores/k": canary,
    "tools/tool/.env": canary,
    ".cargo/credentials.toml": canary,
    "unknown/credentials.json": canary,
    "unknown/etc/x": canary,
    "unknown/lib/.env.production": canary,
    "unknown/lib/deep/.aws/x": canary,
    "unknown/share/settings.json": `{ "x": "${token}" }`,
    "bin/.netrc": canary,
    "bin/deploy": sh(`TOKEN=${token} run`),
    "bin/lib/.git/config": canary,
    "linked/.env": canary,
    "linked/src/id_rsa": canary,
    "linked/src/settings.js": `export const key = "${token}";`,
    ".nvm/versions/node/v1/etc/npmrc": `//r.example/:_authToken=${token}`,
    ".nvm/versions/node/v1/lib/.env": canary,
    "scripts/push.sh": sh(`TOKEN=${token} run`),
    "app/.npmrc": canary,
    "app/node_modules/.env": canary,
    "app/node_modules/notes": `TOKEN=${token}`,
    "app/node_modules/.cache/x/login": canary,
  };
  const programs = Object.fromEntries(
    [".railway/bin", ".pulumi/bin", ".foundry/bin", "tools/tool/bin", ".cargo/bin", "unknown/bin", "bin"].map((bin) => [
      `${bin}/x-${bin.replaceAll(/\W/g, "")}`,
      sh("echo"),
    ]),
  );
  const rest = { "linked/package.json": "{}", "linked/cli.js": "", "app/node_modules/.bin/x": sh("echo") };
  const path = [...Object.keys(programs).map(dirname), "app/node_modules/.bin"];
  await using home = await homeWith({ ...secrets, ...programs, ...rest }, path, {
    "bin/linked": "../linked/cli.js",
    "bin/push": "../scripts/push.sh",
  });
  const files = Object.keys(secrets).map(home.at).join(" ");
  const hostile = `cat ${files}; cat ~/bin/push; grep -r '${canary}\\|ghp_' ~ 2>/dev/null; ls ~/.railway ~/tools/tool ~/unknown`;
  const seen = await home.run(hostile);
  expect(seen.replaceAll("cat: ", "")).not.toMatch(/CANARY|ghp_/);
  expect(seen).toMatch(/^bin\nlib\nshare$/m);
  // Made later, where people keep files of their own.
  writeFileSync(home.at("bin/.env"), canary);
  writeFileSync(home.at("linked/src/key.pem"), canary);
  expect(await home.run("cat ~/bin/.env ~/linked/src/key.pem")).not.toContain(canary);
});

test("programs run as they do for their user", async () => {
  const beside = sh('. "$(dirname "$(readlink -f "$0")")/../lib/part.sh"; part');
  const files = {
    "tools/bin/beside": beside,
    "tools/lib/part.sh": "part() { echo beside; }",
    "bin/own": sh('. "$(dirname "$0")/helpers/h.sh"'),
    "bin/helpers/h.sh": "echo own",
    ".npm-global/lib/node_modules/tool/package.json": '{ "name": "tool", "type": "module" }',
    ".npm-global/lib/node_modules/tool/cli.js": "#!/usr/bin/env node\nimport dep from 'dep'; console.log(dep);",
    ".npm-global/lib/node_modules/tool/node_modules/dep/package.json": '{ "name": "dep", "main": "i.js" }',
    ".npm-global/lib/node_modules/tool/node_modules/dep/i.js": "module.exports = require('./example.js').name;",
    ".npm-global/lib/node_modules/tool/node_modules/dep/example.js": `module.exports = { name: "npm -g", token: "${token}" };`,
    "tools/cli/package.json": '{ "name": "cli" }',
    "tools/cli/src/main.js": "#!/usr/bin/env node\nconsole.log(require('./part.js'));",
    "tools/cli/src/part.js": "module.exports = 'npm link';",
    ".nvm/versions/node/v1/bin/nvm-tool": sh("echo nvm"),
    ".cargo/bin/cargo-tool": sh("cat ~/.cargo/registry/x"),
    ".cargo/registry/x": "cargo\n",
    "apps/t-2/bin/moved": sh('cat "$(dirname "$0")/../share/t/text"'),
    "apps/t-2/share/t/text": "moved\n",
  };
  const path = ["tools/bin", "bin", ".npm-global/bin", ".local/bin", ".nvm/versions/node/v1/bin", ".cargo/bin"];
  const venvs = [".local/share/pipx/venvs/black", "envs/one"];
  const links = {
    ".npm-global/bin/tool": "../lib/node_modules/tool/cli.js",
    ".npm-global/bin/cli": "../lib/node_modules/cli/src/main.js",
    ".npm-global/lib/node_modules/cli": "../../../tools/cli",
    "apps/t": "t-2",
    current: "apps/t",
    ".local/bin/black": "../share/pipx/venvs/black/bin/black",
    env: "envs/one",
  };
  await using home = await homeWith(files, [...path, "current/bin", "env/bin"], links, venvs);
  for (const [command, output] of [
    ["beside", "beside\n"],
    ["own", "own\n"],
    ["tool", "npm -g\n"],
    ["cli", "npm link\n"],
    ["nvm-tool", "nvm\n"],
    ["cargo-tool", "cargo\n"],
    ["moved", "moved\n"],
    ["black", `venv ${home.at(".local/share/pipx/venvs/black")}\n`],
    ["one", `venv ${home.at("envs/one")}\n`],
    [`python3 -c 'import sys; print(sys.prefix)'`, `${home.at("env")}\n`],
  ] as const) {
    expect([command, await home.run(command)]).toEqual([command, output]);
  }
});

test("a workspace is found in commands also under the name by which it was opened", async () => {
  await using home = await temporaryDirectory({ "real/x": "" });
  await using repository = await temporaryRepository({ "a.txt": "1\n" });
  symlinkSync(dirname(repository.root), home.path("projects"));
  symlinkSync("projects", home.path("work"));
  await using machine = await stagingMachine(undefined, {}, process.env["PATH"], home.root);
  const named = join(home.path("work"), basename(repository.root));
  machine.stages.names.note(named);
  const staged = await machine.run(
    repository.root,
    `cat ${named}/a.txt && readlink ${home.path("work")}; ls ${home.root}`,
  );
  await staged.drop();
  expect(staged.run.output).toBe("1\nprojects\nprojects\nwork\n");
});
