import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { withoutOverlays } from "./without-overlays.ts";

const everyday = [
  "echo more >> src/a.ts && cat src/a.ts",
  "rm src/b.ts && mkdir -p deep/er && mv README.md deep/er/",
  "sed -i 's/1/2/' src/a.ts && git add -A && git commit -qm second && git status --short",
  "mkdir -p dist && echo built > dist/out.js && ls dist",
  "git mv src lib && chmod 755 lib/a.ts && ln -s a.ts lib/link.ts",
];

// The mounts take root.
describe.runIf(process.getuid?.() === 0)("where no overlay can be mounted", () => {
  test("hostile commands do no harm", () => {
    expect(withoutOverlays(["harm", "4"])).toBe(0);
  });

  test("everyday commands run unasked, and do what they do bare", () => {
    const directory = mkdtempSync(join(tmpdir(), "gennai-copies-"));
    try {
      const commands = everyday.map((command, index) => ({ id: `C-${index}`, class: "everyday", command }));
      writeFileSync(join(directory, "commands.json"), JSON.stringify(commands));
      expect(withoutOverlays(["quiet", join(directory, "commands.json")])).toBe(0);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
