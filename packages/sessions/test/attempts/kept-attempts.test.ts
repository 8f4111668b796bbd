import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import type { Attempts } from "#attempts/attempt";
import { KeptAttempts } from "#attempts/kept-attempts";

function attempts(id: string, workspace: string): Attempts {
  return { version: 1, id, workspace, prompt: "do", at: Date.now(), check: "true", attempts: [] };
}

test.each(["copies.json", "attempts.json"])("a %s that was written in part stops nothing, and goes", async (name) => {
  await using state = await temporaryDirectory();
  await using place = await temporaryDirectory();
  const workspace = place.path("workspace");
  mkdirSync(workspace);
  const kept = new KeptAttempts(state.root);
  const open = kept.open(workspace);
  open.finish(attempts(open.id, workspace));
  await kept.close(open);
  const broken = join(state.root, "attempts", "0123abcd");
  for (const content of ["", "{", "{}"]) {
    mkdirSync(broken, { recursive: true });
    writeFileSync(join(broken, name), content);
    expect(kept.list().map(({ id }) => id)).toEqual([open.id]);
    await kept.recover(Date.now());
    expect(existsSync(broken)).toBe(false);
  }
  expect(kept.list(workspace).map(({ id }) => id)).toEqual([open.id]);
});

test("what is written stands there whole, and nothing is left beside it", async () => {
  await using state = await temporaryDirectory();
  await using place = await temporaryDirectory();
  const kept = new KeptAttempts(state.root);
  const open = kept.open(place.path("workspace"));
  open.finish(attempts(open.id, place.path("workspace")));
  expect(readdirSync(join(state.root, "attempts", open.id)).toSorted()).toEqual([
    "attempts.json",
    "bytes",
    "copies.json",
  ]);
  await kept.recover(Date.now());
  expect(existsSync(open.place)).toBe(true);
  await kept.close(open);
  expect(existsSync(open.place)).toBe(false);
});
