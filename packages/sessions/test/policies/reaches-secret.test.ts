import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { reachesSecret } from "#policies/reaches-secret";

test("a wildcard in a directory with a secret, a link, or reached by one may show secrets; in another one it does not", async () => {
  await using directory = await temporaryDirectory();
  const at = (path: string): string => directory.path(path);
  for (const name of ["plain", "secret", "linked"]) mkdirSync(at(name));
  writeFileSync(at("plain/a.txt"), "");
  writeFileSync(at("secret/.env"), "");
  symlinkSync("/etc/hostname", at("linked/a.txt"));
  symlinkSync("plain", at("link"));
  const reaches = (path: string) => reachesSecret(at(path), (each) => each.endsWith(".env"), true);
  expect(["plain/*", "absent/*", "secret/*", "linked/*", "link/*"].filter(reaches)).toEqual([
    "secret/*",
    "linked/*",
    "link/*",
  ]);
});
