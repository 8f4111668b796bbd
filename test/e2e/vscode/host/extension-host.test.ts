import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { inject } from "vitest";
import { tell } from "../fixtures/figures.ts";
import { hostSuite } from "../fixtures/host-suite.ts";

await using sleeping = await temporaryDirectory();
fallAsleep(inject("extension"), sleeping.root);
const results = await hostSuite(new URL("../host/extension-host.ts", import.meta.url), {
  extensionDevelopmentPath: sleeping.root,
  // For symbols.
  builtIn: ["typescript-language-features"],
  files: {
    "src/a.ts": "export const a = 1;\nexport const b = 2;\nexport const c = 3;\n",
    "docs/read me.md": "# Hello\n",
  },
});
for (const { note = "" } of results) {
  const processor = /^in (\d+) ms of the processor$/.exec(note)?.[1];
  if (processor === undefined) continue;
  const target = { type: "most", value: 100 } as const;
  tell({ name: "activation, processor time", unit: "ms", figure: Number(processor), target });
}

/**
 * The extension as it is, but nothing wakes it except the suite: as a window starts, VS Code opens texts of its own, e.g. settings that it
 * brings up to date, and each text wakes ours. The suite would find it awake by chance, and measure nothing.
 * A copy, as VS Code takes what lies behind a link for no part of an extension.
 */
function fallAsleep(extension: string, directory: string): void {
  cpSync(extension, directory, { recursive: true });
  const manifest: unknown = JSON.parse(readFileSync(join(extension, "package.json"), "utf8"));
  writeFileSync(join(directory, "package.json"), JSON.stringify({ ...Object(manifest), activationEvents: [] }));
}
