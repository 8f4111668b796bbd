import { chmodSync, realpathSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { findNode, type NodePlaces, runsServer, serverEnvironment } from "../../../src/server/launch/node-program.ts";

const places: NodePlaces = {
  chosen: "",
  host: "/editor/node",
  environment: {},
  platform: "linux",
  home: "/nobody",
  folders: [],
};

/** All that were tried, in their order. */
async function tried(more: Partial<NodePlaces>): Promise<readonly string[]> {
  const programs: string[] = [];
  await findNode({ ...places, ...more }, async (program) => programs.push(program) === 0);
  return programs;
}

test("the editor's own comes first, then the search path, then versions, the newest first", async () => {
  await using home = await temporaryDirectory({
    "bin/node": "",
    ".nvm/versions/node/v9.0.0/bin/node": "",
    ".nvm/versions/node/v24.1.0/bin/node": "",
  });
  const PATH = [home.path("none"), home.path("bin")].join(":");
  const all = await tried({ home: home.root, environment: { PATH } });
  const found = ["bin/node", ".nvm/versions/node/v24.1.0/bin/node", ".nvm/versions/node/v9.0.0/bin/node"];
  expect(all.slice(0, 4)).toEqual(["/editor/node", ...found.map((path) => home.path(path))]);
});

test("one that was chosen is the only one", async () => {
  expect(await tried({ chosen: "/my/node" })).toEqual(["/my/node"]);
});

test("nothing out of any folder that is worked on, of packages, or of a relative path is tried", async () => {
  await using place = await temporaryDirectory({
    "w/bin/node": "",
    "w/node": "",
    "second/node": "",
    "x/node_modules/.bin/node": "",
    "wide/bin/node": "",
    "w/nvm/versions/node/v24.0.0/bin/node": "",
  });
  const root = realpathSync(place.root);
  await symlink(join(root, "w"), join(root, "link"));
  await mkdir(join(root, "inner"));
  await symlink(join(root, "w", "node"), join(root, "inner", "node"));
  const listed = ["w/bin", "w", "link", "inner", "second", "x/node_modules/.bin", "wide/bin"];
  const PATH = ["./bin", "", ...listed.map((path) => join(root, path))].join(":");
  const environment = { PATH, NVM_DIR: join(root, "w", "nvm") };
  const all = await tried({ environment, folders: [join(root, "w"), join(root, "second")] });
  expect(all.filter((path) => path.startsWith(root))).toEqual([join(root, "wide/bin/node")]);
  const { folders } = { folders: [join(root, "W")] };
  const spelled = await tried({ environment: { PATH: join(root, "w", "bin") }, folders, platform: "darwin" });
  expect(spelled.filter((path) => path.startsWith(root))).toEqual([]);
});

test("a Node that runs the server is told from one that does not by starting it", async () => {
  await using place = await temporaryDirectory({ "old/node": "#!/bin/sh\nexit 3\n", "text/node": "no program" });
  chmodSync(place.path("old/node"), 0o755);
  expect(await runsServer(process.execPath)).toBe(true);
  for (const path of ["old/node", "text/node", "none/node"]) expect(await runsServer(place.path(path))).toBe(false);
  expect(await runsServer("node")).toBe(false);
  expect(await findNode({ ...places, host: place.path("old/node"), chosen: process.execPath })).toBe(process.execPath);
});

test("what is meant for the editor is kept from the server", () => {
  const environment = { HOME: "/h", NODE_OPTIONS: "--x", NODE_EXTRA_CA_CERTS: "/ca", VSCODE_PID: "1", ELECTRON_X: "1" };
  expect(serverEnvironment(environment)).toEqual({ HOME: "/h", NODE_EXTRA_CA_CERTS: "/ca", ELECTRON_RUN_AS_NODE: "1" });
});
