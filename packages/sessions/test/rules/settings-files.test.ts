import { rename } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { changedSettings, settingsFiles } from "#rules/settings-files";

test.each([
  ["project_settings", "root/.gennai/rules.yaml"],
  ["project_settings", "root/.gennai/scenarios/mine.yaml"],
  ["project_settings", "root/.mcp.json"],
  ["project_settings", "root/.pi/damage-control-rules.yaml"],
  ["user_settings", "home/.pi/damage-control-rules.yaml"],
  ["user_settings", "config/hooks.json"],
] as const)("a change of %s in %s is one until it is taken back", async (source, file) => {
  await using place = await temporaryDirectory();
  const [configDir = "", home = "", root = ""] = ["config", "home", "root"].map((name) => join(place.root, name));
  const now = () => settingsFiles({ configDir, home, root });
  await place.write(file, "one");
  const before = await now();
  await place.write(file, "two");
  expect(changedSettings(before, await now())).toEqual([{ source, path: place.path(file) }]);
  // Put back as another file, and later.
  await place.write("new", "one");
  await rename(place.path("new"), place.path(file));
  expect(changedSettings(before, await now())).toEqual([]);
});
