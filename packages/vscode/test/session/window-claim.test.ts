import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WindowClaim } from "../../src/session/window-claim.ts";

let directory = "";
const file = () => join(directory, "deep", "window.json");

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "gennai-claim-"));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const claim = (states: string[] = []) => new WindowClaim(file(), ({ type }) => void states.push(type));

describe("WindowClaim", () => {
  it("has one owner, until that one goes", async () => {
    const first = claim();
    await using second = claim();
    expect((await first.begin()).type).toBe("ours");
    expect(await second.begin()).toEqual({ type: "held", pid: process.pid });
    await first[Symbol.asyncDispose]();
    await using third = claim();
    expect((await third.begin()).type).toBe("ours");
  });

  it("is taken over by a person's word", async () => {
    await using first = claim();
    const states: string[] = [];
    await using second = claim(states);
    await first.begin();
    await second.begin();
    await second.takeOver();
    expect({ state: second.state.type, states }).toEqual({ state: "ours", states: ["held", "ours"] });
  });

  it.each([
    { name: "of a process that is gone", text: JSON.stringify({ pid: 2 ** 30, window: "w" }), age: 0 },
    { name: "that nobody kept fresh", text: JSON.stringify({ pid: process.pid, window: "w" }), age: 120 },
    { name: "that cannot be read", text: "{", age: 0 },
  ])("counts a claim $name for nothing", async ({ text, age }) => {
    await using first = claim();
    await first.begin();
    await writeFile(`${file()}.1`, text);
    const time = new Date(Date.now() - age * 1000);
    await utimes(`${file()}.1`, time, time);
    await using second = claim();
    expect((await second.begin()).type).toBe("ours");
  });

  it("goes to one of many windows that find a stale claim at once", async () => {
    for (let round = 0; round < 40; round++) {
      const path = join(directory, `${round}`, "window.json");
      const windows = Array.from({ length: 8 }, () => new WindowClaim(path, () => undefined));
      await mkdir(join(directory, `${round}`));
      await writeFile(`${path}.${round + 1}`, JSON.stringify({ pid: 2 ** 30, window: "gone" }));
      const states = await Promise.all(windows.map((window) => window.begin()));
      expect(states.filter(({ type }) => type === "ours")).toHaveLength(1);
      for (const window of windows) await window[Symbol.asyncDispose]();
    }
  });
});
