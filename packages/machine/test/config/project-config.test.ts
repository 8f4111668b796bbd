import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadProjectConfig } from "#config/project-config";

function workspace(text?: string): string {
  const root = mkdtempSync(join(tmpdir(), "gennai-config-"));
  mkdirSync(join(root, ".gennai"));
  if (text !== undefined) writeFileSync(join(root, ".gennai/config.yaml"), text);
  return root;
}

describe("the project's configuration", () => {
  it("is empty without a file", async () => {
    expect(await loadProjectConfig(workspace())).toEqual({
      allowPaths: undefined,
      denyPaths: [],
      protectedBranches: [],
    });
  });

  it("is read", async () => {
    const root = workspace("paths:\n  allow: [src/**]\n  deny: [src/gen/**]\nprotected_branches: [trunk]\n");
    expect(await loadProjectConfig(root)).toEqual({
      allowPaths: ["src/**"],
      denyPaths: ["src/gen/**"],
      protectedBranches: ["trunk"],
    });
  });

  it.each([
    { name: "unknown key", text: "paths:\n  alow: [x]\n", says: /config\.yaml:\d+: paths/ },
    { name: "wrong type", text: "protected_branches: trunk\n", says: /config\.yaml:1: protected_branches/ },
    { name: "no YAML", text: "paths: [\n", says: /config\.yaml:\d+/ },
    { name: "duplicate key", text: "paths: {}\npaths: {}\n", says: /config\.yaml:\d+/ },
    { name: "too large", text: `# ${"x".repeat(70_000)}\n`, says: /larger than 64 KiB/ },
    { name: "binary", text: "\u0000\ufffd", says: /config\.yaml/ },
  ])("stops the turn: $name", async ({ text, says }) => {
    await expect(loadProjectConfig(workspace(text))).rejects.toMatchObject({
      name: "ServiceError",
      code: "failed_precondition",
      message: expect.stringMatching(says),
    });
  });

  it("stops the turn when it leads out of the workspace", async () => {
    const root = workspace();
    const outside = join(mkdtempSync(join(tmpdir(), "gennai-outside-")), "c.yaml");
    writeFileSync(outside, "{}\n");
    symlinkSync(outside, join(root, ".gennai/config.yaml"));
    await expect(loadProjectConfig(root)).rejects.toThrow("leads out of the workspace");
  });
});
