import { linkSync, symlinkSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { pipReader } from "#keys/reading/pip-reader";

test.each([
  ["r.txt", 1],
  ["sub/r.txt", 1],
  ["link.txt", 0],
  ["linked/r.txt", 0],
  ["second.txt", 0],
  [".env", 0],
  ["closed/r.txt", 0],
  ["../outside.txt", 0],
])("a file of requirements is read only where commands see it: %s, logins: %i", async (file, count) => {
  const names = ["workspace/r.txt", "workspace/sub/r.txt", "workspace/.env", "workspace/closed/r.txt", "outside.txt"];
  await using directory = await temporaryDirectory({
    ...Object.fromEntries([...names, "workspace/first.txt"].map((name) => [name, "dep\n"])),
    "home/.config/pip/pip.conf": "[global]\nindex-url = https://me:secret@pip.example/simple/\n",
  });
  const root = directory.path("workspace");
  symlinkSync("r.txt", `${root}/link.txt`);
  symlinkSync("sub", `${root}/linked`);
  linkSync(`${root}/first.txt`, `${root}/second.txt`);
  const place = {
    directory: root,
    workspaceRoot: root,
    keys: { home: directory.path("home"), environment: {} },
    isHidden: (path: string) => path === `${root}/closed`,
    signal: new AbortController().signal,
  };
  expect(await pipReader.logins(`pip install -r ${file}`, place)).toHaveLength(count);
});
