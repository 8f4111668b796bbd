import { chmod } from "node:fs/promises";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { openElsewhere } from "#elsewhere/open-elsewhere";

test.each([
  ["people.yaml", "people: 1\n", "{}"],
  ["people-pins.json", 'people: { alice: [{ via: ntfy, url: "https://ntfy.example/a" }] }\n', "[1"],
])("a bad %s asks nobody, and the log says why", async (_file, people, pins) => {
  await using directory = await temporaryDirectory({ "people.yaml": people, "people-pins.json": pins });
  for (const name of ["people.yaml", "people-pins.json"]) await chmod(directory.path(name), 0o600);
  const warnings: string[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (text: string) => void warnings.push(text),
    error: () => undefined,
  };
  const options = { address: { type: "tcp", host: "127.0.0.1", port: 0 }, token: "t", users: undefined } as const;
  const place = { options, configDir: directory.root, stateDir: directory.root, scheme: "http", log } as const;
  expect(await openElsewhere(place, async () => [])).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining("Nobody is asked elsewhere: ")]);
});
