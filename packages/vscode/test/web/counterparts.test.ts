import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import type * as files from "../../src/editor/files/vscode-files.ts";
import type * as realPath from "../../src/editor/real-path.ts";
import type * as git from "../../src/git/git-program.ts";
import type * as brought from "../../src/server/launch/brought-server.ts";
import type * as machine from "../../src/server/this-machine.ts";
import type * as claim from "../../src/session/window-claim.ts";
import type * as commands from "../../src/terminal/terminal-commands.ts";
import type * as terminals from "../../src/terminal/vscode-terminals.ts";
import type * as webBrought from "../../src/web/brought-server.ts";
import type * as webGit from "../../src/web/git-program.ts";
import type * as webRealPath from "../../src/web/real-path.ts";
import type * as webCommands from "../../src/web/terminal-commands.ts";
import type * as webMachine from "../../src/web/this-machine.ts";
import type * as webFiles from "../../src/web/vscode-files.ts";
import type * as webTerminals from "../../src/web/vscode-terminals.ts";
import type * as webClaim from "../../src/web/window-claim.ts";

type Has<Counterpart, Original> = keyof Original extends keyof Counterpart ? true : never;
type MembersOf<Class> = Class extends abstract new (...args: never[]) => infer Instance ? Instance : never;

/** Compiles only while each counterpart has what its original has. */
const hasAll: readonly true[] = [
  true satisfies Has<typeof webRealPath, typeof realPath>,
  true satisfies Has<typeof webMachine, typeof machine>,
  true satisfies Has<(typeof webMachine)["thisMachine"], (typeof machine)["thisMachine"]>,
  true satisfies Has<typeof webBrought, typeof brought>,
  true satisfies Has<typeof webCommands, typeof commands>,
  true satisfies Has<typeof webGit, typeof git>,
  true satisfies Has<typeof webTerminals, typeof terminals>,
  true satisfies Has<MembersOf<typeof webFiles.VsCodeFiles>, MembersOf<typeof files.VsCodeFiles>>,
  true satisfies Has<MembersOf<typeof webClaim.WindowClaim>, MembersOf<typeof claim.WindowClaim>>,
];

test("the bundle for a browser has the counterparts, and nothing of Node", async () => {
  expect(hasAll).toHaveLength(9);
  const root = join(import.meta.dirname, "../..");
  const script = `
    import { build } from "esbuild";
    import { webOptions } from "./scripts/web-bundle.mjs";
    const made = await build({
      ...webOptions(process.cwd()),
      bundle: true, format: "cjs", write: false, metafile: true, outdir: "/", external: ["vscode"], minify: true,
    });
    console.log(JSON.stringify({ inputs: Object.keys(made.metafile.inputs), text: made.outputFiles[0].text }));
  `;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const { inputs, text } = z.object({ inputs: z.array(z.string()), text: z.string() }).parse(JSON.parse(stdout));
  for (const name of readdirSync(join(root, "src/web"))) {
    expect(inputs).toContain(`src/web/${name}`);
    const original = inputs.filter((path) => path.endsWith(`/${name}`) && path.startsWith("src/"));
    expect(original).toEqual([`src/web/${name}`]);
  }
  const required = [...text.matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name);
  expect(new Set(required)).toEqual(new Set(["vscode"]));
  expect(builtinModules.filter((name) => text.includes(`"node:${name}"`))).toEqual([]);
});
