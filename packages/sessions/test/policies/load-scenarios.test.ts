import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadScenarios } from "#policies/load-scenarios";

let base = "";
let root = "";
const good = "GOOD:\n  prompt: fine\n";

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "scenarios-"));
  root = join(base, "workspace");
  await mkdir(join(root, ".gennai/scenarios"), { recursive: true });
});
afterEach(() => rm(base, { recursive: true }));

const put = (name: string, text: string | Uint8Array) => writeFile(join(root, ".gennai/scenarios", name), text);

describe("loadScenarios", () => {
  it("reads files as they are found in the wild, over the built-in ones", async () => {
    await put(
      "review.yaml",
      `REVIEW:
  tools: "todo, default, mcp:*"
  description: "Reviews"
  prompt: |
    User Request: {{userInput}}
    Working Directory: {{workingDir}}
    Reasoning: {{scenarioReason}}
    {{ @AGENTS.md }}
`,
    );
    await put("more.yml", "RESPOND:\n  description: ours\n");
    await put("notes.txt", "not: [read");
    const { scenarios, warnings } = await loadScenarios(root);
    expect(warnings).toEqual([]);
    expect([...scenarios.keys()]).toEqual(["CODE", "EDITOR_CODE", "RESPOND", "PLAN", "REVIEW"]);
    expect(scenarios.get("REVIEW")).toMatchObject({
      source: ".gennai/scenarios/review.yaml",
      toolsText: "todo, default, mcp:*",
    });
    expect(scenarios.get("RESPOND")).toMatchObject({
      description: "ours",
      tools: ["Read", "LS", "Grep", "Glob", "WebFetch", "WebSearch", "Explore"],
    });
  });

  it("has the built-in ones where there is no folder", async () => {
    const { scenarios, warnings } = await loadScenarios(base);
    expect({ names: [...scenarios.keys()], warnings }).toEqual({
      names: ["CODE", "EDITOR_CODE", "RESPOND", "PLAN"],
      warnings: [],
    });
  });

  it.each<[string, string | Uint8Array, RegExp]>([
    ["broken YAML", "A:\n  prompt: [\n", /^\.gennai\/scenarios\/bad\.yaml:\d+: /],
    ["a duplicate key", "A:\n  prompt: x\nA:\n  prompt: y\n", /bad\.yaml:3: Map keys must be unique/],
    ["an alias", "A: &a\n  prompt: x\nB: *a\n", /bad\.yaml:3: aliases/],
    ["an unknown tag", "A:\n  prompt: !include x\n", /bad\.yaml:2: Unresolved tag/],
    ["nesting without end", `A: ${"[".repeat(100_000)}`, /bad\.yaml:1: /],
    ["a file too large", `A:\n  prompt: ${"x".repeat(256 * 1024)}\n`, /larger than 256 KiB/],
    ["a file that is not UTF-8", Uint8Array.from([0x41, 0x3a, 0xff, 0xfe]), /not UTF-8/],
    ["a missing prompt", "A:\n  tools: default\n", /bad\.yaml:\d: A\.prompt: is missing/],
    [
      "an unknown placeholder",
      "A:\n  prompt: |\n    one\n    two {{nope}}\n",
      /bad\.yaml:4: A\.prompt: unknown placeholder \{\{nope\}\}/,
    ],
    ["an unknown tool", "A:\n  tools:\n    - default\n    - solver\n  prompt: x\n", /bad\.yaml:4: A\.tools: "solver"/],
    ["a list", "- a\n- b\n", /bad\.yaml:1: must be a map/],
  ])("turns %s into one warning and hides nothing", async (_name, text, warning) => {
    await put("bad.yaml", text);
    await put("good.yaml", good);
    const { scenarios, warnings } = await loadScenarios(root);
    expect(scenarios.get("GOOD")?.prompt).toBe("fine");
    expect(warnings).toEqual([expect.stringMatching(warning)]);
  });

  it("lets the first of two files have the name", async () => {
    await put("a.yaml", good);
    await put("b.yaml", "good:\n  prompt: other\n");
    const { scenarios, warnings } = await loadScenarios(root);
    expect(scenarios.get("GOOD")?.prompt).toBe("fine");
    expect(warnings).toEqual([expect.stringContaining("defined in .gennai/scenarios/a.yaml already")]);
  });

  it("follows no link out of the workspace, and waits for no pipe", async () => {
    await writeFile(join(base, "outside.yaml"), "EVIL:\n  prompt: x\n");
    await symlink(join(base, "outside.yaml"), join(root, ".gennai/scenarios/link.yaml"));
    await symlink(join(base, "nowhere"), join(root, ".gennai/scenarios/dangling.yaml"));
    await mkdir(join(root, ".gennai/scenarios/directory.yaml"));
    execFileSync("mkfifo", [join(root, ".gennai/scenarios/pipe.yaml")]);
    const { scenarios, warnings } = await loadScenarios(root);
    expect(scenarios.has("EVIL")).toBe(false);
    expect(warnings).toEqual([
      expect.stringMatching(/dangling\.yaml: could not be read \(ENOENT\)/),
      expect.stringMatching(/directory\.yaml: is no regular file/),
      expect.stringMatching(/link\.yaml: leads out of the workspace/),
      expect.stringMatching(/pipe\.yaml: is no regular file/),
    ]);
  });

  it("follows no folder out of the workspace", async () => {
    await mkdir(join(base, "elsewhere"));
    await writeFile(join(base, "elsewhere/evil.yaml"), "EVIL:\n  prompt: x\n");
    await rm(join(root, ".gennai/scenarios"), { recursive: true });
    await symlink(join(base, "elsewhere"), join(root, ".gennai/scenarios"));
    const { scenarios, warnings } = await loadScenarios(root);
    expect(scenarios.has("EVIL")).toBe(false);
    expect(warnings).toEqual([expect.stringContaining("leads out of the workspace")]);
  });
});
