import { chmodSync, realpathSync, symlinkSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { searchPath, userProgram } from "#keys/login/user-program";

test("no program of the user's comes out of a place that commands write to, no matter which way its path is written", async () => {
  await using place = await temporaryDirectory({
    "real/ws/.venv/bin/ssh": "#!/bin/sh\n",
    "tools/ssh": "#!/bin/sh\n",
    "shims/ssh": "#!/bin/sh\n",
    "linked/other": "",
  });
  for (const path of ["real/ws/.venv/bin/ssh", "tools/ssh", "shims/ssh"]) chmodSync(place.path(path), 0o755);
  symlinkSync(place.path("real"), place.path("link"));
  symlinkSync(place.path("real/ws/.venv/bin/ssh"), place.path("linked/ssh"));
  const staged = [realpathSync(place.path("real/ws"))];
  const directories = [
    ...["link/ws/.venv/bin", "real/ws/.venv/bin", "tools/../real/ws/.venv/bin", "shims", "gone", "linked"],
  ];
  const PATH = [...directories, "tools"].map((path) => place.path(path)).join(":");
  expect(userProgram("ssh", { PATH }, staged)).toBe(place.path("tools/ssh"));
  expect(searchPath({ PATH }, staged)).toEqual([place.path("linked"), place.path("tools")]);
});
