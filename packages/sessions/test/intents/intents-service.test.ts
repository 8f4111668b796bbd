import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IntentsBench, intentsText } from "./intents-bench.ts";

let bench: IntentsBench;
const record = async () => {};
beforeEach(() => {
  bench = new IntentsBench();
});
afterEach(() => {
  bench[Symbol.dispose]();
});

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "no failure";
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return error.code;
  }
}

describe("seed 001 opt-in: keep the hooks opt-in per workspace or profile (feature flag in settings)", () => {
  it("auto is off without a file, on with one, and stays on when it vanishes until a person says otherwise", async () => {
    const service = bench.service();
    expect(await service.status()).toMatchObject({ mode: "auto", on: false, problems: [] });
    bench.write(bench.file, intentsText);
    expect(await service.status()).toMatchObject({ on: true, problems: [] });
    bench.remove(bench.file);
    expect(await service.status()).toMatchObject({
      on: true,
      intents: [],
      problems: [expect.stringContaining("is missing")],
    });
    expect(await bench.service().status()).toMatchObject({ on: true });
    await service.setMode("auto");
    expect(await bench.service().status()).toMatchObject({ on: false });
  });

  it.each([
    ["required", true],
    ["off", false],
  ] as const)("%s is on: %s, with a file and without", async (mode, on) => {
    const service = bench.service();
    await service.setMode(mode);
    expect(await bench.service().status()).toMatchObject({ mode, on });
    bench.write(bench.file, intentsText);
    expect(await bench.service().status()).toMatchObject({ mode, on });
  });

  it("takes the profile's mode where the person chose none, and only there", async () => {
    expect(await bench.service("required").status()).toMatchObject({ mode: "required", on: true });
    await bench.service().setMode("off");
    expect(await bench.service("required").status()).toMatchObject({ mode: "off", on: false });
  });

  it("required: nothing can be selected before a person accepted the very file, however it came", async () => {
    const service = bench.service("required");
    bench.write(bench.file, intentsText);
    const id = (await service.status()).intents.find(({ selectable }) => selectable)?.id ?? "";
    expect(await service.status()).toMatchObject({
      accepted: false,
      problems: [expect.stringContaining("its present text is not accepted")],
    });
    expect((await service.rules(id)).selectable).toEqual([]);
    await expect(service.selectable(id)).rejects.toMatchObject({
      code: "invalid_intent",
      hint: expect.stringContaining("gennai intents accept"),
    });

    await expect(service.accept({ record, seen: "0".repeat(64) })).rejects.toMatchObject({ code: "stale_file" });
    expect(await service.status()).toMatchObject({ accepted: false });
    const full = { record: () => Promise.reject(new Error("the disk is full")) };
    await expect(service.accept(full)).rejects.toThrow("the disk is full");
    expect(await service.status()).toMatchObject({ accepted: false });
    expect(await service.accept({ record })).toMatchObject({ accepted: true, problems: [] });
    expect(await bench.service("required").selectable(id)).toMatchObject({ id });
    // What a person agreed to afterwards is accepted with it; any other change is not.
    await service.expandScope(id, ["docs/**"]);
    expect(await service.status()).toMatchObject({ accepted: true });
    bench.write(bench.file, `${intentsText}# changed\n`);
    expect(await service.status()).toMatchObject({ accepted: false });
    await expect(service.selectable(id)).rejects.toMatchObject({ code: "invalid_intent" });
    // A file that was taken back is the one that was read.
    await service.setMode("auto");
    expect(await service.selectable(id)).toMatchObject({ id });
  });

  it("accepts nothing that is not there or broken", async () => {
    const service = bench.service("required");
    await expect(service.accept({ record })).rejects.toMatchObject({ code: "intents_unreadable" });
    bench.write(bench.file, "active_intents: [");
    await expect(service.accept({ record })).rejects.toMatchObject({ code: "intents_unreadable" });
    bench.remove(bench.file);
    expect(await service.create(intentsText, record)).toBe(true);
    expect(await service.status()).toMatchObject({ accepted: true });
  });

  it("does not take a damaged setting for an off", async () => {
    const service = bench.service();
    await service.setMode("auto");
    mkdirSync(join(bench.stateDir, "intents"), { recursive: true });
    const { IntentsSettingFile } = await import("#intents/intents-setting");
    writeFileSync(new IntentsSettingFile(bench.stateDir, bench.root).path, "{");
    expect(await bench.service().status()).toMatchObject({ on: true });
  });
});

