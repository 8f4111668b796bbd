import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { removeLayer } from "@gennai/stage/layer/layer-files";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { stagingMachine } from "./staging-machine.ts";

const cached = {
  ".npm/_cacache/index/one": "the user's\n",
  ".cargo/registry/x": "x\n",
  ".rustup/settings.toml": "s\n",
  ".pyenv/shims/python3": "shim\n",
};

test("a command finds what the caches of package managers hold, and writes there; the user's stay as they are", async () => {
  await using machine = await stagingMachine(undefined, cached);
  await using repository = await temporaryRepository({ "a.txt": "1\n" });
  const at = (path: string) => join(machine.home, path);
  const command = [
    `cat ${at(".npm/_cacache/index/one")}`,
    `echo changed > ${at(".npm/_cacache/index/one")}`,
    `mkdir -p ${at(".npm/_cacache/tmp")} && echo new > ${at(".npm/_cacache/tmp/two")} && cat ${at(".npm/_cacache/tmp/two")}`,
    `rm ${at(".cargo/registry/x")}; ls ${at(".cargo/registry")}`,
    `echo more > ${at(".pyenv/shims/pytest")}`,
    `echo mine > ${at(".rustup/settings.toml")}`,
  ].join("; ");
  for (let round = 0; round < 2; round += 1) {
    const staged = await machine.run(repository.root, command);
    expect(staged.run.output).toMatch(/^the user's\nnew\n[^\n]*Read-only file system\n$/);
    expect(staged.effects).toEqual([]);
    await staged.keep(new Set());
  }
  for (const [path, text] of Object.entries(cached)) expect(readFileSync(at(path), "utf8")).toBe(text);
  expect(readdirSync(at(".npm/_cacache"))).toEqual(["index"]);
  expect(readdirSync(at(".pyenv/shims"))).toEqual(["python3"]);
});

test("npm installs a package of the disk, with a cache that is the user's", async () => {
  await using machine = await stagingMachine(undefined, cached);
  await using repository = await temporaryRepository({
    ".gitignore": "node_modules\n",
    "package.json": '{ "name": "top", "version": "1.0.0" }\n',
    "dep/package.json": '{ "name": "dep", "version": "1.0.0" }\n',
    "dep/index.js": "module.exports = 42;\n",
  });
  const install =
    "npm install --offline --no-save --no-audit --no-fund --install-links ./dep 2>&1 && node -p 'require(\"dep\")'";
  const staged = await machine.run(repository.root, `export HOME=${machine.home}; ${install}`);
  await staged.drop();
  expect(staged.run.output).toMatch(/added 1 package[^]*\n42\n$/);
  expect(readdirSync(join(machine.home, ".npm/_cacache"))).toEqual(["index"]);
});

test("what a run with a network fetched stays for its session, and for nothing that a person agreed to by itself", async () => {
  await using machine = await stagingMachine(undefined, cached);
  await using repository = await temporaryRepository({ "a.txt": "1\n" });
  const at = (path: string) => join(machine.home, path);
  const look = `ls ${at(".pyenv/shims")} | grep cargo; cat ${at(".cargo/registry/x")} ${at(".npm/_cacache/new/two")} ${at("go/pkg/mod/m")} 2>/dev/null; true`;
  const fetch = [
    `echo fetched > ${at(".cargo/registry/x")}`,
    `mkdir -p ${at(".npm/_cacache/new")} ${at("go/pkg/mod")}; echo evil > ${at(".pyenv/shims/cargo")}`,
    `echo two > ${at(".npm/_cacache/new/two")}; echo m > ${at("go/pkg/mod/m")}`,
    `rm -r ${at(".npm/_cacache/index")}; chmod 555 ${at("go/pkg/mod")}`,
  ].join("; ");
  const run = async (text: string, session: string, { confirmed = false, network = false } = {}) => {
    const allowed = network ? [{ host: "registry.example", port: 80 }] : [];
    const staged = await machine.run(repository.root, text, confirmed, session, allowed);
    await staged.keep(new Set());
    return staged.run.output;
  };
  await run(fetch, "one");
  expect(await run(look, "one")).toBe("x\n");
  for (let round = 0; round < 2; round += 1) {
    expect(await run(fetch, "one", { network: true })).toBe("");
    expect(await run(look, "one")).toBe("fetched\ntwo\nm\n");
  }
  expect(await run(`cat ${at(".npm/_cacache/index/one")}`, "one")).toBe("the user's\n");
  expect(await run(look, "two")).toBe("x\n");
  expect(await run(look, "one", { confirmed: true })).toBe("x\n");
  expect(await run(look, "one", { confirmed: true, network: true })).toBe("x\n");
  for (const [path, text] of Object.entries(cached)) expect(readFileSync(at(path), "utf8")).toBe(text);
  expect(existsSync(at("go"))).toBe(false);
  await removeLayer(machine.stateDir, "one", repository.root);
  expect(await run(look, "one")).toBe("x\n");
});
