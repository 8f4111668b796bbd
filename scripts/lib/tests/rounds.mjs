import { readdirSync, statSync } from "node:fs";
import { inRepository } from "../repository.mjs";
import { sampleOf } from "./sample.mjs";

/**
 * Tests that show one guarantee in many places, through other programs or at other moments, by folders and files: `npm test` runs so many
 * files of each, `npm test -- --all` all.
 * @type {readonly (readonly [count: number, ...places: readonly string[]])[]}
 */
const rounds = [
  // Of a window of VS Code, most of the time is its start.
  [1, "test/e2e/vscode"],
  [2, "test/e2e/browser/chat"],
  [2, "test/e2e/browser/panels", "test/e2e/browser/review"],
  [1, "test/e2e/sandbox/attempts"],
  [2, "test/e2e/sandbox/keys"],
  [2, "test/e2e/sandbox/network"],
  [2, "test/e2e/sandbox/proposal"],
  [6, "test/e2e/sandbox/staged"],
  [1, "packages/shell/test/copy/copy.test.ts", "packages/stage/test/observe/again.test.ts"],
  [2, "packages/stage/test/mount"],
  [2, "test/crash/server"],
  [1, "test/effects/kills.test.ts", "test/effects/meanwhile.test.ts"],
  [1, "test/e2e/replicas", "test/e2e/users/replicas.test.ts", "test/scale"],
  [
    1,
    ...["test/deploy/image.test.ts", "test/deploy/topology.test.ts"],
    ...["test/release/upgrade.test.ts", "test/release/verify.test.ts"],
  ],
];

/** The test files whose turn it is not, by the seed; the long ones aside. @returns {readonly string[]} */
export function notInThisRound() {
  return rounds.flatMap(([count, ...places]) => {
    const files = places.flatMap(testFilesIn).filter((file) => !file.endsWith(".long.test.ts"));
    const chosen = sampleOf(files, count);
    return files.filter((file) => !chosen.includes(file));
  });
}

/** @param {string} place from the root of the checkout, with `/` @returns {readonly string[]} sorted */
function testFilesIn(place) {
  if (statSync(inRepository(place)).isFile()) return [place];
  return readdirSync(inRepository(place), { recursive: true, encoding: "utf8" })
    .map((name) => `${place}/${name.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".test.ts"))
    .sort();
}