describe("intents of a workspace", () => {
  it("are read again when the file changed, and a finished intent is no longer active", async () => {
    const service = bench.service();
    bench.write(bench.file, intentsText);
    expect((await service.rules("INT-001")).active?.id).toBe("INT-001");
    bench.write(bench.file, intentsText.replace("status: active", "status: done"));
    expect(await service.rules("INT-001")).toMatchObject({ on: true, active: undefined, selectable: [] });
  });

  it.each([
    ["broken YAML", "active_intents: [", "is broken"],
    ["an unquoted exclusion", "active_intents:\n  - id: a\n    owned_scope:\n      - !src/x\n", "Put quotes around"],
    ["something else", "hello", "must be `active_intents:`"],
    ["a file too large", `# ${"x".repeat(600 * 1024)}`, "is larger than"],
    ["bytes that are not text", "\u0000", "is broken"],
  ])("keep the last good ones over %s, loudly", async (_name, text, problem) => {
    const service = bench.service();
    bench.write(bench.file, intentsText);
    const before = (await service.status()).intents;
    bench.write(bench.file, text);
    const after = await service.status();
    expect(after.on).toBe(true);
    expect(after.intents).toEqual(before);
    expect(after.problems.join("\n")).toContain(problem);
    expect(after.problems.join("\n")).toContain("stay in force");
    // After a restart nobody knows what was good: nothing can be selected.
    expect(await bench.service().rules("INT-001")).toMatchObject({ on: true, active: undefined, selectable: [] });
  });

  it("are not read through a link that leaves the workspace", async () => {
    mkdirSync(join(bench.root, ".orchestration"));
    writeFileSync(join(bench.stateDir, "evil.yaml"), intentsText);
    symlinkSync(join(bench.stateDir, "evil.yaml"), join(bench.root, bench.file));
    expect(await bench.service().status()).toMatchObject({ on: true, intents: [] });
  });

  it("are ignored paths too, unless a person turned intents off", async () => {
    bench.write(".intentignore", "dist/\n");
    const service = bench.service();
    const rules = await service.rules(undefined);
    expect([rules.on, rules.ignored("dist/a.js"), rules.ignored("src/a.ts")]).toEqual([false, true, false]);
    bench.write(".intentignore", "*a*b*c*d*e*f\n");
    expect((await service.rules(undefined)).ignored("src/a.ts")).toBe(true);
    expect((await service.status()).problems.join()).toContain("nothing may be edited");
    await service.setMode("off");
    expect((await service.rules(undefined)).ignored("dist/a.js")).toBe(false);
  });
});

describe("seed 001 expansion: intent expansion flow", () => {
  it("writes the canonical file, and keeps comments, unknown fields and what it did not touch", async () => {
    bench.write(bench.file, intentsText);
    const service = bench.service();
    const intent = await service.expandScope("INT-001", ["docs/**", "src/a.ts"]);
    expect(intent.ownedScope).toEqual(["src/**", "!src/secret/**", "docs/**"]);
    expect(bench.text(bench.file)).toBe(
      intentsText
        .replace('      - "!src/secret/**"\n', '      - "!src/secret/**"\n      - docs/**\n')
        .replace("[no new dependency]", "[ no new dependency ]")
        .replace("[tests pass]", "[ tests pass ]")
        .replace('["lib/**"]', '[ "lib/**" ]'),
    );
    expect((await bench.service().rules("INT-001")).active?.ownedScope).toContain("docs/**");
  });

  it("runs one after the other", async () => {
    bench.write(bench.file, intentsText);
    const service = bench.service();
    await Promise.all(["a/**", "b/**", "c/**"].map((path) => service.expandScope("INT-001", [path])));
    expect((await service.selectable("INT-001")).ownedScope.slice(2)).toEqual(["a/**", "b/**", "c/**"]);
  });

  it.each([
    ["INT-002", ["docs/**"], "invalid_intent"],
    ["nobody", ["docs/**"], "invalid_intent"],
    ["INT-001", ["../x"], "invalid_scope"],
    ["INT-001", ["src/secret/x"], "invalid_scope"],
  ])("refuses %s %j", async (id, paths, code) => {
    bench.write(bench.file, intentsText);
    expect(await codeOf(bench.service().expandScope(id, paths))).toBe(code);
    expect(bench.text(bench.file)).toBe(intentsText);
  });

  it("does not write through a link", async () => {
    bench.write("elsewhere.yaml", intentsText);
    mkdirSync(join(bench.root, ".orchestration"));
    symlinkSync("../elsewhere.yaml", join(bench.root, bench.file));
    expect(await codeOf(bench.service().expandScope("INT-001", ["docs/**"]))).toBe("intents_unreadable");
  });
});
