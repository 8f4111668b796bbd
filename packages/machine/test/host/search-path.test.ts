import { realpathSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { directoriesOutside } from "#host/search-path";

const usual = ["/usr/local/bin", "/usr/bin", "/bin"];

test("a search path never ends empty: a shell would look where it stands", async () => {
  await using place = await temporaryDirectory({ "bin/git": "", "tools/node_modules/.bin/git": "", "mine/git": "" });
  const places = [realpathSync(place.path("bin"))];
  const filled = [place.path("bin"), place.path("tools/node_modules/.bin")];
  for (const path of [undefined, "", ":", ".:bin", "/is/not/there", filled.join(":")]) {
    expect(directoriesOutside(path, places)).toEqual(usual);
  }
  expect(directoriesOutside([...filled, "", ".", place.path("mine")].join(":"), places)).toEqual([place.path("mine")]);
  expect(directoriesOutside(place.path("mine"), places, /[\\/]mine$/)).toEqual(usual);
});
